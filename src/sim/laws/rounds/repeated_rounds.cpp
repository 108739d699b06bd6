#include "sim/laws/rounds/repeated_rounds.hpp"

#include <algorithm>

namespace tessera::sim {
namespace {

/// What is kept of the past, in numbers of 8 bytes: some rounds of a pipeline, at each round of the loops inside.
constexpr std::size_t most_words = 4'000'000;
/// A loop that goes on not to repeat itself is looked at only before its last round, and then hardly ever.
constexpr std::uint32_t patience = 3, long_patience = 64;

bool is_worth_a_look(std::uint32_t failures, std::uint32_t rests, bool is_last_round) {
  if (failures < patience) return true;
  return is_last_round && (failures < long_patience || rests >= long_patience);
}

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

void RepeatedRounds::look(pdes::Pause& pause, const LoopRound& round) {
  Loop& loop = loops_[{round.depth, round.block}];
  const std::vector<Frame>& position = (*parts_.device_at)[round.device]->position();
  const bool is_last_round = round.depth < position.size() && position[round.depth].repeats == 1;
  if (!is_worth_a_look(loop.failures, loop.rests++, is_last_round)) return;
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
  list(moves);
  pause.skip(period.skipped());
  has_left_out_ = true;
  return true;
}

ListedState RepeatedRounds::standing(const pdes::Pause& pause) {
  ListedState standing;
  standing.now = pause.now();
  StateList reads(standing);
  list_pending(reads, pause.pending());
  if (standing.is_quiet) list(reads);
  return standing;
}

// Of messages that are under way nothing is listed: there may be none.
void RepeatedRounds::list_pending(StateList& list, const std::vector<pdes::Event>& pending) {
  for (const pdes::Event& event : pending) {
    if (event.kind == NetworkProtocol::kind_of<StreamWake>) {
      const auto wake = event.as<StreamWake>();
      if (!(*parts_.device_at)[event.destination]->awaits(wake)) continue;
      list.same(event.time - list.now());
      list.same(event.source);
      list.same(event.destination);
      list.same(wake.stream);
    } else if (event.kind == NetworkProtocol::kind_of<PortWake>) {
      const auto wake = event.as<PortWake>();
      const TrainState& port = train_port((*parts_.nodes)[event.destination]->port(wake.port)).state();
      if (port.due != never && port.token == wake.token) list.refuse();
    } else {
      list.refuse();
    }
  }
}

void RepeatedRounds::list(StateList& list) {
  for (Device* device : *parts_.devices) list_device(list, *device, *parts_.tables);
  for (SwitchOutput* output : *parts_.outputs) list_node(list, output->node(), *parts_.tables);
  if (parts_.rings != nullptr) parts_.rings->list(list);
  list_collectives(list, *parts_.collectives);  // last: it may have grown
}

}  // namespace tessera::sim
