// What kernels ask of a machine that it does not have.
#include <algorithm>
#include <set>

#include "sim/gpu/gemm_layout.hpp"
#include "sim/gpu/gpu.hpp"
#include "sim/run/refuse.hpp"
#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/integers.hpp"
#include "tessera/machine/routes.hpp"

namespace tessera::sim {
namespace {

using config::Unit;

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

/// Blocks and tiles are told apart by 31 bits; empty when they can be.
std::string size_problem(const program::Kernel& kernel, const machine::GpuSpec& gpu) {
  constexpr std::int64_t most = std::int64_t{1} << 31U;
  const auto problem = [](std::int64_t count, const char* what) {
    return count < most ? "" : std::to_string(count) + " " + what + " in a kernel, allowed: fewer than 2^31";
  };
  if (const auto* copy = std::get_if<program::CopyKernel>(&kernel.work))
    return problem(copy->bytes / gpu.granularity, "blocks");
  const program::GemmShape& shape = std::get<program::GemmKernel>(kernel.work).shape;
  const std::int64_t rows = ceil_div(shape.m, shape.tile_m), columns = ceil_div(shape.n, shape.tile_n);
  if (rows >= most / columns / shape.split_k) return problem(most, "tiles or more");
  return problem(static_cast<std::int64_t>(GemmLayout(shape, gpu.granularity).blocks()), "blocks");
}

/// What a kernel asks of the transaction level; empty when all is well.
std::string kernel_problem(const program::Kernel& kernel, const machine::GpuSpec& gpu, std::uint32_t ranks) {
  if (kernel.cus > gpu.cus) return "it wants " + std::to_string(kernel.cus) + " of " + std::to_string(gpu.cus) + " CUs";
  const std::string too_large = size_problem(kernel, gpu);
  const auto* gemm = std::get_if<program::GemmKernel>(&kernel.work);
  if (gemm == nullptr || !too_large.empty()) return too_large;
  const TrackerSpec tracker = tracker_spec(gpu);
  const std::string text = input_problem(*gemm, gpu);
  return !text.empty()
             ? text
             : tracker_problem(*gemm, tracker, (kernel.cus > 0 ? kernel.cus : gpu.cus) * gpu.work_groups_per_cu, ranks);
}

/// What a switch adds has to meet in one, in front of its destination, and to be a packet; empty when it does.
std::string combined_problem(const machine::Machine& machine, const program::Group& group,
                             const program::GemmShape& shape) {
  const machine::Network& network = machine.network;
  const std::int64_t bytes = shape.tile_m / shape.wavefronts * shape.tile_n * shape.element;
  if (bytes > network.packet.value())
    return "reduction in switches adds packets, which are " + config::format_quantity(network.packet) +
           ", but a wavefront's part of a tile is " + config::format_quantity(bytes, Unit::bytes);
  for (const program::DeviceId to : group.members) {
    machine::LinkId meeting = machine::no_link;
    for (const program::DeviceId from : group.members) {
      if (from == to) continue;
      const machine::LinkId last = machine::Routes(network).last({from, to});
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

}  // namespace

void refuse_gpu(const machine::GpuSpec& gpu) {
  for (const std::string& problem : problems(tracker_spec(gpu))) throw InputError(problem);
  static_cast<void>(Cache(memory_spec(gpu).cache));  // throws InputError for sizes that do not fit together
  refuse(memory_spec(gpu).channel);
}

void refuse_kernels(const machine::Machine& machine, const program::Program& program) {
  if (program.kernels.empty()) return;
  if (!machine.device.transaction)
    throw InputError("the program has kernels, but the machine " + machine.name +
                     " has no table [machine.device.transaction]");
  machine::GpuSpec slowest = *machine.device.transaction;
  for (const double speed : machine.speed) {
    if (speed > 0) slowest.speed = std::min(slowest.speed, speed);
  }
  refuse_gpu(slowest);
  for (const program::Kernel& kernel : program.kernels) {
    const std::string problem = kernel_problem(kernel, *machine.device.transaction, largest_group(program, kernel));
    if (!problem.empty()) throw InputError(problem);
  }
  refuse_combined(machine, program);
}

}  // namespace tessera::sim
