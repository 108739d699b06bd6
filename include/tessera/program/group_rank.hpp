// The rank of a device in a group.
#pragma once

#include <algorithm>
#include <optional>

#include "tessera/program/program.hpp"

namespace tessera::program {

/// Nothing when it is no member. Groups mostly count up evenly, so the place where it should be is tried first: looking
/// through a group of all devices, for each of them, takes minutes at 100,000.
[[nodiscard]] inline std::optional<std::uint32_t> rank_in(const Group& group, DeviceId device) {
  const std::vector<DeviceId>& members = group.members;
  if (members.size() > 1 && members[1] > members[0] && device >= members[0]) {
    const std::size_t guess = (device - members[0]) / (members[1] - members[0]);
    if (guess < members.size() && members[guess] == device) return static_cast<std::uint32_t>(guess);
  }
  const auto found = std::find(members.begin(), members.end(), device);
  if (found == members.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - members.begin());
}

}  // namespace tessera::program
