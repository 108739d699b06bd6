#include "sim/laws/trains/queue_peak.hpp"

#include <algorithm>

#include "sim/laws/trains/times_order.hpp"

namespace tessera::sim {
namespace {

/// How many of the first `count` come before `time`, by the closed form.
[[nodiscard]] std::uint32_t come_before(const PacketTimes& times, std::uint32_t count, Time time, const Rate& rate) {
  if (time <= times.base) return 0;
  const std::int64_t bytes = rate.within(time - 1 - times.base) - times.offset;
  return bytes < 0 ? 0 : static_cast<std::uint32_t>(std::min<std::int64_t>(count, bytes / times.stride + 1));
}

}  // namespace

void QueuePeak::begin(Time period) {
  if (period == ends_.period) return;
  ends_.period = period;
  ends_.bytes.clear();
  ends_.first = 0;
}

// The number of short ends that the server has sent, with those that are forgotten.
std::size_t QueuePeak::ends_within(std::int64_t sent) const {
  const auto first = ends_.bytes.begin() + ends_.first;
  return static_cast<std::size_t>(std::upper_bound(first, ends_.bytes.end(), sent) - ends_.bytes.begin());
}

std::int64_t QueuePeak::begun(std::int64_t sent) const {
  const std::size_t next = ends_within(sent);
  const std::int64_t phase = next > ends_.first ? ends_.bytes[next - 1] : 0;
  const std::int64_t end = sent - (sent - phase) % packet_ + packet_;
  return next < ends_.bytes.size() ? std::min(end, ends_.bytes[next]) : end;
}

void QueuePeak::note(std::int64_t sent, const BusyPeriod& behind) {
  begin(behind.start);
  peak_ = std::max(peak_, behind.bytes - begun(sent));
}

void QueuePeak::look_at(const Row& row, std::uint32_t index) {
  const Time arrival = row.arrivals->of_form(index, *row.arrival_rate);
  look_at(rate_.within_either(arrival - row.start), packet_, {row.start, row.first + index * row.stride});
}

// What comes from now on comes when no less than `sent` has been sent: ends up to there are forgotten, but the last
// one.
void QueuePeak::end_short(std::int64_t sent, const BusyPeriod& behind) {
  begin(behind.start);
  const std::size_t over = ends_within(sent);
  if (over > ends_.first + 1) ends_.first = static_cast<std::uint32_t>(over - 1);
  if (ends_.first >= 64 && ends_.first >= ends_.bytes.size() / 2) {
    ends_.bytes.erase(ends_.bytes.begin(), ends_.bytes.begin() + ends_.first);
    ends_.first = 0;
  }
  ends_.bytes.push_back(behind.bytes);
}

void QueuePeak::take(const PacketTimes& arrivals, const Rate& arrival_rate, std::uint32_t count,
                     const PacketTimes& out) {
  begin(out.base);
  const Row row{&arrivals, &arrival_rate, out.base, out.offset, out.stride};
  if (ends_.first == ends_.bytes.size()) return look_at(row, 0, count, 0);
  // Those that come while short packets are in the queue, from each of these to the next.
  const Time first = arrivals.of_form(0, arrival_rate);
  std::size_t next = ends_within(rate_.within_either(first - row.start));
  std::uint32_t from = 0;
  for (; next < ends_.bytes.size() && from < count; ++next) {
    const std::int64_t end = ends_.bytes[next];
    const std::uint32_t until = come_before(arrivals, count, row.start + rate_.up_either(end), arrival_rate);
    if (until <= from) continue;
    const std::int64_t phase = next > ends_.first ? ends_.bytes[next - 1] : 0;
    const Time short_begins = row.start + rate_.up_either(end - (end - phase) % packet_);
    look_at(row, from, std::max(from, come_before(arrivals, until, short_begins, arrival_rate)), phase);
    look_at(row, until - 1);  // while the short one is in service, the last one finds most
    from = until;
  }
  look_at(row, from, count, ends_.bytes.back());
}

// Packets `first` to `end` - 1, while the packets that begin are whole ones, a whole number of packets from `phase` on.
// As exact numbers, the queue would grow or shrink from the first to the last one. That arrivals are whole picoseconds
// may make it a packet longer in between.
void QueuePeak::look_at(const Row& row, std::uint32_t first, std::uint32_t end, std::int64_t phase) {
  if (first >= end) return;
  const std::int64_t rest = ((row.first - phase) % packet_ + packet_) % packet_;
  const auto next_size = [&] { return peak_ - ((peak_ - rest) % packet_ + packet_) % packet_ + packet_; };
  look_at(row, first);
  if (first + 1 == end) return;
  look_at(row, end - 1);
  while (end - first > 2 && exceeds(row, first, end, next_size())) peak_ = next_size();
}

// Whether one of these packets finds so many bytes or more, which would end a whole number of packets from its own end:
// whether the packet that ends so many before its own end leaves later than it comes.
bool QueuePeak::exceeds(const Row& row, std::uint32_t first, std::uint32_t end, std::int64_t bytes) const {
  const PacketTimes& arrivals = *row.arrivals;
  const std::int64_t offset = row.first - bytes;
  const TimeLine leaves{row.start, offset + first * row.stride, row.stride, &rate_};
  const TimeLine comes{arrivals.base, arrivals.offset + first * arrivals.stride, arrivals.stride, row.arrival_rate};
  // Both lines are straight but for rounding: with a picosecond to spare at both ends, there is as much in between.
  const auto is_clear = [&](std::uint32_t index) {
    const Time arrival = arrivals.of_form(index, *row.arrival_rate);
    return offset + index * row.stride <= rate_.within_either(arrival - 1 - row.start);
  };
  return !(is_clear(first) && is_clear(end - 1)) && ever_later(leaves, comes, end - first);
}

void QueuePeak::shorten(BusyPeriod& busy) {
  const BusyPeriod shorter = with_room(busy, rate_);
  if (shorter.start == busy.start) return;
  begin(busy.start);
  if (ends_.bytes.empty()) ends_.bytes.push_back(0);
  for (std::int64_t& bytes : ends_.bytes) bytes -= busy.bytes - shorter.bytes;
  ends_.period = shorter.start;
  busy = shorter;
}

}  // namespace tessera::sim
