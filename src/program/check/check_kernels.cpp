// Kernels: all members of a group run the same ones in the same order, and their address maps end.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "../block_order.hpp"
#include "problems.hpp"

namespace tessera::program {
namespace {

using Kind = TrafficKey::Kind;

/// The kernels of one group and memory, by device.
using Runs = std::map<DeviceId, const Sequence*>;

void check_members(const Group& group, const Runs& runs, Problems& problems) {
  const Sequence& reference = *runs.begin()->second;
  for (const auto& [device, sequence] : runs) {
    if (std::find(group.members.begin(), group.members.end(), device) == group.members.end()) {
      problems.add(
          fmt::format("kernels of group {}: device {} runs them, but is no member", group_text(group), device));
    } else if (!(sequence->digest == reference.digest)) {
      problems.add(fmt::format("kernels of group {}: device {} runs others than device {}, from number {} on",
                               group_text(group), device, reference.device,
                               first_difference(reference, *sequence) + 1));
    }
  }
  for (const DeviceId member : group.members) {
    if (runs.count(member) == 0)
      problems.add(fmt::format("kernels of group {}: device {} never runs them", group_text(group), member));
  }
}

void check_maps(const Program& program, const Group& group, std::uint32_t index, Problems& problems) {
  const auto* gemm = std::get_if<GemmKernel>(&program.kernels[index].work);
  if (gemm == nullptr) return;
  const auto ranks = static_cast<std::uint32_t>(group.members.size());
  const auto add = [&](const std::string& text) {
    problems.add(fmt::format("kernel {} of group {}: {}", index, group_text(group), text));
  };
  std::vector<AddressMap> outputs, inputs;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    outputs.push_back(gemm->address_map(rank, ranks));
    inputs.push_back(gemm->input_address_map(rank, ranks));
  }
  for (const std::string& text : program::problems(outputs)) add(text);
  if (!address_map_kinds()[gemm->input_map].gathers) return;
  if (gemm->shape.tile_rows() % ranks != 0)
    return add(fmt::format("{} members cannot share the {} rows of tiles of its input evenly", ranks,
                           gemm->shape.tile_rows()));
  for (const std::string& text : program::problems(inputs)) add("its input: " + text);
}

/// The kernels that a stream runs for a group slot.
void add_kernels(const Program& program, const Sequence& sequence, std::set<std::uint32_t>& kernels) {
  for (const BlockId block : callers_first(program, sequence.block)) {
    for (const Instruction& instruction : program.blocks[block].code) {
      TrafficEntry entry;
      if (instruction.op == Op::kernel && sequence.traffic->entry_of(instruction, entry) && entry.key == sequence.key)
        kernels.insert(instruction.a);
    }
  }
}

}  // namespace

Problems check_kernels(const Program& program, ProgramTraffic& traffic) {
  Problems problems;
  const std::vector<Sequence> sequences = sequences_of(program, traffic, {Kind::kernel});
  std::map<std::pair<GroupId, std::uint32_t>, Runs> groups;
  for (const Sequence& sequence : sequences) {
    const GroupId group = program.devices[sequence.device].groups[sequence.key.slot];
    const auto [other, fresh] = groups[{group, sequence.key.channel}].emplace(sequence.device, &sequence);
    if (fresh) continue;
    problems.add(
        fmt::format("kernels of group {}: device {} runs them in streams {} and {}: the order would depend on "
                    "time, give each stream a memory of its own",
                    group_text(program.groups[group]), sequence.device, other->second->stream, sequence.stream));
  }
  for (const auto& [key, runs] : groups) {
    const Group& group = program.groups[key.first];
    check_members(group, runs, problems);
    std::set<std::uint32_t> kernels;
    add_kernels(program, *runs.begin()->second, kernels);
    for (const std::uint32_t kernel : kernels) check_maps(program, group, kernel, problems);
  }
  return problems;
}

}  // namespace tessera::program
