#include "refuse.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"
#include "tessera/sim/execution/channel.hpp"
#include "tessera/sim/gpu/gemm_layout.hpp"
#include "tessera/sim/gpu/gpu.hpp"

namespace tessera::sim {
namespace {

using config::format_rounded;
using config::Unit;

void refuse_limits(const machine::Machine& machine, const program::Program& program) {
  if (program.devices.size() > machine.devices()) {
    throw InputError("the program has " + std::to_string(program.devices.size()) + " devices, the machine " +
                     std::to_string(machine.devices()));
  }
  if (program.groups.size() > group_limit) {
    throw InputError("the program has " + std::to_string(program.groups.size()) + " groups, at most " +
                     std::to_string(group_limit) + " are allowed");
  }
  for (const program::Block& block : program.blocks) {
    for (const program::Instruction& instruction : block.code) {
      const bool has_channel = instruction.op == program::Op::send || instruction.op == program::Op::receive;
      if (has_channel && is_collective(instruction.b)) {
        throw InputError("channel " + std::to_string(instruction.b) + " in block " + block.name +
                         ", channels are below " + std::to_string(first_collective_channel));
      }
    }
  }
  // A packet that takes less than a picosecond could not be taken back (docs/simulation.md).
  for (machine::LinkId link = 0; link < machine.network.links.size(); ++link) {
    if (duration_at_rate(machine.network.packet, machine.network.links[link].bandwidth) > 1) continue;
    throw InputError("a packet of " + config::format_quantity(machine.network.packet, Unit::bytes) +
                     " takes no longer than a picosecond on the link " + machine.link_name(link) +
                     ", make packets larger");
  }
}

void refuse_program(const machine::Machine& machine, const program::Program& program) {
  const std::vector<std::string> problems = program::check_program(program, machine);
  if (problems.empty()) return;
  std::string text;
  for (const std::string& problem : problems) text += (text.empty() ? "" : "\n") + problem;
  throw InfeasibleError(text);
}

/// Whether the Tracker can count what a GEMM's map has it count; empty when it can, or has nothing to count.
std::string tracker_problem(const program::GemmKernel& gemm, const TrackerSpec& tracker, std::int64_t slots,
                            std::uint32_t ranks) {
  std::int64_t updates = 0;
  for (const program::Region& region : gemm.address_map(0, ranks).regions)
    updates = std::max<std::int64_t>(updates, region.updates);
  if (updates == 0) return {};
  const program::GemmShape& shape = gemm.shape;
  const std::int64_t wgs = std::min(slots, shape.tiles() * shape.split_k);
  const TrackedStage stage{static_cast<std::uint32_t>(wgs), static_cast<std::uint32_t>(shape.wavefronts)};
  const std::string text = problem(tracker, stage);
  const std::int64_t bytes = shape.tile_m / shape.wavefronts * shape.tile_n * shape.element;
  return text.empty() ? problem(tracker, Expectation{0, 0, bytes, updates, bytes * updates}) : text;
}

/// The same of its input, which is counted by parts of rows of tiles.
std::string input_problem(const program::GemmKernel& gemm, const machine::GpuSpec& gpu) {
  if (!program::address_map_kinds()[gemm.input_map].gathers) return {};
  const GemmLayout layout(gemm.shape, gpu.granularity);
  std::int64_t bytes = 0;
  for (std::int64_t part = 0; part < gemm.shape.wavefronts; ++part)
    bytes = std::max(bytes, layout.row_part_bytes(0, part));
  return problem(tracker_spec(gpu), Expectation{0, 0, bytes, 1, bytes});
}

/// What a kernel asks of the transaction level; empty when all is well.
std::string kernel_problem(const program::Kernel& kernel, const machine::GpuSpec& gpu, std::uint32_t ranks) {
  if (kernel.cus > gpu.cus) return "it wants " + std::to_string(kernel.cus) + " of " + std::to_string(gpu.cus) + " CUs";
  const auto* gemm = std::get_if<program::GemmKernel>(&kernel.work);
  if (gemm == nullptr) return {};
  const TrackerSpec tracker = tracker_spec(gpu);
  for (const std::string& problem : problems(tracker)) return problem;
  const std::string text = input_problem(*gemm, gpu);
  return !text.empty()
             ? text
             : tracker_problem(*gemm, tracker, (kernel.cus > 0 ? kernel.cus : gpu.cus) * gpu.work_groups_per_cu, ranks);
}

/// The link over which what `from` sends to `to` arrives.
machine::LinkId last_link(const machine::Network& network, machine::NodeId from, machine::NodeId to) {
  machine::LinkId link = network.router->next(from, to);
  while (link != machine::no_link && network.links[link].to != to)
    link = network.router->next(network.links[link].to, to);
  return link;
}

/// What a switch adds has to meet in one, in front of its destination, and to be a packet; empty when it does.
std::string combined_problem(const machine::Machine& machine, const program::Group& group,
                             const program::GemmShape& shape) {
  const machine::Network& network = machine.network;
  const std::int64_t bytes = shape.tile_m / shape.wavefronts * shape.tile_n * shape.element;
  if (bytes > network.packet)
    return "reduction in switches adds packets, which are " + config::format_quantity(network.packet, Unit::bytes) +
           ", but a wavefront's part of a tile is " + config::format_quantity(bytes, Unit::bytes);
  for (const program::DeviceId to : group.members) {
    machine::LinkId meeting = machine::no_link;
    for (const program::DeviceId from : group.members) {
      if (from == to) continue;
      const machine::LinkId last = last_link(network, from, to);
      if (last == machine::no_link || network.links[last].from < network.devices ||
          (meeting != machine::no_link && last != meeting))
        return "reduction in switches: what the others send to " + machine.node_name(to) +
               " does not meet in one switch in front of it";
      meeting = last;
    }
  }
  return {};
}

void refuse_combined(const machine::Machine& machine, const program::Program& program) {
  for (const program::Kernel& kernel : program.kernels) {
    const auto* gemm = std::get_if<program::GemmKernel>(&kernel.work);
    if (gemm == nullptr || gemm->reduction != program::Reduction::in_switch) continue;
    std::set<program::GroupId> groups;
    for (const program::DeviceProgram& device : program.devices) {
      if (kernel.group_slot < device.groups.size() && device.groups[kernel.group_slot] < program.groups.size())
        groups.insert(device.groups[kernel.group_slot]);
    }
    for (const program::GroupId group : groups) {
      const std::string problem = combined_problem(machine, program.groups[group], gemm->shape);
      if (!problem.empty()) throw InputError(problem);
    }
  }
}

/// Members of the largest group that a kernel runs in.
std::uint32_t largest_group(const program::Program& program, const program::Kernel& kernel) {
  std::size_t size = 1;
  for (const program::DeviceProgram& device : program.devices) {
    if (kernel.group_slot >= device.groups.size() || device.groups[kernel.group_slot] >= program.groups.size())
      continue;
    size = std::max(size, program.groups[device.groups[kernel.group_slot]].members.size());
  }
  return static_cast<std::uint32_t>(size);
}

void refuse_kernels(const machine::Machine& machine, const program::Program& program) {
  if (program.kernels.empty()) return;
  if (!machine.device.transaction)
    throw InputError("the program has kernels, but the machine " + machine.name +
                     " has no table [machine.device.transaction]");
  for (const program::Kernel& kernel : program.kernels) {
    const std::string problem = kernel_problem(kernel, *machine.device.transaction, largest_group(program, kernel));
    if (!problem.empty()) throw InputError(problem);
  }
  // Makes no sense of sizes and names: InputError.
  static_cast<void>(Cache(memory_spec(*machine.device.transaction).cache));
}

struct Need {
  program::DeviceId device = 0;
  program::MemoryPeak peak;
};

/// The device that needs the most; the first one of equals.
Need largest_need(const program::Program& program) {
  std::map<program::BlockId, program::MemoryPeak> known;  // memory depends on the code of the main stream alone
  Need largest;
  for (program::DeviceId device = 0; device < program.devices.size(); ++device) {
    const auto& streams = program.devices[device].streams;
    if (streams.empty()) continue;
    auto found = known.find(streams[0]);
    if (found == known.end()) found = known.emplace(streams[0], program::memory_peak(program, device)).first;
    if (found->second.total > largest.peak.total) largest = {device, found->second};
  }
  return largest;
}

std::string breakdown(const program::MemoryPeak& peak) {
  std::string text;
  for (int category = 0; category < program::memory_category_count; ++category) {
    if (peak.by_category[category] == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(program::name_of(static_cast<program::MemoryCategory>(category))) +
            " " + format_rounded(peak.by_category[category], Unit::bytes);
  }
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

}  // namespace

std::vector<std::string> refuse(const machine::Machine& machine, const program::Program& program,
                                bool allow_oversubscription) {
  refuse_limits(machine, program);
  refuse_kernels(machine, program);
  refuse_program(machine, program);
  refuse_combined(machine, program);
  const Need need = largest_need(program);
  const std::int64_t capacity = machine.device.memory_capacity;
  if (need.peak.total <= capacity) return {};
  const std::string text =
      "device " + machine.node_name(need.device) + " needs " + format_rounded(need.peak.total, Unit::bytes) +
      " but has " + format_rounded(capacity, Unit::bytes) + " (" +
      format_rounded(need.peak.total - capacity, Unit::bytes) + " too much): " + breakdown(need.peak);
  if (allow_oversubscription) return {text};
  throw InfeasibleError(text + "; --allow-oversubscription simulates it anyway");
}

}  // namespace tessera::sim
