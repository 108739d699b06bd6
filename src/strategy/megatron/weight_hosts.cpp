#include "weight_hosts.hpp"

#include <algorithm>
#include <map>

#include "device_state.hpp"
#include "hosts.hpp"
#include "tessera/program/held_state.hpp"

namespace tessera::strategy::megatron {
namespace {

enum PartEvent : std::uint32_t { part_here = events, part_room, sum_here, sum_room, all_events };
enum PartChannel : std::uint32_t { weights_channel = channels, question_channel, sums_channel };
constexpr std::uint32_t host_slot = peer_slots;

constexpr Bytes message_of_control{8};  // that asks, or says that something has come
constexpr std::uint32_t part_buffer_count = 2;

bool is_on_hosts(const Writer& writer) { return writer.cut().options.weights_on_hosts(); }
bool is_whole(const Cut& cut) { return cut.options.copies() == 1; }

Bytes weights_of(const Cut& cut, Unit unit) { return Bytes{cut.element() * part_of_unit(cut, unit)}; }
Bytes sums_of(const Cut& cut, Unit unit) { return Bytes{cut.options.bytes_to_reduce() * part_of_unit(cut, unit)}; }

/// Uses of a unit in a row.
struct UnitRun {
  Unit unit = Unit::embedding;
  std::uint32_t times = 0;
};
/// Of the uses that are meant.
std::vector<UnitRun> runs_of(const UnitUses& uses, bool UnitUse::*is_meant) {
  std::vector<UnitRun> runs;
  for (const UnitUse& use : uses) {
    if (!(use.*is_meant)) continue;
    if (runs.empty() || runs.back().unit != use.unit) runs.push_back({use.unit, 0});
    ++runs.back().times;
  }
  return runs;
}

/// The same for each use of a unit.
template <class Once>
void write_uses(program::BlockBuilder& into, program::Program& program, const char* name,
                const std::vector<UnitRun>& runs, const Once& once) {
  std::map<Unit, program::BlockId> known;
  for (const UnitRun& run : runs) {
    const auto [found, added] = known.try_emplace(run.unit);
    if (added) {
      program::BlockBuilder body(program, name);
      body.label(name).activity(Activity::data_communication);
      once(body, run.unit);
      found->second = body.done();
    }
    into.call(found->second, run.times);
  }
}

}  // namespace

std::vector<program::DeviceId> weight_hosts_of(const Cut& cut, const machine::Machine& machine) {
  std::vector<program::DeviceId> hosts;
  for (const program::DeviceId device : cut.devices) hosts.push_back(nearest_host(machine, device));
  return hosts;
}

std::int64_t part_buffers(const Cut& cut) {
  if (!cut.options.weights_on_hosts() || is_whole(cut)) return 0;
  std::int64_t largest = 0;
  for (const Unit unit : units_of(cut, 0, 0)) largest = std::max(largest, part_of_unit(cut, unit));
  return part_buffer_count * (cut.element() + (cut.training() ? cut.options.bytes_to_reduce() : 0)) * largest;
}

void begin_parts(Writer& beside) {
  if (is_on_hosts(beside) && !is_whole(beside.cut())) beside.builder().signal(part_room, part_buffer_count);
}

void begin_gradients(Writer& beside) {
  if (!is_on_hosts(beside) || !is_whole(beside.cut())) beside.builder().signal(gradient_room, gradient_buffers);
}

void take_part(Writer& beside) {
  if (!is_on_hosts(beside)) return;
  if (is_whole(beside.cut())) beside.builder().signal(part_room);
  beside.builder().label("weights from host").activity(Activity::data_communication).wait(part_here);
}

void end_gather(Writer& beside) {
  if (is_on_hosts(beside) && !is_whole(beside.cut())) beside.builder().signal(part_room);
  beside.builder().signal(unit_gathered);
}

void take_sum_room(Writer& beside) {
  if (is_on_hosts(beside) && !is_whole(beside.cut()))
    beside.builder().label("gradients to host").activity(Activity::data_communication).wait(sum_room);
}

void end_reduction(Writer& beside) {
  if (is_on_hosts(beside)) beside.builder().signal(sum_here);
  if (!is_on_hosts(beside) || !is_whole(beside.cut())) beside.builder().signal(gradient_room);
}

void add_part_streams(program::Program& program, const Cut& cut, const UnitUses& uses,
                      std::vector<program::BlockId>& streams) {
  const char *from_host = "weights from host", *to_host = "gradients to host";
  program::BlockBuilder in(program, from_host);
  write_uses(in, program, from_host, runs_of(uses, &UnitUse::gathered), [&](program::BlockBuilder& body, Unit unit) {
    body.wait(part_room).send(host_slot, message_of_control, question_channel);
    body.receive(host_slot, weights_of(cut, unit), weights_channel).signal(part_here);
  });
  streams.push_back(in.done());
  if (!cut.training()) return;
  const std::uint32_t room = is_whole(cut) ? std::uint32_t{gradient_room} : std::uint32_t{sum_room};
  program::BlockBuilder out(program, to_host);
  out.signal(room, is_whole(cut) ? gradient_buffers : part_buffer_count);
  write_uses(out, program, to_host, runs_of(uses, &UnitUse::reduced), [&](program::BlockBuilder& body, Unit unit) {
    body.wait(sum_here).send(host_slot, sums_of(cut, unit), sums_channel).wait_sends();
    body.receive(host_slot, message_of_control, sums_channel).signal(room);
  });
  streams.push_back(out.done());
}

namespace {

/// What the devices that a host serves would hold of weights, gradients and optimizer state, had they them themselves.
program::HeldState held_for(const Cut& cut, std::int64_t devices) {
  const UnitParameters parts = held_parts(cut, 0);
  const std::int64_t parameters = devices * (parts.dense + parts.expert);
  program::HeldState state;
  state.weights = Bytes{cut.element() * parameters};
  if (!cut.training()) return state;
  state.gradients = Bytes{cut.options.gradient_bytes * parameters};
  state.optimizer_state = Bytes{optimizer_shape(cut, DeviceState{}).state_bytes() * parameters};
  return state;
}

/// A host's streams for its devices.
class HostStreams {
 public:
  HostStreams(program::Program& program, const Cut& cut, const UnitUses& uses)
      : program_(program),
        cut_(cut),
        gathered_(runs_of(uses, &UnitUse::gathered)),
        reduced_(runs_of(uses, &UnitUse::reduced)) {}

