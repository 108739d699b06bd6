// GPUs on a ring of ideal links, driven by a plain event queue: a kernel's
// surroundings without the rest of the simulator.
#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <vector>

#include "sim/gpu/gemm_layout.hpp"
#include "sim/gpu/gpu.hpp"

namespace tessera::test {

class GpuRing {
 public:
  GpuRing(const machine::GpuSpec& spec, std::uint32_t size) : rate_(75'000'000'000) {
    for (std::uint32_t rank = 0; rank < size; ++rank) members_.push_back(std::make_unique<Member>(*this, rank, spec));
  }

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(members_.size()); }
  [[nodiscard]] sim::Gpu& gpu(std::uint32_t rank) { return members_[rank]->gpu; }
  /// Starts a kernel on all GPUs, now.
  void begin(const program::Kernel& kernel) {
    kernels_.push_back(std::make_unique<program::Kernel>(kernel));
    for (const auto& member : members_) {
      member->ended = -1;
      member->gpu.begin(now_,
                        {kernels_.back().get(), member->rank, size(), static_cast<std::uint32_t>(kernels_.size())});
    }
  }
  [[nodiscard]] Time now() const { return now_; }

  /// What each GPU adds to a wavefront's tile, for payload(): so many, by rank.
  std::vector<std::int64_t> own;
  /// Which GPU has something of its own for a wavefront's tile; empty: all have.
  std::function<bool(std::uint32_t rank, std::uint32_t wavefront)> has;
  /// The values of a fused kernel's wavefront tiles on one GPU: its own, and what came for it. A DMA sends their sum as
  /// it is when it is carried out, so that one that comes early, twice or never leaves a wrong sum.
  [[nodiscard]] std::int64_t payload(std::uint32_t rank, std::uint32_t wavefront) const {
    const auto& came = members_[rank]->came;
    const auto found = came.find(wavefront);
    return (!has || has(rank, wavefront) ? own[rank] : 0) + (found == came.end() ? 0 : found->second);
  }

  /// Checks that whoever keeps a tile has `sum` in each of its wavefronts' parts; B of all of them together.
  [[nodiscard]] std::int64_t check_sums(const program::GemmKernel& gemm, const sim::GemmLayout& layout,
                                        std::int64_t sum) const {
    std::int64_t checked = 0;
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
      for (const program::Region& region : gemm.address_map(rank, size()).regions) {
        if (region.kind != program::RegionKind::local) continue;
        for (std::uint32_t number = 8 * region.first_tile; number < 8 * (region.first_tile + region.tiles); ++number) {
          if (layout.wavefront_bytes(number / 8, number % 8) == 0) continue;
          REQUIRE(payload(rank, number) == sum);
          checked += layout.wavefront_bytes(number / 8, number % 8);
        }
      }
    }
    return checked;
  }

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
    enum class Kind { wake, block } kind = Kind::wake;
    sim::GpuWake wake;
    std::uint32_t kernel = 0;
    std::uint32_t block = 0;
    std::int64_t value = 0;
    bool operator<(const Event& other) const { return time != other.time ? time > other.time : number > other.number; }
  };

  struct Member final : sim::GpuHost {
    Member(GpuRing& ring, std::uint32_t index, const machine::GpuSpec& spec)
        : owner(&ring), rank(index), gpu(spec, *this) {}
    void wake_gpu(Time at, const sim::GpuWake& wake) override { owner->add({at, 0, rank, Event::Kind::wake, wake}); }
    void send_block(std::uint32_t member, const sim::KernelBlock& block) override {
      if (link_free < owner->now_) {
        busy_since = owner->now_;
        busy_bytes = 0;
      }
      busy_bytes += block.bytes;
      link_free = busy_since + owner->rate_.up(busy_bytes);
      const auto id = static_cast<std::uint32_t>(owner->kernels_.size());
      const std::int64_t value = owner->own.empty() ? 0 : owner->payload(rank, block.first);
      const Event coming{link_free + latency, 0, member, Event::Kind::block, {}, id, block.first, value};
      block.combined ? owner->combine(coming) : owner->add(coming);
      if (block.awaited) owner->add({link_free, 0, rank, Event::Kind::wake, {sim::GpuWake::What::left, block.first}});
    }
    void kernel_ended() override {
      ended = owner->now_;
      gpu.release(ended);
    }

    GpuRing* owner;
    std::uint32_t rank;
    Time link_free = -1;
    Time busy_since = 0;
    std::int64_t busy_bytes = 0;
    Time ended = -1;
    std::map<std::uint32_t, std::int64_t> came;  // by wavefront
    sim::Gpu gpu;
  };

  void add(Event event) {
    event.number = number_++;
    events_.push(event);
  }
  /// What a switch in front of a GPU adds: the sum is there with the last of the others' parts.
  void combine(const Event& event) {
    Sum& sum = sums_[{event.gpu, event.block}];
    Event& all = sum.event;
    const std::int64_t value = sum.parts++ == 0 ? 0 : all.value;
    const Time last = sum.parts == 1 ? event.time : std::max(all.time, event.time);
    all = event;
    all.value = value + event.value;
    all.time = last;
    if (sum.parts + 1 < size()) return;
    add(all);
    sum.parts = 0;
  }
  void take(const Event& event) {
    now_ = event.time;
    sim::Gpu& gpu = members_[event.gpu]->gpu;
    if (event.kind == Event::Kind::wake) gpu.wake(event.wake, now_);
    if (event.kind == Event::Kind::block) members_[event.gpu]->came[event.block] += event.value;
    if (event.kind == Event::Kind::block) gpu.received(event.kernel, event.block, now_);
  }

  struct Sum {
    std::uint32_t parts = 0;
    Event event;
  };
  sim::Rate rate_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Sum> sums_;  // by GPU and block
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<std::unique_ptr<program::Kernel>> kernels_;
  std::priority_queue<Event> events_;
  std::uint64_t number_ = 0;
  Time now_ = 0;
};

}  // namespace tessera::test
