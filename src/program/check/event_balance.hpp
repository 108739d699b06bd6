// How far a stream's waits for events run ahead of its own signals.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tessera/program/program.hpp"

namespace tessera::program {

/// Of one event in one block: how often it is raised less how often it is awaited. Saturates instead of overflowing.
struct EventBalance {
  std::int64_t end = 0;     ///< behind the block
  std::int64_t lowest = 0;  ///< behind any of its waits; at most 0
};

/// Of every block, computed once however often it runs. The indexes in the code are valid and blocks do not recurse.
class EventBalances {
 public:
  using ByEvent = std::map<std::uint32_t, EventBalance>;

  explicit EventBalances(const Program& program)
      : program_(program), balances_(program.blocks.size()), known_(program.blocks.size(), false) {}
  [[nodiscard]] const ByEvent& of(BlockId block);

 private:
  void compute(BlockId block);

  const Program& program_;
  std::vector<ByEvent> balances_;  ///< by block
  std::vector<bool> known_;
};

}  // namespace tessera::program
