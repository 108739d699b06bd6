// A channel of HBM: two streams of requests, a bounded DRAM queue that an
// arbitration policy fills from them, and the banks that serve it, a
// transaction at a time in closed form.
#pragma once

#include <array>
#include <cstdint>

#include "sim/memory/dram_queue.hpp"
#include "sim/ring_buffer.hpp"
#include "tessera/base/time.hpp"
#include "tessera/sim/memory/arbitration.hpp"

namespace tessera::sim {

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

/// What a channel has done. Requests count when DRAM begins to serve them.
struct ChannelCounts {
  std::array<std::int64_t, traffic_class_count> bytes = {};
  std::array<std::int64_t, traffic_class_count> transactions = {};
  Time busy = 0;  ///< bursts on the bus
  std::int64_t activations = 0;
  std::int64_t row_hits = 0;  ///< requests that found their row open
  std::int64_t turnarounds = 0;
  std::array<std::int64_t, memory_stream_count> peak_waiting = {};  ///< bursts, by stream, outside the DRAM queue
};

/// All that changes in a channel.
struct ChannelState {
  struct Stream {
    RingBuffer<MemoryRequest> requests;
    Time waiting_since = 0;   ///< see StreamHead
    std::int64_t bursts = 0;  ///< of the requests
  };

  ArbitrationState arbitration;
  std::array<Stream, memory_stream_count> streams;
  DramQueue queue;
  Banks banks;
  Time bus_free = 0;
  Time service_asked = 0;      ///< the latest time for which the next service was asked
  Time look_asked = 0;         ///< the same for looking again; may be in the past
  bool stepping = false;       ///< the sink pushes from within an announcement
  OccupancySum observed = {};  ///< since time 0
  OccupancySum observed_from = {};
  ChannelCounts counts = {};
};

/// Times that it is given never decrease. It serves when the bus is free and a
/// row open, and leaves the choice until then.
class MemoryChannel {
 public:
  /// `sink` outlives the channel. Throws InputError where a value makes no
  /// sense.
  MemoryChannel(const ChannelSpec& spec, ArbitrationPointer policy, ChannelSink& sink);

  /// `request.bytes` > 0.
  void push(Time now, const MemoryRequest& request);
  /// To be called when the sink was asked to; at other times it does no harm.
  void wake(Time now) { step(now); }

  // For the policy.
  /// Another one: it has nothing of what the channel remembered for the one before.
  void set_policy(Time now, ArbitrationPointer policy);
  /// Bursts; until the next producer begins: this one's says nothing of it.
  void set_threshold(Time now, std::uint32_t bursts);
  void producer_began(Time now);
  void producer_ended(Time now);

  /// Starts to observe the occupancy of the DRAM queue.
  void begin_observation(Time now) { state_.observed_from = observed_until(now); }
  /// What was observed since; it goes on.
  [[nodiscard]] OccupancySum end_observation(Time now);

  [[nodiscard]] std::uint32_t occupancy() const { return state_.queue.occupancy(); }  ///< bursts in the DRAM queue
  /// Requests in a stream, outside the DRAM queue.
  [[nodiscard]] std::size_t waiting(MemoryStream stream) const { return at(stream).requests.size(); }
  /// Bursts of them.
  [[nodiscard]] std::int64_t waiting_bursts(MemoryStream stream) const { return at(stream).bursts; }
  [[nodiscard]] ChannelCounts counts() const;

  [[nodiscard]] const ChannelState& state() const { return state_; }
  /// Goes on from the state of another channel of the same spec, by a policy of the same name.
  void restore(ChannelState state, ArbitrationPointer policy);

 private:
  using Stream = ChannelState::Stream;

  [[nodiscard]] const Stream& at(MemoryStream stream) const { return state_.streams[static_cast<std::size_t>(stream)]; }
  [[nodiscard]] Stream& at(MemoryStream stream) { return state_.streams[static_cast<std::size_t>(stream)]; }
  [[nodiscard]] ArbitrationView view(Time now) const;
  [[nodiscard]] bool fits(const MemoryRequest& request) const;
  void step(Time now);
  Time fill(Time now);
  void enter(Time now, MemoryStream stream);
  void refuse_the_end_of_time(Time now) const;
  [[nodiscard]] bool serve(Time now);
  void count_waiting();
  void ask(Time now, Time look_again);
  OccupancySum observed_until(Time now);

  ChannelSpec spec_;
  Time longest_service_;  // of one transaction, from its turn to its data, at most
  ArbitrationPointer policy_;
  ChannelSink* sink_;
  ChannelState state_;
};

}  // namespace tessera::sim
