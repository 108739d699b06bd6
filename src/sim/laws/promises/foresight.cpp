#include "sim/laws/promises/foresight.hpp"

#include <algorithm>
#include <utility>

#include "sim/execution/channel.hpp"

namespace tessera::sim {

RankForesight::RankForesight(const program::Program& program, const std::vector<bool>& transits,
                             const pdes::Partition& partition, int rank)
    : program_(&program), partition_(&partition), rank_(rank), passing_(transits, partition, rank) {
  for (const program::Group& group : program.groups) {
    const auto first = partition.rank_of[group.members.front()];
    spans_.push_back(
        std::ranges::any_of(group.members, [&](auto member) { return partition.rank_of[member] != first; }));
  }
}

void RankForesight::watch(const std::vector<Device*>& devices, const machine::Machine& machine, Distances& distances,
                          std::vector<const NetworkNode*> outputs) {
  index_of_.assign(partition_->rank_of.size(), 0);
  for (const Device* device : devices) {
    const auto index = static_cast<std::uint32_t>(promises_.size());
    const program::DeviceId id = device->id();
    const bool has_streams = id < program_->devices.size() && !program_->devices[id].streams.empty();
    promises_.emplace_back(*device, distances, has_streams ? distances.of(id, machine.kind_and_speed(id)) : nullptr);
    index_of_[id] = index;
    awake_.push_back(index);
  }
  at_rest_.assign(promises_.size(), false);
  behind_answer_.assign(promises_.size(), never);
  outputs_ = std::move(outputs);
}

bool RankForesight::spans(const MessageName& name) const {
  return is_collective(name.channel) && !is_kernel(name.channel) && spans_[group_of(name.channel)];
}

std::vector<RankForesight::Coming>::iterator RankForesight::find(const MessageName& name, machine::NodeId destination,
                                                                 std::uint32_t told) {
  return std::ranges::find_if(coming_, [&](const Coming& one) {
    return one.name == name && one.destination == destination && one.told == told;
  });
}

void RankForesight::posted(const MessageName& name, machine::NodeId destination) {
  if (spans(name) && is_here(destination)) ++under_way_;
}

void RankForesight::told(const Delivered& message, machine::NodeId destination, Time at) {
  if (spans(message.name)) coming_.push_back({message.name, destination, at, message.generation});
}

void RankForesight::delivered(const Delivered& message, machine::NodeId destination) {
  if (!spans(message.name)) return;
  const bool is_told = message.generation >= told_by_takeover;
  if (!is_told && is_here(message.name.sender)) {
    --under_way_;
    return;
  }
  const auto found = find(message.name, destination, is_told ? message.generation : 0);
  if (found == coming_.end()) return;
  *found = coming_.back();
  coming_.pop_back();
}

// What is told of a message in several parts counts once, from the first part on until it is delivered, by the earliest
// time that was told: what is taken back may come later, or earlier where what was before it comes later.
void RankForesight::comes(const pdes::Event& event) {
  if (event.kind == NetworkProtocol::kind_of<Delivered>)
    return comes({event.as<Delivered>().name, event.destination, event.time});
  if (event.kind == NetworkProtocol::kind_of<Amend>) {
    const Amend amend = event.as<Amend>();
    if (amend.destination != event.destination) passing_.comes(event.destination, event.time);
    return;
  }
  passing_.comes(event.destination, event.time);
  if (event.kind == NetworkProtocol::kind_of<Segment>) {
    const Segment& segment = pdes::Context::get<Segment>(event);
    return comes({segment.name, segment.destination, event.time});
  }
  for (const Segment& segment : pdes::Context::get<Segments>(event).span())
    comes({segment.name, segment.destination, event.time});
}

void RankForesight::comes(const Coming& coming) {
  if (!spans(coming.name) || is_here(coming.name.sender) || !is_here(coming.destination)) return;
  const auto found = find(coming.name, coming.destination);
  if (found == coming_.end()) {
    coming_.push_back(coming);
  } else {
    found->at = std::min(found->at, coming.at);
  }
}

void RankForesight::wake(std::uint32_t index) {
  at_rest_[index] = false;
  awake_.push_back(index);
  const auto found = at_rest_behind_.find(behind_answer_[index]);
  if (--found->second == 0) at_rest_behind_.erase(found);
}

void RankForesight::let_rest(Time from) {
  std::erase_if(awake_, [&](std::uint32_t index) {
    const auto behind = promises_[index].crossing_behind_answer(from);
    if (!behind) return false;
    at_rest_[index] = true;
    behind_answer_[index] = *behind;
    ++at_rest_behind_[*behind];
    return true;
  });
}

// When a stream that waits for members on other ranks may go on first.
Time RankForesight::earliest_answer(Time from) const {
  if (under_way_ > 0) return from;
  Time answer = never;
  for (const Coming& one : coming_) answer = std::min(answer, std::max(from, one.at));
  for (const std::uint32_t index : awake_) answer = std::min(answer, promises_[index].earliest_joining(from));
  return answer;
}

// What is announced at a transit changes when something comes to it, or when it goes on by itself.
Time RankForesight::earliest_unprompted(Time from, Time latency) {
  if (!program_->kernels.empty()) return from;
  const Time worthless = saturating_add(from, latency);
  Time first = saturating_add(passing_.first(from), latency);
  for (const NetworkNode* output : outputs_) {
    const Time next = std::max(from, output->ports().front()->next_announcement());
    first = std::min(first, saturating_add(next, latency));
  }
  if (first <= worthless) return first;
  let_rest(from);
  const Time answer = earliest_answer(from);
  if (!at_rest_behind_.empty()) {
    const Time behind = at_rest_behind_.begin()->first;
    first = std::min(first, saturating_add(saturating_add(std::max(from, answer), behind), latency));
  }
  for (const std::uint32_t index : awake_) {
    if (first <= worthless) break;
    first = std::min(first, promises_[index].earliest_crossing(from, answer, latency));
  }
  return first;
}

}  // namespace tessera::sim
