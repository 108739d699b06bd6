#include "estimate.hpp"

#include <algorithm>

namespace tessera::app {
namespace {

// Devices do much the same as their neighbours: beyond this number an even sample of them is counted.
constexpr std::size_t most_sampled = 256;

// Measured on the experiments that come along. A message that meets no other is one event a link (a train); most
// computations follow what they wait for without an event of their own.
constexpr double events_per_instruction = 0.1;
constexpr double bytes_per_device = 2e3;      // with its links
constexpr double bytes_per_connection = 6e3;  // its peers and groups beyond the first, with the messages under way
constexpr double bytes_per_interval = 40;     // of a recorded timeline

/// Whom a device sends to: its peers, and in each collective the receivers of a first and a middle step.
std::vector<program::DeviceId> partners_of(const experiment::Experiment& experiment, program::DeviceId device) {
  const program::Program& program = experiment.plan.program;
  const program::DeviceProgram& own = program.devices[device];
  std::vector<program::DeviceId> partners = own.peers;
  program::Step step;
  for (const program::Collective& collective : program.collectives) {
    const bool bound =
        collective.group_slot < own.groups.size() && own.groups[collective.group_slot] != program::no_group;
    if (!bound) continue;
    const program::Group& group = program.groups[own.groups[collective.group_slot]];
    const auto place = std::find(group.members.begin(), group.members.end(), device);
    const program::CollectiveCall call{&collective, static_cast<std::uint32_t>(place - group.members.begin()),
                                       static_cast<std::uint32_t>(group.members.size()), &group, &experiment.machine};
    const auto& algorithm = *program::collective_algorithms()[collective.algorithm];
    const std::uint32_t steps = algorithm.steps(call);
    for (std::uint32_t i = 0; i < steps; i += std::max(1U, steps / 2)) {
      algorithm.step(call, i, step);
      for (const program::Transfer& transfer : step.sends) partners.push_back(group.members[transfer.peer]);
    }
  }
  return partners;
}

/// Mean number of links between a device and its partners.
double mean_hops(const experiment::Experiment& experiment, program::DeviceId device) {
  double hops = 0;
  int routes = 0;
  for (const program::DeviceId partner : partners_of(experiment, device)) {
    if (partner == device || partner == program::no_device) continue;
    hops += static_cast<double>(machine::route(experiment.machine.network, device, partner).size());
    ++routes;
  }
  return routes == 0 ? 1 : hops / routes;
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
    const double hops = mean_hops(experiment, taking_part[i]);
    const double packets =
        static_cast<double>(totals.bytes_sent) / static_cast<double>(experiment.machine.network.packet) + messages;
    result.events += scale * (events_per_instruction * static_cast<double>(totals.instructions) + messages * hops);
    if (experiment.record.timeline)
      result.bytes_of_simulation += scale * bytes_per_interval * static_cast<double>(totals.instructions);
    result.most_events += scale * (static_cast<double>(totals.instructions) + packets * hops);
  }
  for (const program::DeviceProgram& device : program.devices) {
    const auto bound =
        std::count_if(device.groups.begin(), device.groups.end(), [](auto id) { return id != program::no_group; }) +
        std::count_if(device.peers.begin(), device.peers.end(), [](auto id) { return id != program::no_device; });
    result.bytes_of_simulation +=
        bytes_per_device + bytes_per_connection * static_cast<double>(std::max<std::int64_t>(bound - 1, 0));
  }
  return result;
}

}  // namespace tessera::app
