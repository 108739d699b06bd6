// What adds updates (T3, section 7.4): times worked out by hand, traffic to the byte.
#include <catch2/catch.hpp>

#include <vector>

#include "gpu_ring.hpp"
#include "gpu_shapes.hpp"
#include "sim/gpu/gemm_layout.hpp"

using namespace tessera;
using sim::TrafficClass;
using test::gemm;
using test::gpu;
using test::kernel;

namespace {

program::Kernel with_atomics(const program::GemmShape& shape, const char* map) {
  program::Kernel one = kernel(shape, map);
  std::get<program::GemmKernel>(one.work).reduction = program::Reduction::atomics;
  return one;
}

/// A memory and what updates it, with one channel, without the GPU around it.
class Bench final : sim::MemoryClient, sim::GpuHost {
 public:
  Bench() : memory_(spec(), *this), updater_(memory_, *this) { updater_.begin(program::Reduction::atomics); }

  void update(sim::BlockId block, std::uint32_t name) {
    updater_.store(now_,
                   {block, 1024, sim::MemoryOp::update, sim::MemoryStream::compute, TrafficClass::gemm_write, name, 0});
  }
  /// Goes on until nothing is left to do.
  void run() {
    while (!events_.empty()) {
      const auto first = events_.begin();
      now_ = first->first;
      const sim::GpuWake wake = first->second;
      events_.erase(first);
      wake.what == sim::GpuWake::What::channel ? memory_.wake(now_, wake.index) : updater_.read(wake.index, now_);
    }
  }
  [[nodiscard]] std::int64_t moved(TrafficClass what) {
    return memory_.channels()[0]->counts().bytes[static_cast<std::size_t>(what)];
  }
  struct Stored {
    std::uint32_t name = 0;
    Time at = 0;
    bool operator==(const Stored&) const = default;
  };
  std::vector<Stored> log;  // updates in their DRAM queue

 private:
  static sim::MemorySystemSpec spec() {
    sim::MemorySystemSpec one = sim::memory_spec(test::without_rows(gpu()));
    one.channels = 1;
    return one;
  }
  void arrived(std::uint32_t owner, Time at) override { updater_.arrived(owner, at); }
  void stored(const sim::MemoryRequest& request, Time now) override {
    updater_.stored(request, now);
    log.push_back({request.owner, now});
  }
  void room_made(std::uint32_t, Time) override {}
  void served(const sim::MemoryRequest&, Time) override {}
  void wake_channel(std::uint32_t channel, Time at) override {
    events_.emplace(at, sim::GpuWake{sim::GpuWake::What::channel, channel});
  }
  void wake_gpu(Time at, const sim::GpuWake& wake) override { events_.emplace(at, wake); }
  void send_block(std::uint32_t, const sim::KernelBlock&) override {}
  void kernel_ended() override {}

  Time now_ = 0;
  std::multimap<Time, sim::GpuWake> events_;
  sim::MemorySystem memory_;
  sim::Updater updater_;
};

}  // namespace

TEST_CASE("an atomic update reads its block, then writes it; the next one of the block waits") {
  // 1 KiB is 32 bursts of 1 ns; the data are there 150 ns later, added, and enter the DRAM queue at once: 182 ns.
  Bench one;
  one.update(0, 1);
  one.run();
  CHECK(one.log == std::vector<Bench::Stored>{{1, 182 * nanosecond}});
  CHECK(one.moved(TrafficClass::gemm_read) == 1024);
  CHECK(one.moved(TrafficClass::gemm_write) == 1024);
  // One of another block reads behind the first: 32 ns later.
  Bench others;
  others.update(0, 1);
  others.update(1, 2);
  others.run();
  CHECK(others.log == std::vector<Bench::Stored>{{1, 182 * nanosecond}, {2, 214 * nanosecond}});
  // One of the same block begins when the first one's write is in the queue, and lets that pass: 32 ns to write, 10 ns
  // to turn round, 32 ns to read, and 150 ns.
  Bench same;
  same.update(0, 1);
  same.update(0, 2);
  same.run();
  CHECK(same.log == std::vector<Bench::Stored>{{1, 182 * nanosecond}, {2, 406 * nanosecond}});
  CHECK(same.moved(TrafficClass::gemm_read) == 2 * 1024);
}

