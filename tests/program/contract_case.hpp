// What every algorithm has to bring about for a collective of a group, on real numbers.
#pragma once

#include "tessera/program/collective.hpp"

namespace tessera::program {

/// Of the collectives of these tests.
inline constexpr Bytes contract_element{2};

struct ContractCase {
  Collective collective;
  Group group;
  const machine::Machine& machine;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(group.members.size()); }
  [[nodiscard]] std::size_t elements() const { return static_cast<std::size_t>(collective.bytes / contract_element); }
  [[nodiscard]] std::size_t chunk(std::uint32_t i) const {
    return static_cast<std::size_t>(chunk_bytes(collective.bytes, contract_element, size(), i) / contract_element);
  }
  [[nodiscard]] std::size_t begin(std::uint32_t i) const {
    std::size_t sum = 0;
    for (std::uint32_t before = 0; before < i; ++before) sum += chunk(before);
    return sum;
  }
};

/// Runs the case in two orders; false when this algorithm refuses the group, which has to be said in advance.
bool passes(const ContractCase& test);

[[nodiscard]] inline Group first_members(std::uint32_t count) {
  Group group;
  for (DeviceId i = 0; i < count; ++i) group.members.push_back(i);
  return group;
}

}  // namespace tessera::program
