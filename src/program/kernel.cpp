#include "tessera/program/kernel.hpp"

#include <algorithm>

#include "tessera/program/program.hpp"

namespace tessera::program {
namespace {

/// Ranks of the group that one member stores to.
std::vector<std::uint32_t> destinations(const Kernel& kernel, std::uint32_t rank, std::uint32_t ranks) {
  const auto* gemm = std::get_if<GemmKernel>(&kernel.work);
  if (gemm == nullptr) return {(rank + ranks - 1) % ranks};
  std::vector<std::uint32_t> to;
  for (const Region& region : gemm->address_map(rank, ranks).regions) {
    if (region.kind != RegionKind::local) to.push_back(region.destination);
  }
  return to;
}

}  // namespace

AddressMap GemmKernel::address_map(std::uint32_t rank, std::uint32_t ranks) const {
  const auto tiles = static_cast<std::uint32_t>(shape.tiles());
  const auto writes = static_cast<std::uint32_t>(shape.split_k);
  if (!calls.empty()) return map_of_calls(calls, rank, ranks, tiles, writes);
  return address_map_kinds()[map].make(rank, ranks, tiles, writes);
}

void append_kernel_destinations(const Program& program, DeviceId device, std::vector<DeviceId>& to) {
  const auto& slots = program.devices[device].groups;
  for (const Kernel& kernel : program.kernels) {
    if (kernel.group_slot >= slots.size() || slots[kernel.group_slot] == no_group) continue;
    const auto& members = program.groups[slots[kernel.group_slot]].members;
    const auto found = std::find(members.begin(), members.end(), device);
    if (found == members.end() || members.size() < 2) continue;
    const auto rank = static_cast<std::uint32_t>(found - members.begin());
    for (const std::uint32_t member : destinations(kernel, rank, static_cast<std::uint32_t>(members.size())))
      to.push_back(members[member]);
  }
}

}  // namespace tessera::program
