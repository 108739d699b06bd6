#include "tessera/experiment/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "tessera/base/random.hpp"
#include "tessera/machine/routes.hpp"
#include "tessera/sim/gpu/kernel_volume.hpp"
#include "tessera/sim/run/stream_volume.hpp"

namespace tessera::experiment {
namespace {

// Devices that run the same code in groups of the same sizes do much the same: of more than this number of devices,
// some of each kind are counted.
constexpr std::size_t most_sampled = 256;
constexpr std::size_t least_sampled = 16;
// Steps of collectives that all of the sample go through; those of groups of thousands are many.
constexpr double most_steps = 4e6;

// Where messages share links, a packet may be announced, taken back and announced again.
constexpr double most_events_per_packet = 3;
// Where devices post messages to many others at a time, as direct collectives do, queues grow long: measured up to 5
// events a link and 3.3 kB a packet.
constexpr std::size_t many = 8;
constexpr double most_events_per_crowded_packet = 10;
constexpr double most_bytes_per_crowded_packet = 5e3;

// Measured on the experiments that come along. A transaction that finds its channel idle needs no event of its own: a
// GEMM keeps channels busier than a pass round the ring, which waits for its links. What is loaded together begins and
// ends what it is for.
constexpr double events_per_gemm_transaction = 0.6;
constexpr double events_per_pass_transaction = 0.35;
constexpr double events_per_load = 2;

// Measured as the peak of resident memory of runs, in B (docs/commands.md).
constexpr double bytes_of_a_process = 32e6;  // with MPI and HDF5, before it simulates anything
constexpr double bytes_per_device = 2.6e3;   // with its links
constexpr double bytes_per_switch_output = 800;
constexpr double bytes_per_device_each = 900;         // of the machine and of the program, on every rank
constexpr double bytes_per_connection = 60;           // on every rank: two components that send to each other
constexpr double bytes_per_destination = 100;         // that a device sends to
constexpr double bytes_per_own_message = 110;         // in line at the device
constexpr double bytes_per_message_on_its_way = 380;  // the same, in the queues of the switches before it
constexpr double least_bytes_per_tile = 100, most_bytes_per_tile = 800;  // of the largest GEMM at transaction level
constexpr double bytes_per_folded_device = 1000;                         // one that another one stands for: its rows
constexpr double bytes_per_interval = 70;       // kept, unless they are of rounds that repeat themselves
constexpr double bytes_per_memory_change = 80;  // recorded, copied and written; so are the others
constexpr double bytes_per_traffic_bin = 130;

/// Whom a device sends to, each once.
std::vector<program::DeviceId> destinations_of(program::Lowerings& lowerings, program::DeviceId device) {
  const program::Program& program = lowerings.program();
  std::vector<program::DeviceId> to = program.devices[device].peers;
  for (std::uint32_t index = 0; index < program.collectives.size(); ++index) {
    program::append_destinations(lowerings, device, index, to);
  }
  program::append_kernel_destinations(program, device, to);
  std::sort(to.begin(), to.end());
  to.erase(std::unique(to.begin(), to.end()), to.end());
  to.erase(std::remove_if(to.begin(), to.end(), [=](auto id) { return id == device || id == program::no_device; }),
           to.end());
  return to;
}

/// Mean number of links between a device and those, of bound ways where there are any; what it sends to itself crosses
/// none.
double mean_hops(const machine::Network& network, const machine::BoundWays& ways, program::DeviceId device,
                 const std::vector<program::DeviceId>& destinations) {
  double hops = 0, counted = 0;
  const auto count = [&](const std::vector<machine::LinkId>& links) {
    hops += static_cast<double>(links.size());
    ++counted;
  };
  for (const program::DeviceId to : destinations) {
    const double before = counted;
    ways.for_each_between(device, to, [&](const machine::BoundWay& way) { count(way.links); });
    if (counted == before) count(machine::Routes(network).links(device, to));
  }
  return counted > 0 ? hops / counted : 0;
}

/// What a device's kernels add at transaction level.
struct KernelTotals {
  double messages = 0;
  double bytes_sent = 0;
  double events = 0;       ///< without those of messages on their way
  double most_events = 0;  ///< the same
  double requests = 0;     ///< to the memory
  double most_tiles = 0;   ///< of a GEMM
};

KernelTotals kernel_totals(const Experiment& experiment, program::DeviceId device,
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
    if (is_gemm)
      sum.most_tiles =
          std::max(sum.most_tiles, static_cast<double>(std::get<program::GemmKernel>(kernel.work).shape.tiles()));
    const auto times = static_cast<double>(runs[i]);
    const auto transactions = static_cast<double>(volume.transactions);
    const double others = events_per_load * static_cast<double>(volume.loads) + static_cast<double>(volume.messages);
    sum.messages += times * static_cast<double>(volume.messages);
    sum.bytes_sent += times * static_cast<double>(volume.bytes_sent);
    sum.events +=
        times * ((is_gemm ? events_per_gemm_transaction : events_per_pass_transaction) * transactions + others);
    sum.most_events += times * (transactions + others);
    sum.requests += times * transactions;
  }
  return sum;
}

/// The device that has the least to spare, and how much of its kind hold for certain.
void find_fullest(const Experiment& experiment, const std::vector<program::DeviceId>& devices, Estimate& result) {
  const program::Program& program = experiment.plan.program;
  const machine::Machine& machine = experiment.machine;
  std::map<std::pair<std::uint32_t, std::vector<program::BlockId>>, bool> known;  // devices that do the same
  std::map<std::uint32_t, std::int64_t> certain;                                  // by kind
  std::int64_t least_left = std::numeric_limits<std::int64_t>::max();
  for (const program::DeviceId device : devices) {
    if (!known.try_emplace({machine.kind(device), program.devices[device].streams}, true).second) continue;
    const program::MemoryPeak peak = program::memory_peak(program, device);
    std::int64_t& most = certain[machine.kind(device)];
    most = std::max(most, peak.total);
    const std::int64_t left = machine.spec(device).usable_memory().value() - peak.most;
    if (peak.most == 0 || left >= least_left) continue;
    least_left = left;
    result.peak = peak;
    result.fullest = device;
  }
  result.certain_peak = certain[machine.kind(result.fullest)];
}

/// Counts one device after the other, each for so many that are like it.
class Counter {
 public:
  Counter(const Experiment& experiment, Estimate& sum)
      : experiment_(experiment),
        program_(experiment.plan.program),
        facts_(program_),
        lowerings_(program_, experiment.machine),
        ways_(program_.ways),
        sum_(sum) {}