  /// Two for the device in this slot.
  void add(std::uint32_t slot, std::vector<program::BlockId>& streams) const {
    const char *to_device = "weights to device", *from_device = "gradients from device";
    program::BlockBuilder weights(program_, to_device);
    write_uses(weights, program_, to_device, gathered_, [&](program::BlockBuilder& body, Unit unit) {
      body.receive(slot, message_of_control, question_channel).send(slot, weights_of(cut_, unit), weights_channel);
    });
    streams.push_back(weights.wait_sends().done());
    if (!cut_.training()) return;
    program::BlockBuilder sums(program_, from_device);
    write_uses(sums, program_, from_device, reduced_, [&](program::BlockBuilder& body, Unit unit) {
      body.receive(slot, sums_of(cut_, unit), sums_channel).send(slot, message_of_control, sums_channel);
    });
    streams.push_back(sums.wait_sends().done());
  }

 private:
  program::Program& program_;
  const Cut& cut_;
  std::vector<UnitRun> gathered_, reduced_;
};

}  // namespace

void add_weight_hosts(program::Program& program, const Cut& cut, const UnitUses& uses) {
  std::map<program::DeviceId, std::vector<program::DeviceId>> served;
  for (std::size_t rank = 0; rank < cut.weight_hosts.size(); ++rank) {
    served[cut.weight_hosts[rank]].push_back(cut.devices[rank]);
    program::DeviceProgram& device = program.devices[cut.devices[rank]];
    device.peers.push_back(cut.weight_hosts[rank]);
    device.events = all_events;
  }
  const HostStreams streams(program, cut, uses);
  for (const auto& [host, devices] : served) {
    program::BlockBuilder main(program, "host");
    program::allocate(main, held_for(cut, static_cast<std::int64_t>(devices.size())));
    program::DeviceProgram& device = program.devices[host];
    device.streams = {main.done()};
    device.peers = devices;
    device.groups.assign(group_slots, program::no_group);
    for (std::uint32_t slot = 0; slot < devices.size(); ++slot) streams.add(slot, device.streams);
  }
}

}  // namespace tessera::strategy::megatron
