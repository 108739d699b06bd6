#include "tessera/program/kernel.hpp"

#include <algorithm>

#include "tessera/program/copy_steps.hpp"
#include "tessera/program/program.hpp"

namespace tessera::program {

std::vector<std::uint32_t> destinations(const Kernel& kernel, std::uint32_t rank, std::uint32_t ranks) {
  const auto* gemm = std::get_if<GemmKernel>(&kernel.work);
  std::vector<std::uint32_t> to;
  if (gemm == nullptr) {
    for (const CopyStep& step : copy_steps(std::get<CopyKernel>(kernel.work), rank, ranks).steps) {
      if (step.destination != rank) to.push_back(step.destination);
    }
    return to;
  }
  for (const AddressMap& map : {gemm->address_map(rank, ranks), gemm->input_address_map(rank, ranks)}) {
    for (const Region& region : map.regions) {
      if (region.kind != RegionKind::local) to.push_back(region.destination);
    }
  }
  return to;
}

AddressMap GemmKernel::address_map(std::uint32_t rank, std::uint32_t ranks) const {
  const auto tiles = static_cast<std::uint32_t>(shape.tiles());
  const auto writes = static_cast<std::uint32_t>(shape.split_k);
  if (!calls.empty()) return map_of_calls(calls, rank, ranks, tiles, writes);
  const AddressMap made = address_map_kinds()[map].make(rank, ranks, tiles, writes);
  return reduction == Reduction::in_switch ? combined(made) : made;
}

AddressMap GemmKernel::input_address_map(std::uint32_t rank, std::uint32_t ranks) const {
  const AddressMapKind& kind = address_map_kinds()[input_map];
  const auto rows = static_cast<std::uint32_t>(shape.tile_rows());
  AddressMap input = kind.make(rank, ranks, kind.gathers ? rows / ranks : rows, 1);
  // A is in memory already: what its producer would store here and to others, DMAs send from here.
  const auto stored = [](const Region& region) { return region.kind == RegionKind::remote; };
  if (std::none_of(input.regions.begin(), input.regions.end(), stored)) return input;
  const auto kept = [](const Region& region) { return region.kind == RegionKind::local && region.writes > 0; };
  input.regions.erase(std::remove_if(input.regions.begin(), input.regions.end(), kept), input.regions.end());
  for (Region& region : input.regions) {
    if (!stored(region)) continue;
    region.kind = RegionKind::dma;
    region.updates = region.writes;
  }
  return input;
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