  void count(program::DeviceId device, double times);

 private:
  void count_memory(const sim::StreamVolume& streams, const KernelTotals& kernels, std::size_t destinations,
                    double times, bool repeats);

  const Experiment& experiment_;
  const program::Program& program_;
  sim::ProgramFacts facts_;
  program::Lowerings lowerings_;
  machine::BoundWays ways_;
  Estimate& sum_;
};

void Counter::count(program::DeviceId device, double times) {
  const machine::Machine& machine = experiment_.machine;
  const program::ProgramTotals totals = program::totals(lowerings_, device);
  const KernelTotals kernels = kernel_totals(experiment_, device, totals.kernels);
  const sim::StreamVolume streams = sim::stream_volume(lowerings_, facts_, device);
  const double messages = static_cast<double>(totals.messages) + kernels.messages;
  const double bytes_sent = static_cast<double>(totals.bytes_sent) + kernels.bytes_sent;
  sum_.messages += times * messages;
  sum_.bytes_sent += times * bytes_sent;
  sum_.executed_flops += times * static_cast<double>(totals.flops);
  const auto destinations = destinations_of(lowerings_, device);
  const double hops = mean_hops(machine.network, ways_, device, destinations);
  // A message that meets no other is one event a link (a train).
  const double packets = bytes_sent / static_cast<double>(machine.network.packet.value()) + messages;
  const bool is_crowded = destinations.size() > many && streams.most_in_line > many;
  const double most_events = is_crowded ? most_events_per_crowded_packet : most_events_per_packet;
  sum_.events.add(times * (streams.wakes + (messages - streams.ring_messages) * hops + kernels.events),
                  times * (streams.most_wakes + most_events * packets * hops + kernels.most_events));
  if (is_crowded && messages > 0) {
    const double packets_in_line = streams.most_in_line * packets / messages;
    sum_.bytes_shared.add(0, times * most_bytes_per_crowded_packet * packets_in_line);
  }
  const bool repeats = std::ranges::any_of(program_.devices[device].streams,
                                           [this](program::BlockId block) { return facts_.of(block).repeats; });
  count_memory(streams, kernels, destinations.size(), times, repeats);
}

void Counter::count_memory(const sim::StreamVolume& streams, const KernelTotals& kernels, std::size_t destinations,
                           double times, bool repeats) {
  const Record& record = experiment_.record;
  const machine::Network& network = experiment_.machine.network;
  const bool switched = network.switches > network.bridges;  // over bridges goes only what hosts send and receive
  const double to_others = static_cast<double>(destinations);
  const double fixed = bytes_per_destination * to_others;
  sum_.bytes_shared.add(times * fixed, times * fixed);
  if (switched) sum_.bytes_each += times * bytes_per_connection * to_others;
  const double bytes_per_message =
      destinations == 0 ? 0 : bytes_per_own_message + (switched ? bytes_per_message_on_its_way : 0);
  sum_.bytes_shared.add(times * bytes_per_message * streams.in_line, times * bytes_per_message * streams.most_in_line);
  if (record.timeline) {
    const double intervals = bytes_per_interval * streams.intervals;
    sum_.bytes_shared.add(repeats ? 0 : times * 0.5 * intervals, times * intervals);
  }
  if (record.memory_timeline) {
    const double changes = bytes_per_memory_change * streams.memory_changes;
    sum_.bytes_shared.add(times * changes, times * changes);
  }
  sum_.bytes_shared.add(times * least_bytes_per_tile * kernels.most_tiles,
                        times * most_bytes_per_tile * kernels.most_tiles);
  // In how many intervals something moves depends on how long it takes.
  if (record.traffic_interval > 0) sum_.bytes_shared.add(0, times * bytes_per_traffic_bin * kernels.requests);
}

/// Devices of one kind run the same code in groups of the same sizes, and send point to point to as many others.
using Kind = std::pair<std::vector<program::BlockId>, std::vector<std::size_t>>;

std::vector<std::vector<program::DeviceId>> by_kind(const program::Program& program,
                                                    const std::vector<program::DeviceId>& devices) {
  std::map<Kind, std::vector<program::DeviceId>> kinds;
  for (const program::DeviceId device : devices) {
    const program::DeviceProgram& one = program.devices[device];
    Kind kind{one.streams, {one.peers.size()}};
    for (const program::GroupId group : one.groups)
      kind.second.push_back(group == program::no_group ? 0 : program.groups[group].members.size());
    kinds[std::move(kind)].push_back(device);
  }
  std::vector<std::vector<program::DeviceId>> all;
  for (auto& [kind, members] : kinds) all.push_back(std::move(members));
  return all;
}

/// Some of these, each drawn from a stretch of its own: what repeats itself along the devices is not met in step.
std::vector<program::DeviceId> sample(const std::vector<program::DeviceId>& devices, std::size_t size) {
  if (size >= devices.size()) return devices;
  const KeyedRandom random(1, random_stream("devices that an estimate counts"));
  std::vector<program::DeviceId> chosen;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t begin = i * devices.size() / size, end = (i + 1) * devices.size() / size;
    chosen.push_back(devices[begin + static_cast<std::size_t>(random.real(i) * static_cast<double>(end - begin))]);
  }
  return chosen;
}

