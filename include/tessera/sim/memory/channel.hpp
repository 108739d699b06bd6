// A channel of HBM: two streams of requests, a bounded DRAM queue that an
// arbitration policy fills from them, and the DRAM that serves it, a
// transaction at a time in closed form.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tessera/base/time.hpp"
#include "tessera/sim/memory/arbitration.hpp"
#include "tessera/sim/memory/request.hpp"

namespace tessera::sim {

/// Delays are in clocks where nothing else is said. CCDL, CCDWL, clock and bank
/// groups are T3's (table 1 and section 5.1.1); the paper does not give the
/// others.
struct ChannelSpec {
  Time clock_period = 1 * nanosecond;
  std::uint32_t ccdl = 2;           ///< a burst
  std::uint32_t ccdwl = 4;          ///< from the start of an update's burst to that of
                                    ///< the next one in its bank group
  std::uint32_t bank_groups = 4;    ///< the bursts of a transaction go round them ...
  std::uint32_t group_bursts = 1;   ///< ... so many at a time
  std::uint32_t block_bursts = 4;   ///< bursts of a whole block (granularity / 64
                                    ///< B): where the next block begins
  std::uint32_t turnaround = 10;    ///< at least so much between bursts of which
                                    ///< one reads, the other writes
  std::uint32_t row_time = 0;       ///< from the opening of a row to that of the next
  Time latency = 100 * nanosecond;  ///< ps, from the end of a read's service to its data
  std::uint32_t queue = 64;         ///< bursts in the DRAM queue
  std::uint32_t max_bypass = 32;    ///< a request that so many bursts of the other
                                    ///< direction have overtaken goes first
};

/// No transaction may take longer: an hour.
inline constexpr Time longest_transaction = 3600 * second;

/// Throws InputError where a value makes no sense.
void refuse(const ChannelSpec& spec);

/// Where a channel's announcements go.
class ChannelSink {
 public:
  virtual ~ChannelSink() = default;
  /// The request has entered the DRAM queue. May push more into the channel.
  virtual void enqueued(const MemoryRequest& request, Time now) = 0;
  /// Told when DRAM begins to serve it: service ends, and a read's data are
  /// there, at `at`. May push more.
  virtual void done(const MemoryRequest& request, Time at) = 0;
  /// Call wake() at that time.
  virtual void wake(Time at) = 0;
};

/// A first-in-first-out queue that allocates only where it grows beyond its
/// greatest length so far.
template <class T>
class RingBuffer {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Must not be empty, nor for pop().
  [[nodiscard]] const T& front() const { return items_[head_]; }
  /// `index` < size(), from the front on.
  [[nodiscard]] const T& operator[](std::size_t index) const { return items_[(head_ + index) & (items_.size() - 1)]; }

  void push(const T& item) {
    if (size_ == items_.size()) grow();
    items_[(head_ + size_++) & (items_.size() - 1)] = item;
  }
  T pop() {
    const T item = items_[head_];
    head_ = (head_ + 1) & (items_.size() - 1);
    --size_;
    return item;
  }

 private:
  void grow() {
    std::vector<T> larger(items_.empty() ? 16 : 2 * items_.size());  // a power of two, for the masks
    for (std::size_t i = 0; i < size_; ++i) larger[i] = items_[(head_ + i) & (items_.size() - 1)];
    items_.swap(larger);
    head_ = 0;
  }
  std::vector<T> items_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

/// When the bursts of a transaction are on the bus.
class BankGroups {
 public:
  explicit BankGroups(const ChannelSpec& spec);
  /// Serves all bursts of the request, the first not before `earliest`. The time when the last one has ended.
  Time serve(const MemoryRequest& request, Time earliest);

 private:
  std::uint32_t block_bursts_;
  std::uint32_t run_;  // consecutive bursts in one group
  Time burst_;
  Time after_update_;
  std::vector<Time> ready_;  // by group: a burst may start, as far as updates before it are concerned
  Time all_ready_ = 0;       // the latest of them
};

/// What DRAM may choose from: requests of the direction that the bus has go
/// first, oldest first, unless one of the other direction has been overtaken by
/// `max_bypass` bursts, or would be overtaken by one of the same block: what a
/// DMA reads is what the update that triggered it has left.
class DramQueue {
 public:
  struct Taken {
    MemoryRequest request;
    bool turned = false;  ///< the bus changed its direction for it
  };
  explicit DramQueue(std::uint32_t max_bypass) : max_bypass_(max_bypass) {}

