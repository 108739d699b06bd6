#include "sim/laws/rounds/repeated_rounds.hpp"

#include <algorithm>

#include "sim/laws/rounds/list_parts.hpp"

namespace tessera::sim {
namespace {

/// What is kept of the past, in numbers of 8 bytes: some rounds of a pipeline, at each round of the loops inside.
constexpr std::size_t most_words = 4'000'000;
/// Rounds of a loop that are looked at one after the other. Where none is as another one, looks rest for twice as many
/// rounds each time, since what a pipeline is filled with takes some to settle.
constexpr std::uint32_t looks_in_a_row = 3, most_doublings = 20;

/// Both in the same loops, of which one is in another round.
bool differ_by_rounds(const std::vector<Frame>& a, const std::vector<Frame>& b) {
  const auto is_elsewhere = [](const Frame& one, const Frame& other) {
    return one.block != other.block || one.next != other.next;
  };
  if (a.size() != b.size()) return false;
  std::size_t others = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (is_elsewhere(a[i], b[i])) return false;
    if (a[i].repeats != b[i].repeats) ++others;
  }
  return others == 1;
}

}  // namespace

program::DeviceId RepeatedRounds::device_of(const program::Program& program, const ProgramFacts& facts) {
  for (program::DeviceId device = 0; device < program.devices.size(); ++device) {
    const auto& streams = program.devices[device].streams;
    if (!streams.empty() && facts.of(streams.front()).repeats) return device;
  }
  return program::no_device;
}

bool RepeatedRounds::Loop::is_worth_a_look() const {
  if (failures % looks_in_a_row != 0) return true;
  return rests >> std::min(failures / looks_in_a_row, most_doublings) > 0;
}

void RepeatedRounds::look(pdes::Pause& pause, const LoopRound& round) {
  Loop& loop = loops_[{round.depth, round.block}];
  const std::vector<Frame>& position = (*parts_.device_at)[round.device]->position();
  ++loop.rests;
  if (!loop.is_worth_a_look()) return;
  loop.rests = 0;
  Kept now{position, standing(pause)};
  bool in_vain = !now.standing.is_quiet;
  for (std::size_t i = 0; i < kept_.size() && now.standing.is_quiet; ++i) {
    if (!differ_by_rounds(kept_[i].position, position)) continue;
    in_vain = true;
    if (!skip(pause, kept_[i].standing, now.standing)) continue;
    loop.failures = 0;
    return;
  }
  if (in_vain) ++loop.failures;
  if (now.standing.is_quiet) keep(std::move(now));
}

void RepeatedRounds::keep(Kept kept) {
  kept_words_ += kept.standing.words();
  kept_.push_front(std::move(kept));
  for (; kept_words_ > most_words; kept_.pop_back()) kept_words_ -= kept_.back().standing.words();
}

bool RepeatedRounds::skip(pdes::Pause& pause, const ListedState& from, const ListedState& to) {
  const Period period{from, to, repeats_between(from, to)};
  if (period.times == 0) return false;
  StateList moves(period);
  list(moves, pause.pending());
  pause.skip(period.skipped());
  has_left_out_ = true;
  return true;
}

ListedState RepeatedRounds::standing(const pdes::Pause& pause) {
  ListedState standing;
  standing.now = pause.now();
  StateList reads(standing);
  list(reads, pause.pending());
  return standing;
}

/// Calls that a later one of the same kind has replaced do nothing.
bool RepeatedRounds::matters(const pdes::Event& event) const {
  if (event.kind == NetworkProtocol::kind_of<StreamWake>)
    return (*parts_.device_at)[event.destination]->awaits(event.as<StreamWake>());
  if (event.kind != NetworkProtocol::kind_of<PortWake>) return true;
  const auto wake = event.as<PortWake>();
  const TrainState& port = train_port((*parts_.nodes)[event.destination]->port(wake.port)).state();
  return port.due != never && port.token == wake.token;
}

void RepeatedRounds::list_pending(StateList& list, const std::vector<pdes::Event*>& pending) {
  for (pdes::Event* event : pending) {
    if (!matters(*event)) continue;
    list.same(event->time - list.now());
    for (const std::uint32_t one : {std::uint32_t{event->kind}, event->source, event->destination}) list.same(one);
    if (event->kind == NetworkProtocol::kind_of<StreamWake>) {
      list.same(event->as<StreamWake>().stream);
    } else if (event->kind == NetworkProtocol::kind_of<PortWake>) {
      list.same(event->as<PortWake>().port);
    } else {
      list_message(list, *event);
    }
  }
}

// What is pending comes last: ports that are idle no longer wait for it.
void RepeatedRounds::list(StateList& list, const std::vector<pdes::Event*>& pending) {
  for (Device* device : *parts_.devices) list_device(list, *device, *parts_.tables);
  for (SwitchOutput* output : *parts_.outputs) list_node(list, output->node(), *parts_.tables);
  if (parts_.rings != nullptr) parts_.rings->list(list);
  list_pending(list, pending);
  list_collectives(list, *parts_.collectives);  // last: it may have grown
}

}  // namespace tessera::sim
