#include "estimate.hpp"

#include <algorithm>

namespace tessera::app {
namespace {

// Devices do much the same as their neighbours: beyond this number an even sample of them is counted.
constexpr std::size_t most_sampled = 256;

// Measured on the experiments that come along. A message that meets no other is one event a link (a train); most
// computations follow what they wait for without an event of their own.
constexpr double events_per_instruction = 0.1;
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

}  // namespace

Estimate estimate(const experiment::Experiment& experiment) {
  const program::Program& program = experiment.plan.program;
  Estimate result;
  std::vector<program::DeviceId> taking_part;
  for (program::DeviceId device = 0; device < program.devices.size(); ++device) {
    if (!program.devices[device].streams.empty()) taking_part.push_back(device);
  }
  result.devices = static_cast<std::int64_t>(taking_part.size());
  for (const program::DeviceId device : taking_part) {
    const program::MemoryPeak peak = program::memory_peak(program, device);
    if (peak.total <= result.peak.total) continue;
    result.peak = peak;
    result.fullest = device;
  }
  const std::size_t stride = std::max<std::size_t>(1, taking_part.size() / most_sampled);
  const auto sampled = static_cast<double>((taking_part.size() + stride - 1) / stride);
  const double scale = sampled > 0 ? static_cast<double>(taking_part.size()) / sampled : 0;
  for (std::size_t i = 0; i < taking_part.size(); i += stride) {
    const program::ProgramTotals totals = program::totals(program, experiment.machine, taking_part[i]);
    const auto messages = static_cast<double>(totals.messages);
    result.bytes_sent += scale * static_cast<double>(totals.bytes_sent);
    result.messages += scale * messages;
    result.executed_flops += scale * static_cast<double>(totals.flops);
    const auto destinations = destinations_of(experiment, taking_part[i]);
    const double hops = mean_hops(experiment, taking_part[i], destinations);
    result.bytes_of_simulation +=
        scale * (bytes_per_device + bytes_per_destination * static_cast<double>(destinations.size()));
    const double packets =
        static_cast<double>(totals.bytes_sent) / static_cast<double>(experiment.machine.network.packet) + messages;
    result.events += scale * (events_per_instruction * static_cast<double>(totals.instructions) + messages * hops);
    if (experiment.record.timeline)
      result.bytes_of_simulation += scale * bytes_per_interval * static_cast<double>(totals.instructions);
    result.most_events += scale * (static_cast<double>(totals.instructions) + packets * hops);
  }
  return result;
}

}  // namespace tessera::app
