// Which combinations of open keys come to the same program.
#pragma once

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "cut.hpp"

namespace tessera::strategy::megatron {

/// Keys that change nothing of the cut are at their defaults behind it, so that a plan names none that has no effect.
void settle_idle_keys(Cut& cut);

/// Programs are the same where their keys are, of cuts whose idle keys are settled.
class SameCuts {
 public:
  using Again = std::vector<std::pair<unsigned long long, bool>>;
  using Key = std::tuple<std::array<std::int64_t, 11>, std::string, std::array<int, 11>, Again>;

  [[nodiscard]] Key key(const Cut& cut);

 private:
  using Shape = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::string>;

  const std::string& schedule(const Cut& cut);

  std::map<Shape, std::string> known_;
};

}  // namespace tessera::strategy::megatron