/// How many of the devices are counted, fewer where each is much to count.
std::size_t sample_size(const Experiment& experiment, const std::vector<program::DeviceId>& devices) {
  double steps = 1;
  const program::Program& program = experiment.plan.program;
  for (const program::Collective& collective : program.collectives) {
    for (const program::DeviceId device : {devices.front(), devices[devices.size() / 2]}) {
      const auto& groups = program.devices[device].groups;
      if (collective.group_slot >= groups.size() || groups[collective.group_slot] == program::no_group) continue;
      const program::CollectiveCall call =
          program::make_call(collective, program.groups[groups[collective.group_slot]], 0, experiment.machine);
      const program::CollectiveAlgorithm& algorithm = program::algorithm_of(call);
      steps += static_cast<double>(algorithm.steps(call)) * algorithm.strands(call);
    }
  }
  const double fits = std::clamp(most_steps / steps, double{least_sampled}, double{most_sampled});
  return std::min(devices.size(), static_cast<std::size_t>(fits));
}

/// Of the simulation of a share of all devices.
void fold_costs(double simulated, double bytes_of_others, Estimate& result) {
  result.events.most *= simulated;
  result.bytes_shared = {simulated * result.bytes_shared.least, simulated * result.bytes_shared.most};
  result.bytes_shared.add(bytes_of_others, bytes_of_others);
}

}  // namespace

Range Estimate::bytes_per_rank(int ranks) const {
  const double each = bytes_of_a_process + bytes_each;
  return {each + bytes_shared.least / ranks, each + bytes_shared.most / ranks};
}

Estimate estimate(const Experiment& experiment) {
  const program::Program& program = experiment.plan.program;
  const machine::Network& network = experiment.machine.network;
  Estimate result;
  std::vector<program::DeviceId> taking_part;
  for (program::DeviceId device = 0; device < program.devices.size(); ++device) {
    if (program.devices[device].streams.empty()) continue;
    taking_part.push_back(device);
    ++(experiment.machine.computes(device) ? result.devices : result.hosts);
  }
  find_fullest(experiment, taking_part, result);
  const double outputs = static_cast<double>(network.links.size() - network.first_link[network.devices]);
  const double devices = bytes_per_device * network.devices + bytes_per_switch_output * outputs;
  result.bytes_shared.add(devices, devices);
  result.bytes_each += bytes_per_device_each * network.devices;
  if (taking_part.empty()) return result;
  const double share =
      static_cast<double>(sample_size(experiment, taking_part)) / static_cast<double>(taking_part.size());
  const sim::FoldFacts& fold = experiment.fold;
  const double simulated = static_cast<double>(fold.simulated) / static_cast<double>(fold.parts);
  Counter counter(experiment, result);
  for (const std::vector<program::DeviceId>& alike : by_kind(program, taking_part)) {
    const double wanted = std::ceil(share * static_cast<double>(alike.size()));
    const std::vector<program::DeviceId> counted = sample(alike, static_cast<std::size_t>(wanted));
    const double times = static_cast<double>(alike.size()) / static_cast<double>(counted.size());
    result.is_sampled = result.is_sampled || counted.size() < alike.size();
    for (const program::DeviceId device : counted) counter.count(device, times);
  }
  result.events.least *= simulated;
  if (simulated < 1) fold_costs(simulated, bytes_per_folded_device * network.devices, result);
  return result;
}

}  // namespace tessera::experiment
