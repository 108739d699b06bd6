// The genetic operators (WATOS, section IV-D, Op1 to Op5). Adding one is one file in operators/ with one registration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fitness.hpp"
#include "tessera/base/random.hpp"

namespace tessera::strategy::watos {

/// Draws of one step, one after another.
class Draws {
 public:
  explicit Draws(std::uint64_t key) : random_(key, random_stream("watos: genetic operator")) {}
  [[nodiscard]] std::size_t below(std::size_t count) { return random_.below(next_++, count); }

 private:
  KeyedRandom random_;
  std::uint64_t next_ = 0;
};

struct Operator {
  std::string name;
  std::string help;
  /// Another solution, or nothing where it does not apply. Pairs need not suffice: whoever calls it completes them.
  std::optional<Solution> (*apply)(const Judge& judge, const Solution& solution, Draws& draws);
};
[[nodiscard]] const std::vector<Operator>& operators();

/// The set that differs from `bits` in the fewest sections; of equals the first.
[[nodiscard]] std::uint16_t nearest_set(const Problem& problem, std::uint64_t bits);
/// Stages that lend something under their sets.
[[nodiscard]] std::vector<std::uint32_t> senders_of(const Problem& problem, const Solution& solution);

}  // namespace tessera::strategy::watos