  [[nodiscard]] bool empty() const { return waiting_[0].empty() && waiting_[1].empty(); }
  [[nodiscard]] std::uint32_t occupancy() const { return occupancy_; }  ///< bursts
  void push(const MemoryRequest& request);
  /// Must not be empty.
  [[nodiscard]] Taken take();

 private:
  struct Entry {
    MemoryRequest request;
    std::uint64_t before = 0;  // bursts of the other direction that entered before it
  };
  [[nodiscard]] bool turns() const;
  [[nodiscard]] bool depends() const;

  std::uint32_t max_bypass_;
  std::uint32_t occupancy_ = 0;
  bool directed_ = false;  // the bus has a direction, which it keeps while idle
  std::size_t direction_ = 0;
  std::array<RingBuffer<Entry>, 2> waiting_;   // by direction: reads, writes and updates
  std::array<std::uint64_t, 2> entered_ = {};  // bursts so far, by direction
  std::array<std::uint64_t, 2> taken_ = {};
};

/// What a channel has done. Requests count when DRAM begins to serve them.
struct ChannelCounts {
  std::array<std::int64_t, traffic_class_count> bytes = {};
  std::array<std::int64_t, traffic_class_count> transactions = {};
  Time busy = 0;     ///< in service, without turning round
  Time stalled = 0;  ///< of that, waiting for a bank group after an update
  std::int64_t turnarounds = 0;
  std::array<std::int64_t, memory_stream_count> peak_waiting = {};  ///< bursts, by stream, outside the DRAM queue
};

/// Times that it is given never decrease. It serves when the bus is free, and
/// leaves the choice until then.
class MemoryChannel {
 public:
  /// `sink` outlives the channel. Throws InputError where a value makes no
  /// sense.
  MemoryChannel(const ChannelSpec& spec, ArbitrationPointer policy, ChannelSink& sink);

  /// `request.bytes` > 0.
  void push(Time now, const MemoryRequest& request);
  /// To be called when the sink was asked to; at other times it does no harm.
  void wake(Time now) { step(now); }

  // To the policy.
  void set_runs(const MatrixRuns& runs) { runs_ = runs; }
  void set_policy(Time now, ArbitrationPointer policy);
  void set_threshold(Time now, std::uint32_t bursts);
  void producer_began(Time now);
  void producer_ended(Time now);

  /// Starts to observe the occupancy of the DRAM queue.
  void begin_observation(Time now) { observed_from_ = observed_until(now); }
  /// What was observed since; it goes on.
  [[nodiscard]] OccupancySum end_observation(Time now);

  [[nodiscard]] std::uint32_t occupancy() const { return queue_.occupancy(); }  ///< bursts in the DRAM queue
  /// Requests in a stream, outside the DRAM queue.
  [[nodiscard]] std::size_t waiting(MemoryStream stream) const { return at(stream).requests.size(); }
  /// When the request in service, or the last one, ends.
  [[nodiscard]] Time free_at() const { return free_at_; }
  [[nodiscard]] const ChannelCounts& counts() const { return counts_; }

 private:
  struct Stream {
    RingBuffer<MemoryRequest> requests;
    Time waiting_since = 0;   // see StreamHead
    std::int64_t bursts = 0;  // of the requests
  };

  [[nodiscard]] const Stream& at(MemoryStream stream) const { return streams_[static_cast<std::size_t>(stream)]; }
  [[nodiscard]] Stream& at(MemoryStream stream) { return streams_[static_cast<std::size_t>(stream)]; }
  [[nodiscard]] ArbitrationView view(Time now) const;
  [[nodiscard]] bool fits(const MemoryRequest& request) const;
  void step(Time now);
  Time fill(Time now);
  void enter(Time now, MemoryStream stream);
  void serve(Time now);
  void count_waiting();
  void ask(Time now, Time look_again);
  OccupancySum observed_until(Time now);

  ChannelSpec spec_;
  Time turnaround_;  // ps
  Time row_time_;
  Time longest_service_;  // of one transaction, from its turn to its data, at most
  MatrixRuns runs_;
  ArbitrationPointer policy_;
  ChannelSink* sink_;
  std::array<Stream, memory_stream_count> streams_;
  DramQueue queue_;
  BankGroups groups_;
  Time free_at_ = 0;
  Time service_asked_ = 0;  // the latest time for which the next service was asked
  Time look_asked_ = 0;     // the same for looking again; may be in the past
  bool stepping_ = false;   // the sink pushes from within an announcement
  OccupancySum observed_;   // since time 0
  OccupancySum observed_from_;
  ChannelCounts counts_;
};

}  // namespace tessera::sim
