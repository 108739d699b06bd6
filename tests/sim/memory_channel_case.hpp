// A memory channel under test: requests are pushed at given times, what it
// announces is written down.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "open_rows.hpp"
#include "sim/memory/channel.hpp"

namespace tessera::sim {

struct Stamp {
  BlockId block = 0;
  Time time = 0;
  bool operator==(const Stamp&) const = default;
};

/// A channel whose rows open at once: 1 ns a burst, and 10 ns between reading and writing.
inline ChannelSpec bus_alone() {
  ChannelSpec spec;
  open_rows_at_once(spec);
  return spec;
}

/// Calls back at the times that it was asked to: before a push at the same
/// time.
class ChannelCase final : public ChannelSink {
 public:
  explicit ChannelCase(const ChannelSpec& spec = {}, const ArbitrationSpec& arbitration = {})
      : ChannelCase(spec, make_arbitration(arbitration)) {}
  ChannelCase(const ChannelSpec& spec, ArbitrationPointer policy) : channel_(spec, std::move(policy), *this) {}

  void push(Time now, const MemoryRequest& request) {
    run_until(now);
    channel_.push(now, request);
  }
  void run_until(Time time) {
    while (!wakes_.empty() && wakes_.top() <= time) {
      const Time now = wakes_.top();
      wakes_.pop();
      channel_.wake(now);
    }
  }
  void run() { run_until(never); }
  [[nodiscard]] MemoryChannel& channel() { return channel_; }

  void enqueued(const MemoryRequest& request, Time now) override {
    entered.push_back({request.block, now});
    if (on_enqueued) on_enqueued(request, now);
  }
  void done(const MemoryRequest& request, Time at) override { served.push_back({request.block, at}); }
  void wake(Time at) override {
    wakes_.push(at);
    asked.push_back(at);
  }

  std::vector<Stamp> entered;
  std::vector<Stamp> served;
  std::vector<Time> asked;
  std::function<void(const MemoryRequest&, Time)> on_enqueued;

 private:
  std::priority_queue<Time, std::vector<Time>, std::greater<>> wakes_;
  MemoryChannel channel_;
};

inline MemoryRequest request(MemoryOp op, BlockId block, std::uint32_t bytes,
                             MemoryStream stream = MemoryStream::compute) {
  MemoryRequest made;
  made.block = block;
  made.place = static_cast<std::uint32_t>(block);
  made.bytes = bytes;
  made.op = op;
  made.stream = stream;
  return made;
}

}  // namespace tessera::sim