TEST_CASE("a fused reduce-scatter with atomics: each update is a read more") {
  // N-1 chunks are updated by the GEMM and N-1 by the neighbour, as with near-memory additions, and N-2 read by DMA;
  // but both kinds of updates read what they add to.
  for (const std::uint32_t size : {2U, 3U, 4U}) {
    CAPTURE(size);
    const program::GemmShape shape = gemm(128 * 12, 256 * 4, 96);
    test::GpuRing ring(gpu(), size);
    ring.begin(with_atomics(shape, "ring-reduce-scatter"));
    REQUIRE(ring.run() > 0);
    const std::int64_t chunk = shape.output_bytes() / size;
    const std::int64_t operands = 2 * (shape.m * shape.k + shape.k * shape.n);
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      CHECK(ring.traffic(rank, TrafficClass::gemm_read) == operands + (size - 1) * chunk);
      CHECK(ring.traffic(rank, TrafficClass::gemm_write) == (size - 1) * chunk);
      CHECK(ring.traffic(rank, TrafficClass::reduce_scatter_read) == (size - 2 + size - 1) * chunk);
      CHECK(ring.traffic(rank, TrafficClass::reduce_scatter_write) == (size - 1) * chunk);
    }
  }
}

TEST_CASE("every partial sum is added exactly once by atomics") {
  // GPU r adds 10^r: 1111 at the owner of each tile.
  const program::GemmShape shape = gemm(1500, 1100, 96);
  const sim::GemmLayout layout(shape, gpu().granularity);
  for (const char* map : {"ring-reduce-scatter", "direct-reduce-scatter"}) {
    test::GpuRing ring(gpu(), 4);
    ring.own = {1, 10, 100, 1000};
    const program::Kernel fused = with_atomics(shape, map);
    ring.begin(fused);
    REQUIRE(ring.run() > 0);
    CHECK(ring.check_sums(std::get<program::GemmKernel>(fused.work), layout, 1111) == shape.output_bytes());
  }
}

TEST_CASE("a reduce-scatter whose sums are made in a switch: what the others store comes once") {
  // Each GPU keeps a chunk of S/N, to which it adds its own part and the sum of the others': two writes, whatever N;
  // with near-memory additions alone there are N. Nothing is read.
  for (const std::uint32_t size : {2U, 3U, 4U}) {
    for (const std::int64_t split : {1, 2}) {
      CAPTURE(size, split);
      program::GemmShape shape = gemm(128 * 12, 256 * 2, 96);
      shape.split_k = split;
      program::Kernel kernel = test::kernel(shape, "direct-reduce-scatter");
      std::get<program::GemmKernel>(kernel.work).reduction = program::Reduction::in_switch;
      test::GpuRing ring(gpu(), size);
      ring.own = {1, 10, 100, 1000};
      ring.begin(kernel);
      REQUIRE(ring.run() > 0);
      const std::int64_t chunk = shape.output_bytes() / size;
      for (std::uint32_t rank = 0; rank < size; ++rank) {
        CHECK(ring.traffic(rank, TrafficClass::gemm_write) == split * chunk);
        CHECK(ring.traffic(rank, TrafficClass::reduce_scatter_write) == split * chunk);
        CHECK(ring.traffic(rank, TrafficClass::reduce_scatter_read) == 0);
        CHECK(ring.gpu(rank).run().bytes_received() == split * chunk);
      }
      if (split > 1) continue;  // the ring's values are those of whole tiles
      const std::int64_t sums[] = {0, 0, 11, 111, 1111};
      const sim::GemmLayout layout(shape, gpu().granularity);
      CHECK(ring.check_sums(std::get<program::GemmKernel>(kernel.work), layout, sums[size]) == shape.output_bytes());
    }
  }
}

TEST_CASE("an all-gather has nothing to add") {
  // Nothing is updated, so that it does not matter what would add.
  for (const char* map : {"ring-all-gather", "direct-all-gather", "all-to-all"}) {
    const program::GemmShape shape = gemm(128 * 4, 256 * 2, 96);
    test::GpuRing with(gpu(), 3);
    with.begin(with_atomics(shape, map));
    test::GpuRing without(gpu(), 3);
    without.begin(kernel(shape, map));
    CHECK(with.run() == without.run());
    CHECK(with.traffic(0, TrafficClass::gemm_read) == without.traffic(0, TrafficClass::gemm_read));
  }
}
