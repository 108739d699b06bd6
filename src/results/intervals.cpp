#include "tessera/results/intervals.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace tessera::results {

void RoundShift::move(Interval& interval, std::int64_t rounds) const {
  interval.begin += rounds * time;
  interval.end += rounds * time;
  if (interval.end_of_message != MessageEnd::none) {
    const auto key = [](const Line& line) { return std::tuple(line.end, line.peer, line.channel); };
    const std::tuple own(interval.end_of_message, interval.peer, interval.channel);
    const auto line = std::ranges::lower_bound(lines, own, {}, key);
    if (line != lines.end() && key(*line) == own)
      interval.message = static_cast<std::int32_t>(interval.message + rounds * line->messages);
  }
  if (interval.pass == 0) return;
  for (const Pass& pass : passes)
    if (pass.pass == interval.pass)
      interval.micro_batch = static_cast<std::int32_t>(interval.micro_batch + rounds * pass.micro_batches);
}

Interval& StreamIntervals::emplace_back() {
  if (parts_.empty() || parts_.back().round > 0) parts_.push_back({size_, kept_, 0, nullptr});
  if (kept_ % static_cast<std::int64_t>(chunk) == 0) chunks_.emplace_back();
  ++size_;
  ++kept_;
  return chunks_.back().emplace_back();
}

void StreamIntervals::repeat(std::int64_t intervals, std::int64_t times, std::shared_ptr<const RoundShift> shift) {
  if (intervals == 0 || times == 0) return;
  if (times < 0) {
    size_ += intervals * times;
    if (parts_.back().begin == size_) parts_.pop_back();
    return;
  }
  parts_.push_back({size_, kept_, intervals, std::move(shift)});
  size_ += intervals * times;
}

void StreamIntervals::copy(std::int64_t first, std::int64_t count, Interval* to) const {
  while (count > 0) {
    const auto next = std::ranges::upper_bound(parts_, first, {}, &Part::begin);
    const Part& part = *std::prev(next);
    const std::int64_t end = next == parts_.end() ? size_ : next->begin, place = first - part.begin;
    std::int64_t some = std::min(count, end - first);
    if (part.round == 0) {
      copy_kept(part.kept + place, some, to);
    } else {
      const std::int64_t rounds = place / part.round, in_round = place % part.round;
      some = std::min(some, part.round - in_round);
      copy(part.begin - part.round + in_round, some, to);  // of the round before the part
      for (std::int64_t i = 0; i < some; ++i) part.shift->move(to[i], rounds + 1);
    }
    first += some;
    count -= some;
    to += some;
  }
}

void StreamIntervals::copy_kept(std::int64_t first, std::int64_t count, Interval* to) const {
  constexpr auto in_chunk = static_cast<std::int64_t>(chunk);
  while (count > 0) {
    const std::int64_t place = first % in_chunk, some = std::min(count, in_chunk - place);
    std::copy_n(chunks_[static_cast<std::size_t>(first / in_chunk)].begin() + place, some, to);
    first += some;
    count -= some;
    to += some;
  }
}

Time StreamIntervals::begin_of(std::int64_t place) const {
  Interval one;
  copy(place, 1, &one);
  return one.begin;
}

// A part is sorted where what it keeps, or repeats, is; a repeat is sorted at the seams of its rounds where it is at
// its first one, and that is where the part begins.
bool StreamIntervals::is_sorted() const {
  for (std::size_t i = 1; i < parts_.size(); ++i)
    if (begin_of(parts_[i].begin) < begin_of(parts_[i].begin - 1)) return false;
  const Interval* last = nullptr;
  for (const std::vector<Interval>& some : chunks_) {
    for (const Interval& one : some) {
      if (last != nullptr && one.begin < last->begin) return false;
      last = &one;
    }
  }
  return true;
}

// Simulations write in order: only then is all of it in memory.
void StreamIntervals::sort() {
  if (is_sorted()) return;
  std::vector<Interval> all(static_cast<std::size_t>(size_));
  copy(0, size_, all.data());
  std::ranges::stable_sort(all, {}, &Interval::begin);
  *this = {};
  for (const Interval& one : all) emplace_back() = one;
}

DeviceIntervals::DeviceIntervals(std::uint32_t device, std::vector<StreamIntervals> streams) : device_(device) {
  for (StreamIntervals& stream : streams) {
    stream.sort();
    size_ += stream.size();
  }
  streams_ = std::make_shared<const std::vector<StreamIntervals>>(std::move(streams));
}

namespace {

std::vector<StreamIntervals> by_stream(const std::vector<Interval>& intervals) {
  std::vector<StreamIntervals> streams;
  for (const Interval& one : intervals) {
    if (streams.size() <= one.stream) streams.resize(one.stream + std::size_t{1});
    streams[one.stream].emplace_back() = one;
  }
  return streams;
}

/// The same name where there is no other one.
void rename(std::int32_t& name, const std::vector<std::pair<std::int32_t, std::int32_t>>& others) {
  const auto other = std::ranges::lower_bound(others, name, {}, &std::pair<std::int32_t, std::int32_t>::first);
  if (other != others.end() && other->first == name) name = other->second;
}

}  // namespace

DeviceIntervals::DeviceIntervals(std::uint32_t device, const std::vector<Interval>& intervals)
    : DeviceIntervals(device, by_stream(intervals)) {}

DeviceIntervals DeviceIntervals::renamed(std::uint32_t device, OtherNames names) const {
  DeviceIntervals other = *this;
  other.device_ = device;
  other.names_ = std::move(names);
  return other;
}

void DeviceIntervals::copy(std::int64_t first, std::int64_t count, Interval* to) const {
  for (const StreamIntervals& stream : *streams_) {
    const std::int64_t some = std::min(count, stream.size() - first);
    if (some > 0) {
      stream.copy(first, some, to);
      for (std::int64_t i = 0; i < some; ++i) {
        to[i].device = device_;
        if (to[i].peer >= 0) rename(to[i].peer, names_.peers);
        if (to[i].group >= 0) rename(to[i].group, names_.groups);
      }
      to += some;
      count -= some;
    }
    first = std::max<std::int64_t>(0, first - stream.size());
    if (count == 0) return;
  }
}

Timeline::Timeline(const std::vector<Interval>& intervals) {
  std::map<std::uint32_t, std::vector<Interval>> by_device;
  for (const Interval& one : intervals) by_device[one.device].push_back(one);
  for (const auto& [device, own] : by_device) devices_.emplace_back(device, own);
}

std::int64_t Timeline::size() const {
  std::int64_t size = 0;
  for (const DeviceIntervals& device : devices_) size += device.size();
  return size;
}

std::vector<Interval> Timeline::rows() const {
  std::vector<Interval> rows(static_cast<std::size_t>(size()));
  std::vector<const DeviceIntervals*> ordered;
  for (const DeviceIntervals& device : devices_) ordered.push_back(&device);
  std::ranges::stable_sort(ordered, {}, &DeviceIntervals::device);
  Interval* to = rows.data();
  for (const DeviceIntervals* device : ordered) {
    device->copy(0, device->size(), to);
    to += device->size();
  }
  return rows;
}

}  // namespace tessera::results
