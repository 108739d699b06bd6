#include "estimate.hpp"

#include <algorithm>

#include "tessera/sim/gpu/kernel_volume.hpp"

namespace tessera::app {
namespace {

// Devices do much the same as their neighbours: beyond this number an even sample of them is counted.
constexpr std::size_t most_sampled = 256;

// Measured on the experiments that come along. A message that meets no other is one event a link (a train); most
// computations follow what they wait for without an event of their own.
constexpr double events_per_instruction = 0.1;
// A transaction that finds its channel idle needs no event of its own: a GEMM keeps channels busier than a pass round
// the ring, which waits for its links. What is loaded together begins and ends what it is for.
constexpr double events_per_gemm_transaction = 0.6;
constexpr double events_per_pass_transaction = 0.35;
constexpr double events_per_load = 2;
constexpr double bytes_per_device = 3e3;       // with its links and the messages under way
constexpr double bytes_per_destination = 100;  // that it sends to
constexpr double bytes_per_interval = 40;      // of a recorded timeline

/// Whom a device sends to, each once.
std::vector<program::DeviceId> destinations_of(const experiment::Experiment& experiment, program::DeviceId device) {
  const program::Program& program = experiment.plan.program;
  std::vector<program::DeviceId> to = program.devices[device].peers;
  for (std::uint32_t index = 0; index < program.collectives.size(); ++index) {
    program::append_destinations(program, experiment.machine, device, index, to);
  }
  program::append_kernel_destinations(program, device, to);
  std::sort(to.begin(), to.end());
  to.erase(std::unique(to.begin(), to.end()), to.end());
  to.erase(std::remove_if(to.begin(), to.end(), [=](auto id) { return id == device || id == program::no_device; }),
           to.end());
  return to;
}

/// Mean number of links between a device and those.
double mean_hops(const experiment::Experiment& experiment, program::DeviceId device,
                 const std::vector<program::DeviceId>& destinations) {
  if (destinations.empty()) return 1;
  double hops = 0;
  for (const program::DeviceId to : destinations) {
    hops += static_cast<double>(machine::route(experiment.machine.network, device, to).size());
  }
  return hops / static_cast<double>(destinations.size());
}

/// What a device's kernels add at transaction level.
struct KernelTotals {
  double messages = 0;
  double bytes_sent = 0;
  double events = 0;       ///< without those of messages on their way
  double most_events = 0;  ///< the same
};

KernelTotals kernel_totals(const experiment::Experiment& experiment, program::DeviceId device,
                           const std::vector<std::int64_t>& runs) {
  const program::Program& program = experiment.plan.program;
  KernelTotals sum;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i] == 0) continue;
    const program::Kernel& kernel = program.kernels[i];
    const auto& members = program.groups[program.devices[device].groups[kernel.group_slot]].members;
    const auto rank = std::find(members.begin(), members.end(), device) - members.begin();
    const sim::KernelVolume volume =
        sim::kernel_volume(kernel, *experiment.machine.device.transaction, static_cast<std::uint32_t>(rank),
                           static_cast<std::uint32_t>(members.size()));
    const bool is_gemm = std::holds_alternative<program::GemmKernel>(kernel.work);
    const auto times = static_cast<double>(runs[i]);
    const auto transactions = static_cast<double>(volume.transactions);
    const double others = events_per_load * static_cast<double>(volume.loads) + static_cast<double>(volume.messages);
    sum.messages += times * static_cast<double>(volume.messages);
    sum.bytes_sent += times * static_cast<double>(volume.bytes_sent);
    sum.events +=
        times * ((is_gemm ? events_per_gemm_transaction : events_per_pass_transaction) * transactions + others);
    sum.most_events += times * (transactions + others);
  }
  return sum;
}

void find_fullest(const program::Program& program, const std::vector<program::DeviceId>& devices, Estimate& result) {
  for (const program::DeviceId device : devices) {
    const program::MemoryPeak peak = program::memory_peak(program, device);
    if (peak.total <= result.peak.total) continue;
    result.peak = peak;
    result.fullest = device;
  }
}

}  // namespace

Estimate estimate(const experiment::Experiment& experiment) {
  const program::Program& program = experiment.plan.program;
  Estimate result;
  std::vector<program::DeviceId> taking_part;
  for (program::DeviceId device = 0; device < program.devices.size(); ++device) {
    if (!program.devices[device].streams.empty()) taking_part.push_back(device);
  }
  result.devices = static_cast<std::int64_t>(taking_part.size());
  find_fullest(program, taking_part, result);
  const std::size_t stride = std::max<std::size_t>(1, taking_part.size() / most_sampled);
  const auto sampled = static_cast<double>((taking_part.size() + stride - 1) / stride);
  const double scale = sampled > 0 ? static_cast<double>(taking_part.size()) / sampled : 0;
  for (std::size_t i = 0; i < taking_part.size(); i += stride) {
    const program::ProgramTotals totals = program::totals(program, experiment.machine, taking_part[i]);
    const KernelTotals kernels = kernel_totals(experiment, taking_part[i], totals.kernels);
    const double messages = static_cast<double>(totals.messages) + kernels.messages;
    const double bytes_sent = static_cast<double>(totals.bytes_sent) + kernels.bytes_sent;
    result.bytes_sent += scale * bytes_sent;
    result.messages += scale * messages;
    result.executed_flops += scale * static_cast<double>(totals.flops);
    const auto destinations = destinations_of(experiment, taking_part[i]);
    const double hops = mean_hops(experiment, taking_part[i], destinations);
    result.bytes_of_simulation +=
        scale * (bytes_per_device + bytes_per_destination * static_cast<double>(destinations.size()));
    const double packets = bytes_sent / static_cast<double>(experiment.machine.network.packet) + messages;
    const auto instructions = static_cast<double>(totals.instructions);
    result.events += scale * (events_per_instruction * instructions + messages * hops + kernels.events);
    if (experiment.record.timeline) result.bytes_of_simulation += scale * bytes_per_interval * instructions;
    result.most_events += scale * (instructions + packets * hops + kernels.most_events);
  }
  return result;
}

}  // namespace tessera::app
