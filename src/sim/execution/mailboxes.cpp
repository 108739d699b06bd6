#include "tessera/sim/execution/mailboxes.hpp"

#include <algorithm>
#include <bit>

namespace tessera::sim {
namespace {

std::uint64_t key_of(machine::NodeId node, std::uint32_t channel) {
  return static_cast<std::uint64_t>(channel) << 32U | node;
}

constexpr auto key_before = [](const auto& box, std::uint64_t key) { return box.key < key; };

}  // namespace

Mailboxes::Index Mailboxes::find(machine::NodeId sender, std::uint32_t channel, Index hint) {
  const std::uint64_t key = key_of(sender, channel);
  if (hint < boxes_.size() && boxes_[hint].key == key) [[likely]]
    return hint;
  const auto place = std::lower_bound(boxes_.begin(), boxes_.end(), key, key_before);
  const auto index = static_cast<Index>(place - boxes_.begin());
  if (place == boxes_.end() || place->key != key) {
    Box box;
    box.key = key;
    boxes_.insert(place, box);
  }
  return index;
}

bool Mailboxes::is_here(const Box& box, std::uint32_t sequence) const {
  const std::uint32_t ahead = sequence - box.come;
  if (ahead == 0) return false;
  if (static_cast<std::int32_t>(ahead) < 0) return true;
  if (ahead <= 64) return (box.early >> (ahead - 1) & 1U) != 0;
  return std::any_of(far_.begin(), far_.end(),
                     [&](const Far& far) { return far.key == box.key && far.sequence == sequence; });
}

bool Mailboxes::take(Index index, std::uint32_t stream) {
  Box& box = boxes_[index];
  box.stream = stream;
  return is_here(box, box.taken++);
}

bool Mailboxes::pull_near(Box& box) {
  bool first_missing = false;
  const auto is_near = [&](const Far& far) {
    if (far.key != box.key || far.sequence - box.come > 64) return false;
    if (far.sequence == box.come) {
      first_missing = true;
    } else {
      box.early |= std::uint64_t{1} << (far.sequence - box.come - 1);
    }
    --box.far;
    return true;
  };
  far_.erase(std::remove_if(far_.begin(), far_.end(), is_near), far_.end());
  return first_missing;
}

void Mailboxes::advance(Box& box) {
  do {
    ++box.come;
    while (true) {
      const bool next_is_here = (box.early & 1U) != 0;
      box.early >>= 1U;
      if (!next_is_here) break;
      ++box.come;
    }
  } while (box.far > 0 && pull_near(box));
}

std::optional<std::uint32_t> Mailboxes::deliver(Index index, std::uint32_t sequence) {
  Box& box = boxes_[index];
  const std::uint32_t ahead = sequence - box.come;
  if (ahead == 0) [[likely]] {
    advance(box);
  } else if (ahead <= 64) {
    box.early |= std::uint64_t{1} << (ahead - 1);
  } else {
    far_.push_back({box.key, sequence});
    ++box.far;
  }
  const bool is_awaited = static_cast<std::int32_t>(box.taken - sequence) > 0;
  return is_awaited ? std::optional(box.stream) : std::nullopt;
}

std::vector<Mailboxes::Awaited> Mailboxes::awaited(std::uint32_t stream) const {
  std::vector<Awaited> found;
  for (const Box& box : boxes_) {
    if (box.stream != stream) continue;
    for (std::uint32_t sequence = box.come; static_cast<std::int32_t>(box.taken - sequence) > 0; ++sequence) {
      if (is_here(box, sequence)) continue;
      found.push_back({static_cast<machine::NodeId>(box.key), static_cast<std::uint32_t>(box.key >> 32U)});
    }
  }
  return found;
}

Outboxes::Box* Outboxes::find(machine::NodeId destination, std::uint32_t channel, std::uint32_t& hint) {
  const std::uint64_t key = key_of(destination, channel);
  if (hint < boxes_.size() && boxes_[hint].key == key) [[likely]]
    return &boxes_[hint];
  const auto place = std::lower_bound(boxes_.begin(), boxes_.end(), key, key_before);
  if (place == boxes_.end() || place->key != key) return nullptr;
  hint = static_cast<std::uint32_t>(place - boxes_.begin());
  return &*place;
}

Outboxes::Box& Outboxes::add(machine::NodeId destination, std::uint32_t channel, std::uint32_t port) {
  const std::uint64_t key = key_of(destination, channel);
  const auto place = std::lower_bound(boxes_.begin(), boxes_.end(), key, key_before);
  return *boxes_.insert(place, {key, 0, port});
}

}  // namespace tessera::sim
