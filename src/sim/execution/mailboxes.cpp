#include "sim/execution/mailboxes.hpp"

#include <algorithm>

namespace tessera::sim {
namespace {

std::uint64_t key_of(machine::NodeId node, std::uint32_t channel) {
  return static_cast<std::uint64_t>(channel) << 32U | node;
}

/// Without the division of size(): every message is looked up.
template <class Box>
bool is_at(const std::vector<Box>& boxes, std::size_t index, std::uint64_t key) {
  const auto box = boxes.begin() + static_cast<std::ptrdiff_t>(index);
  return box < boxes.end() && box->key == key;
}

constexpr auto key_before = [](const auto& box, std::uint64_t key) { return box.key < key; };

}  // namespace

Mailboxes::Index Mailboxes::find(machine::NodeId sender, std::uint32_t channel, Index hint) {
  const std::uint64_t key = key_of(sender, channel);
  if (is_at(state_.boxes, hint, key)) [[likely]]
    return hint;
  const auto place = std::lower_bound(state_.boxes.begin(), state_.boxes.end(), key, key_before);
  const auto index = static_cast<Index>(place - state_.boxes.begin());
  if (place == state_.boxes.end() || place->key != key) {
    Box box;
    box.key = key;
    state_.boxes.insert(place, box);
  }
  return index;
}

std::optional<Time> Mailboxes::take(Index index, std::uint32_t stream) {
  Box& box = state_.boxes[index];
  box.stream = stream;
  if (box.first == none) {
    ++box.missing;
    return std::nullopt;
  }
  const std::uint32_t place = box.first;
  Early& message = state_.early[place];
  box.first = message.next;
  if (box.first == none) box.last = none;
  message.next = state_.unused;
  state_.unused = place;
  return message.waited_until;
}

std::optional<std::uint32_t> Mailboxes::deliver(Index index, Time waited_until) {
  Box& box = state_.boxes[index];
  if (box.missing > 0) [[likely]] {
    --box.missing;
    return box.stream;
  }
  add_early(box, waited_until);
  return std::nullopt;
}

void Mailboxes::add_early(Box& box, Time waited_until) {
  std::uint32_t place = state_.unused;
  if (place == none) {
    place = static_cast<std::uint32_t>(state_.early.size());
    state_.early.emplace_back();
  } else {
    state_.unused = state_.early[place].next;
  }
  state_.early[place] = {waited_until, none};
  (box.first == none ? box.first : state_.early[box.last].next) = place;
  box.last = place;
}

std::vector<Mailboxes::Awaited> Mailboxes::awaited(std::uint32_t stream) const {
  std::vector<Awaited> found;
  for (const Box& box : state_.boxes) {
    if (box.stream != stream) continue;
    found.insert(found.end(), box.missing,
                 {static_cast<machine::NodeId>(box.key), static_cast<std::uint32_t>(box.key >> 32U)});
  }
  return found;
}

Outboxes::Box* Outboxes::find(machine::NodeId destination, std::uint32_t channel, std::uint32_t& hint) {
  const std::uint64_t key = key_of(destination, channel);
  if (is_at(boxes_, hint, key)) [[likely]]
    return &boxes_[hint];
  const auto place = std::lower_bound(boxes_.begin(), boxes_.end(), key, key_before);
  if (place == boxes_.end() || place->key != key) return nullptr;
  hint = static_cast<std::uint32_t>(place - boxes_.begin());
  return &*place;
}

Outboxes::Box& Outboxes::add(machine::NodeId destination, std::uint32_t channel, std::uint32_t port) {
  const std::uint64_t key = key_of(destination, channel);
  const auto place = std::lower_bound(boxes_.begin(), boxes_.end(), key, key_before);
  return *boxes_.insert(place, {key, 0, port, Injector::no_ticket});
}

}  // namespace tessera::sim
