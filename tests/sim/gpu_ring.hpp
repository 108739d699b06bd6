// GPUs on a ring of ideal links, driven by a plain event queue: a kernel's
// surroundings without the rest of the simulator.
#pragma once

#include <algorithm>
#include <memory>
#include <queue>
#include <vector>

#include "tessera/sim/gpu/gpu.hpp"

namespace tessera::test {

class GpuRing {
 public:
  GpuRing(const machine::GpuSpec& spec, std::uint32_t size) : rate_(75'000'000'000) {
    for (std::uint32_t rank = 0; rank < size; ++rank) members_.push_back(std::make_unique<Member>(*this, rank, spec));
  }

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(members_.size()); }
  [[nodiscard]] sim::Gpu& gpu(std::uint32_t rank) { return members_[rank]->gpu; }
  [[nodiscard]] Time now() const { return now_; }

  /// Until nothing is left to do; when the last kernel ended, -1 when one has
  /// not.
  Time run() {
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      take(event);
    }
    Time last = 0;
    for (const auto& member : members_) {
      if (member->ended < 0) return -1;
      last = std::max(last, member->ended);
    }
    return last;
  }

  /// B that a GPU's memory has moved for a class of traffic.
  [[nodiscard]] std::int64_t traffic(std::uint32_t rank, sim::TrafficClass what) {
    std::int64_t bytes = 0;
    for (sim::MemoryChannel* channel : gpu(rank).memory().channels()) {
      bytes += channel->counts().bytes[static_cast<std::size_t>(what)];
    }
    return bytes;
  }

  static constexpr Time latency = 500 * nanosecond;

 private:
  struct Event {
    Time time = 0;
    std::uint64_t number = 0;
    std::uint32_t gpu = 0;
    enum class Kind { wake, block, left } kind = Kind::wake;
    sim::GpuWake wake;
    std::uint32_t kernel = 0;
    std::uint32_t block = 0;
    bool operator<(const Event& other) const { return time != other.time ? time > other.time : number > other.number; }
  };

  struct Member final : sim::GpuHost {
    Member(GpuRing& ring, std::uint32_t index, const machine::GpuSpec& spec)
        : owner(&ring), rank(index), gpu(spec, *this) {}
    void wake_gpu(Time at, const sim::GpuWake& wake) override { owner->add({at, 0, rank, Event::Kind::wake, wake}); }
    void send_block(std::uint32_t member, std::uint32_t block, std::uint32_t bytes) override {
      if (link_free < owner->now_) {
        busy_since = owner->now_;
        busy_bytes = 0;
      }
      busy_bytes += bytes;
      link_free = busy_since + owner->rate_.up(busy_bytes);
      owner->add({link_free + latency, 0, member, Event::Kind::block, {}, gpu.kernel(), block});
      owner->add({link_free, 0, rank, Event::Kind::left, {}, 0, block});
    }
    void kernel_ended() override { ended = owner->now_; }

    GpuRing* owner;
    std::uint32_t rank;
    Time link_free = -1;
    Time busy_since = 0;
    std::int64_t busy_bytes = 0;
    Time ended = -1;
    sim::Gpu gpu;
  };

  void add(Event event) {
    event.number = number_++;
    events_.push(event);
  }
  void take(const Event& event) {
    now_ = event.time;
    sim::Gpu& gpu = members_[event.gpu]->gpu;
    if (event.kind == Event::Kind::wake) gpu.wake(event.wake, now_);
    if (event.kind == Event::Kind::block) gpu.received(event.kernel, event.block, now_);
    if (event.kind == Event::Kind::left) gpu.left(event.block, now_);
  }

  sim::Rate rate_;
  std::vector<std::unique_ptr<Member>> members_;
  std::priority_queue<Event> events_;
  std::uint64_t number_ = 0;
  Time now_ = 0;
};

}  // namespace tessera::test
