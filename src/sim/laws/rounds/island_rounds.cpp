// Rounds of parts that have nothing to do with each other for a while. An island that repeats itself is moved to the
// last of its rounds at once. Where another one meets it before that, it is brought back by as many rounds as it takes,
// and what it did since then is simulated first.
#include <algorithm>

#include "sim/laws/rounds/repeated_rounds.hpp"

namespace tessera::sim {
namespace {

/// Rounds in which islands are found: whoever meets in each round has met by then.
constexpr std::uint32_t rounds_to_watch = 2;
/// What an island keeps of the past at least (RoundHistory).
constexpr std::size_t least_words = 40'000;

}  // namespace

// Where the whole does not repeat itself, parts of it may.
void RepeatedRounds::consider_islands(pdes::Pause& pause) {
  if (!parts_.is_whole) return;
  if (watched_ != nullptr && ++watched_for_ >= rounds_to_watch) return find_islands(pause);
  if (watched_ == nullptr && whole_.history.failures(round()) >= patience_) begin_watch(pause);
}

void RepeatedRounds::begin_watch(pdes::Pause& pause) {
  watched_ = std::make_unique<Islands>(parts_.nodes->size());
  watched_for_ = 0;
  for (const pdes::Event* event : pause.pending()) watched_->join(event->source, event->destination);
  if (parts_.rings != nullptr) {
    parts_.rings->tell_meetings(this);
    for (const std::vector<pdes::ComponentId>& ring : parts_.rings->under_way()) meet(ring);
  }
  pause.watch(this);
}

// For good, or until the whole has been looked at in vain more often than so far.
void RepeatedRounds::end_watch(pdes::Pause& pause) {
  pause.watch(nullptr);
  if (parts_.rings != nullptr) parts_.rings->tell_meetings(nullptr);
  watched_.reset();
  islands_.clear();
  met_.clear();
  patience_ *= 4;
}

void RepeatedRounds::find_islands(pdes::Pause& pause) {
  for (const program::DeviceId device : in_loops_) {
    const Root root = watched_->of(device);
    if (!islands_.contains(root)) islands_.emplace(root, island_of(watched_->parts(root)));
  }
  if (islands_.size() == 1) return end_watch(pause);
  std::ranges::fill(round().is_looked_at, 0);
  for (const auto& [root, island] : islands_) look_at_first_in_loop(island);
}

RepeatedRounds::Island RepeatedRounds::island_of(const std::vector<pdes::ComponentId>& parts) const {
  std::vector<Device*> devices;
  std::vector<NetworkNode*> outputs;
  for (const pdes::ComponentId part : parts) {
    if (parts_.tables->is_device(part)) {
      devices.push_back((*parts_.device_at)[part]);
    } else if ((*parts_.nodes)[part] != nullptr) {
      outputs.push_back((*parts_.nodes)[part]);
    }
  }
  const std::size_t share = RoundHistory::most_words / parts_.devices->size() * devices.size();
  return {std::move(devices), std::move(outputs), RoundHistory(std::max(least_words, share)), std::nullopt};
}

// The first device whose main stream goes round a loop says when to look.
void RepeatedRounds::look_at_first_in_loop(const Island& island) {
  for (const Device* device : island.devices) round().is_looked_at[device->id()] = 0;
  for (const Device* device : island.devices) {
    if (!std::ranges::binary_search(in_loops_, device->id())) continue;
    const auto goes_round = [](const Frame& frame) { return frame.repeats > 1; };
    if (std::ranges::none_of(device->position(), goes_round)) continue;
    round().is_looked_at[device->id()] = 1;
    return;
  }
}

bool RepeatedRounds::sends(pdes::ComponentId source, pdes::ComponentId destination) {
  if (watched_->of(source) == watched_->of(destination)) return false;
  met_.emplace_back(source, destination);
  return true;
}

// In the midst of an event: what was to happen before it on an island that is brought back happens now.
void RepeatedRounds::meet(const std::vector<pdes::ComponentId>& parts) {
  pdes::Pause pause = parts_.simulation->pause();
  bool any = false;
  for (const pdes::ComponentId part : parts) any = bring_back(pause, watched_->of(part)) || any;
  if (any) {
    const Handling handling = parts_.environment->handling;
    const LoopRound kept = round();
    parts_.simulation->catch_up();
    parts_.environment->handling = handling;
    round() = kept;
  }
  for (const pdes::ComponentId part : parts) {
    if (watched_) join(pause, parts.front(), part);
  }
}

bool RepeatedRounds::bring_back(pdes::Pause& pause, Root root) {
  const auto found = islands_.find(root);
  if (found == islands_.end() || found->second.stands_at() <= pause.now()) return false;
  Island& island = found->second;
  const Period period = island.ahead->period();
  const Time early = island.stands_at() - pause.now();
  const std::int64_t rounds = (early + period.length() - 1) / period.length();
  move(pause, island, {period.from, period.to, -rounds});
  island.ahead->times -= rounds;
  return true;
}

void RepeatedRounds::join(pdes::Pause& pause, pdes::ComponentId a, pdes::ComponentId b) {
  const Root first = watched_->of(a), second = watched_->of(b);
  if (first == second) return;
  for (const Root root : {first, second}) static_cast<void>(bring_back(pause, root));
  const bool any = islands_.erase(first) + islands_.erase(second) > 0;
  watched_->join(first, second);
  if (!any) return;
  const Root root = watched_->of(first);
  const Island& island = islands_.emplace(root, island_of(watched_->parts(root))).first->second;
  look_at_first_in_loop(island);
  if (islands_.size() > 1) return;
  end_watch(pause);
}

}  // namespace tessera::sim
