#include "sim/laws/rounds/repeated_rounds.hpp"

#include <algorithm>

#include "sim/laws/rounds/list_parts.hpp"

namespace tessera::sim {

std::vector<program::DeviceId> RepeatedRounds::in_loops(const program::Program& program, const ProgramFacts& facts) {
  std::vector<program::DeviceId> found;
  for (program::DeviceId device = 0; device < program.devices.size(); ++device) {
    const auto& streams = program.devices[device].streams;
    if (!streams.empty() && facts.of(streams.front()).repeats) found.push_back(device);
  }
  return found;
}

RepeatedRounds::RepeatedRounds(const RoundsParts& parts, std::vector<program::DeviceId> in_loops)
    : parts_(parts),
      in_loops_(std::move(in_loops)),
      whole_{*parts.devices, {}, RoundHistory(RoundHistory::most_words), std::nullopt} {
  for (SwitchOutput* output : *parts.outputs) whole_.outputs.push_back(&output->node());
  round().is_looked_at.assign(parts.device_at->size(), 0);
  if (!in_loops_.empty()) round().is_looked_at[in_loops_.front()] = 1;
}

void RepeatedRounds::look(pdes::Pause& pause) {
  for (const auto& [a, b] : std::exchange(met_, {})) {
    if (watched_) join(pause, a, b);
  }
  if (!std::exchange(round().is_new, false)) return;
  if (islands_.empty()) {
    look_at(pause, whole_);
    return consider_islands(pause);
  }
  const auto found = islands_.find(watched_->of(round().device));
  if (found != islands_.end()) look_at(pause, found->second);
}

// How far some of its devices' main streams have done ahead of now.
std::uint64_t RepeatedRounds::likeness(const pdes::Pause& pause, const Island& island) {
  constexpr std::size_t most_devices = 64;
  const std::size_t stride = (island.devices.size() + most_devices - 1) / most_devices;
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < island.devices.size(); i += stride) {
    const std::vector<Stream>& streams = island.devices[i]->view().state.streams;
    if (streams.empty()) continue;
    // Where operators stand in line, how far it is ahead is not known, but when the line has begun.
    const bool stands_in_line = streams[0].state == StreamState::computes;
    const Time least = stands_in_line ? streams[0].clock - pause.now() : 0;
    const auto ahead = static_cast<std::uint64_t>(std::max(least, streams[0].clock - pause.now()));
    hash = (hash ^ ahead ^ (hash >> 29U)) * 0x9E37'79B9'7F4A'7C15U;
  }
  return hash;
}

void RepeatedRounds::look_at(pdes::Pause& pause, Island& island) {
  if (!island.history.begins(round(), [&] { return likeness(pause, island); })) return;
  const std::vector<Frame>& position = (*parts_.device_at)[round().device]->position();
  auto alike = island.history.look(round(), position, standing(pause, island));
  if (!alike) return;
  move(pause, island, alike->period());
  has_left_out_ = true;
  if (&island != &whole_) island.ahead = std::move(alike);
}

void RepeatedRounds::move(pdes::Pause& pause, Island& island, const Period& period) {
  StateList moves(period);
  list(moves, island, pause.pending());
  if (&island == &whole_) return pause.skip(period.skipped());
  pause.skip(period.skipped(), [&](const pdes::Event& event) { return is_on(island, event); });
}

ListedState RepeatedRounds::standing(const pdes::Pause& pause, Island& island) {
  ListedState standing;
  standing.now = pause.now();
  StateList reads(standing, !parts_.tables->bound_ways().empty());
  list(reads, island, pause.pending());
  return standing;
}

/// Calls that a later one of the same kind has replaced do nothing.
bool RepeatedRounds::matters(const pdes::Event& event) const {
  if (event.kind == NetworkProtocol::kind_of<StreamWake>)
    return (*parts_.device_at)[event.destination]->awaits(event.as<StreamWake>());
  if (event.kind == NetworkProtocol::kind_of<MemoryWake>)
    return (*parts_.device_at)[event.destination]->awaits(event.as<MemoryWake>());
  if (event.kind != NetworkProtocol::kind_of<PortWake>) return true;
  const auto wake = event.as<PortWake>();
  const TrainState& port = train_port((*parts_.nodes)[event.destination]->port(wake.port)).state();
  return port.due != never && port.token == wake.token;
}

// What somebody else has sent there in the event that is handled is none of it yet.
bool RepeatedRounds::is_on(const Island& island, const pdes::Event& event) {
  if (&island == &whole_) return true;
  const Root root = watched_->of(island.devices.front()->id());
  return watched_->of(event.destination) == root && watched_->of(event.source) == root;
}

void RepeatedRounds::list_pending(StateList& list, const Island& island, const std::vector<pdes::Event*>& pending) {
  for (pdes::Event* event : pending) {
    if (!is_on(island, *event) || !matters(*event)) continue;
    list.same(event->time - list.now());
    for (const std::uint32_t one : {std::uint32_t{event->kind}, event->source, event->destination}) list.same(one);
    if (event->kind == NetworkProtocol::kind_of<StreamWake>) {
      list.same(event->as<StreamWake>().stream);
    } else if (event->kind == NetworkProtocol::kind_of<PortWake>) {
      list.same(event->as<PortWake>().port);
    } else if (event->kind != NetworkProtocol::kind_of<MemoryWake>) {
      list_message(list, *event);
    }
  }
}

// What is pending comes last: ports that are idle no longer wait for it.
void RepeatedRounds::list(StateList& list, Island& island, const std::vector<pdes::Event*>& pending) {
  for (Device* device : island.devices) list_device(list, *device, *parts_.tables);
  for (NetworkNode* output : island.outputs) list_node(list, *output, *parts_.tables);
  const auto is_here = [&](program::DeviceId member) {
    return &island == &whole_ || watched_->of(member) == watched_->of(island.devices.front()->id());
  };
  if (parts_.rings != nullptr) parts_.rings->list(list, is_here);
  list_pending(list, island, pending);
}

}  // namespace tessera::sim
