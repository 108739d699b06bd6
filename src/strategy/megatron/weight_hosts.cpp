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
bool is_whole(const Cut& cut) { return cut.options.data == 1; }

Bytes weights_of(const Cut& cut, Unit unit) { return Bytes{cut.element() * part_of_unit(cut, unit)}; }
Bytes sums_of(const Cut& cut, Unit unit) { return Bytes{cut.options.bytes_to_reduce() * part_of_unit(cut, unit)}; }

/// One stretch of code for each unit that is used so, those in a row that are alike as a loop.
template <class Once>
void for_each_use(program::BlockBuilder& into, program::Program& program, const char* name, const UnitUses& uses,
                  bool UnitUse::*is_meant, const Once& once) {
  std::map<Unit, program::BlockId> known;
  for (std::size_t i = 0; i < uses.size();) {
    const Unit unit = uses[i].unit;
    const auto end = std::find_if(uses.begin() + static_cast<std::ptrdiff_t>(i), uses.end(),
                                  [&](const UnitUse& use) { return use.unit != unit || !(use.*is_meant); });
    const auto times = static_cast<std::size_t>(end - uses.begin()) - i;
    if (times > 0 && !known.contains(unit)) {
      program::BlockBuilder body(program, name);
      body.label(name).activity(Activity::data_communication);
      once(body, unit);
      known[unit] = body.done();
    }
    if (times > 0) into.call(known[unit], static_cast<std::uint32_t>(times));
    i += std::max<std::size_t>(times, 1);
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
  program::BlockBuilder in(program, "weights from host");
  for_each_use(in, program, "weights from host", uses, &UnitUse::gathered, [&](program::BlockBuilder& body, Unit unit) {
    body.wait(part_room).send(host_slot, message_of_control, question_channel);
    body.receive(host_slot, weights_of(cut, unit), weights_channel).signal(part_here);
  });
  streams.push_back(in.done());
  if (!cut.training()) return;
  const Event room = is_whole(cut) ? gradient_room : static_cast<Event>(sum_room);
  program::BlockBuilder out(program, "gradients to host");
  out.signal(room, is_whole(cut) ? gradient_buffers : part_buffer_count);
  for_each_use(out, program, "gradients to host", uses, &UnitUse::reduced, [&](program::BlockBuilder& body, Unit unit) {
    body.wait(sum_here).send(host_slot, sums_of(cut, unit), sums_channel).wait_sends();
    body.receive(host_slot, message_of_control, sums_channel).signal(room);
  });
  streams.push_back(out.done());
}

namespace {

/// What the devices that a host serves would hold of weights, gradients and optimizer state, had they them themselves.
program::HeldState held_for(const Cut& cut, std::int64_t devices) {
  std::int64_t parameters = 0;
  const UnitParameters held = held_parts(cut, 0);
  parameters = devices * (held.dense + held.expert);
  program::HeldState state;
  state.weights = Bytes{cut.element() * parameters};
  if (!cut.training()) return state;
  state.gradients = Bytes{cut.options.gradient_bytes * parameters};
  state.optimizer_state = Bytes{optimizer_shape(cut, DeviceState{}).state_bytes() * parameters};
  return state;
}

/// Two streams of a host for the device in one of its slots.
void add_host_streams_for(program::Program& program, const Cut& cut, const UnitUses& uses, std::uint32_t slot,
                          std::vector<program::BlockId>& streams) {
  program::BlockBuilder weights(program, "weights to device");
  for_each_use(
      weights, program, "weights to device", uses, &UnitUse::gathered, [&](program::BlockBuilder& body, Unit unit) {
        body.receive(slot, message_of_control, question_channel).send(slot, weights_of(cut, unit), weights_channel);
      });
  streams.push_back(weights.wait_sends().done());
  if (!cut.training()) return;
  program::BlockBuilder sums(program, "gradients from device");
  for_each_use(sums, program, "gradients from device", uses, &UnitUse::reduced,
               [&](program::BlockBuilder& body, Unit unit) {
                 body.receive(slot, sums_of(cut, unit), sums_channel).send(slot, message_of_control, sums_channel);
               });
  streams.push_back(sums.wait_sends().done());
}

}  // namespace

void add_weight_hosts(program::Program& program, const Cut& cut, const UnitUses& uses) {
  std::map<program::DeviceId, std::vector<program::DeviceId>> served;
  for (std::size_t rank = 0; rank < cut.hosts.size(); ++rank) {
    served[cut.hosts[rank]].push_back(cut.devices[rank]);
    program::DeviceProgram& device = program.devices[cut.devices[rank]];
    device.peers.push_back(cut.hosts[rank]);
    device.events = all_events;
  }
  for (const auto& [host, devices] : served) {
    program::BlockBuilder main(program, "host");
    program::allocate(main, held_for(cut, static_cast<std::int64_t>(devices.size())));
    program::DeviceProgram& device = program.devices[host];
    device.streams = {main.done()};
    device.peers = devices;
    device.groups.assign(group_slots, program::no_group);
    for (std::uint32_t slot = 0; slot < devices.size(); ++slot)
      add_host_streams_for(program, cut, uses, slot, device.streams);
  }
}

}  // namespace tessera::strategy::megatron
