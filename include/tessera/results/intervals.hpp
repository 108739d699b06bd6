// The intervals of a timeline as they are kept until they are written: what repeats itself is there once, and so is
// what several devices did alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "tessera/base/time.hpp"

namespace tessera::results {

/// Which end of a message an interval of the timeline is.
enum class MessageEnd : std::uint8_t { none, sent, taken };

/// One interval of the timeline, when it is recorded. What takes no time has none, but for both ends of a message.
struct Interval {
  std::uint32_t device = 0;
  std::uint16_t stream = 0;
  std::uint16_t label = 0;  ///< RunResults::labels
  std::uint16_t activity = 0;
  Time begin = 0;
  Time end = 0;
  std::int64_t bytes = 0;         ///< of the message or collective; 0: it is neither
  std::int32_t group = -1;        ///< of the collective: RunResults::groups
  std::int32_t micro_batch = -1;  ///< whose pass it is part of
  std::int32_t peer = -1;         ///< the device at the other end of the message,
  std::int32_t channel = -1;      ///< which is on this channel between them
  std::int32_t message = -1;      ///< its number there, from 0 on; -1: the interval is no end of one
  MessageEnd end_of_message = MessageEnd::none;
  std::uint16_t pass = 0;  ///< the program's number of that pass, which no file has; 0: it is part of none
  bool operator==(const Interval&) const = default;
};

/// By what the intervals of a round differ from those of the round before.
struct RoundShift {
  /// The ends of messages on one way.
  struct Line {
    std::int32_t peer = -1, channel = -1;
    MessageEnd end = MessageEnd::none;
    std::int64_t messages = 0;  ///< of a round
  };
  struct Pass {
    std::uint16_t pass = 0;
    std::int64_t micro_batches = 0;  ///< of a round
  };
  Time time = 0;
  std::vector<Line> lines;  ///< in order of end, peer and channel
  std::vector<Pass> passes;

  void move(Interval& interval, std::int64_t rounds) const;
};

/// What one stream of a device did, interval by interval. It can be read at any place; a round that is repeated is
/// there once, and its intervals are made when they are read.
class StreamIntervals {
 public:
  Interval& emplace_back();
  /// The one that was added last, behind which nothing is repeated.
  [[nodiscard]] Interval& back() { return chunks_.back().back(); }
  /// Repeated ones included.
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// The last intervals, so many, follow themselves, so many times; negative: of what was said last, as many fewer.
  void repeat(std::int64_t intervals, std::int64_t times, std::shared_ptr<const RoundShift> shift);
  /// The intervals first, first + 1, ...
  void copy(std::int64_t first, std::int64_t count, Interval* to) const;
  /// In order of their begins, those of the same begin as they are.
  void sort();
  /// In chunks, without the repeated ones.
  [[nodiscard]] const std::vector<std::vector<Interval>>& kept() const { return chunks_; }

 private:
  /// Intervals that stand together: kept ones, or repeats of those before.
  struct Part {
    std::int64_t begin = 0;  ///< its place among all
    std::int64_t kept = 0;   ///< the place of its first among those that are kept
    std::int64_t round = 0;  ///< so many before it are repeated; 0: these are kept
    std::shared_ptr<const RoundShift> shift;
  };
  void copy_kept(std::int64_t first, std::int64_t count, Interval* to) const;
  [[nodiscard]] Time begin_of(std::int64_t place) const;
  [[nodiscard]] bool is_sorted() const;

  static constexpr std::size_t chunk = 4096;   // a vector of all would be there twice whenever it grows
  std::vector<std::vector<Interval>> chunks_;  // all but the last one are full
  std::vector<Part> parts_;
  std::int64_t size_ = 0, kept_ = 0;
};

/// What another device has in place of a peer and a group, in order of these; all others are the same.
struct OtherNames {
  std::vector<std::pair<std::int32_t, std::int32_t>> peers, groups;
};

/// What one device did: stream by stream, each in order of begin.
class DeviceIntervals {
 public:
  DeviceIntervals(std::uint32_t device, std::vector<StreamIntervals> streams);
  DeviceIntervals(std::uint32_t device, const std::vector<Interval>& intervals);
  /// The same of another device, which shares them.
  [[nodiscard]] DeviceIntervals renamed(std::uint32_t device, OtherNames names) const;

  [[nodiscard]] std::uint32_t device() const { return device_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] const std::vector<StreamIntervals>& streams() const { return *streams_; }
  void copy(std::int64_t first, std::int64_t count, Interval* to) const;

 private:
  std::uint32_t device_;
  std::int64_t size_ = 0;
  std::shared_ptr<const std::vector<StreamIntervals>> streams_;
  OtherNames names_;
};

/// What the devices of a rank did.
class Timeline {
 public:
  Timeline() = default;
  Timeline(std::initializer_list<Interval> intervals) : Timeline(std::vector<Interval>(intervals)) {}
  explicit Timeline(const std::vector<Interval>& intervals);
  void add(DeviceIntervals device) { devices_.push_back(std::move(device)); }

  [[nodiscard]] const std::vector<DeviceIntervals>& devices() const { return devices_; }
  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// All of them, in order of device, stream and begin: for few.
  [[nodiscard]] std::vector<Interval> rows() const;

 private:
  std::vector<DeviceIntervals> devices_;
};

}  // namespace tessera::results
