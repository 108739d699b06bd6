// Kernels at the edges of what can be asked for: more GPUs than bytes, Trackers that are too small for what comes, a
// GPU that is slower than the others.
#include <catch2/catch.hpp>

#include "gpu_parts.hpp"
#include "gpu_ring.hpp"
#include "gpu_shapes.hpp"
#include "sim/gpu/gemm_layout.hpp"

using namespace tessera;
using test::gemm;
using test::gpu;
using test::kernel;

TEST_CASE("kernels that copy end though some chunks are empty") {
  using program::CopyKind;
  for (const CopyKind kind :
       {CopyKind::reduce_scatter, CopyKind::all_gather, CopyKind::all_to_all, CopyKind::send, CopyKind::add}) {
    for (const bool near_memory : {false, true}) {
      for (const std::int64_t bytes : {2, 6, 30}) {
        CAPTURE(name_of(kind), near_memory, bytes);
        test::GpuRing ring(gpu(), 4);
        ring.begin({program::CopyKernel{bytes, kind, near_memory}});
        CHECK(ring.run() > 0);
      }
    }
  }
}

TEST_CASE("a GEMM of one element, fetched by pieces") {
  machine::GpuSpec spec = gpu();
  spec.l2_line = 32;
  spec.l2_misses = 1;
  test::GpuRing one(spec, 1);
  one.begin(kernel(gemm(1, 1, 1), "local"));
  CHECK(one.run() > 0);
  CHECK(one.traffic(0, sim::TrafficClass::gemm_read) == 4);
}

TEST_CASE("few miss registers never stop what they wait for") {
  // A bank's blocks are fetched in four pieces each, from four channels, and it has one register.
  machine::GpuSpec spec = gpu();
  spec.l2_line = 64;
  spec.l2_misses = 1;
  spec.l2_queue = 1;
  test::GpuRing ring(spec, 2);
  ring.begin(kernel(gemm(1000, 1000, 200), "ring-reduce-scatter"));
  REQUIRE(ring.run() > 0);
  CHECK(ring.traffic(0, sim::TrafficClass::gemm_read) == 2 * 2 * 1000 * 200);
}

TEST_CASE("a full Tracker never stops what it waits for") {
  // 16 x 8 tiles of 8 WFs on 4 CUs, a Tracker of 4 sets: rows of the input, which work-groups wait for, and partial
  // sums of the neighbour, which come long before the own ones, are too many for it. All are counted, each once.
  machine::GpuSpec spec = gpu();
  spec.cus = 4;
  spec.tracker_sets = 4;
  spec.tracker_size = 304;
  const std::uint32_t size = 4;
  const program::GemmShape shape = gemm(16 * 128, 8 * 256, 64);
  test::GpuRing ring(spec, size);
  ring.own = {1, 10, 100, 1000};
  program::Kernel both = kernel(shape, "ring-reduce-scatter");
  auto& work = std::get<program::GemmKernel>(both.work);
  work.input_map = static_cast<std::uint16_t>(program::address_map_index("ring-all-gather"));
  ring.begin(both);
  REQUIRE(ring.run() > 0);
  const sim::GemmLayout layout(shape, spec.granularity);
  CHECK(ring.check_sums(work, layout, 1111) == shape.output_bytes());
}

namespace {

/// B that have entered a DRAM queue from others, and how many had when the kernel ended.
class LateStores final : public test::GpuWatcher {
 public:
  explicit LateStores(std::uint32_t ranks) : at_end(ranks, -1), stored_(ranks, 0) {}
  void stored(std::uint32_t rank, const sim::MemoryRequest& request, Time) override {
    if (request.stream == sim::MemoryStream::communication) stored_[rank] += request.bytes;
  }
  void ended(std::uint32_t rank, Time) override { at_end[rank] = stored_[rank]; }
  std::vector<std::int64_t> at_end;

 private:
  std::vector<std::int64_t> stored_;
};

}  // namespace

TEST_CASE("a fused GEMM ends when what the others send is at its memory controller") {
  for (const char* map : {"all-to-all", "send", "direct-all-gather"}) {
    CAPTURE(map);
    const program::GemmShape shape = gemm(512, 512, 64);
    LateStores stores(4);
    machine::GpuSpec spec = gpu();  // with a memory that falls behind
    spec.channels = 2;
    spec.memory_clock /= 16;
    test::GpuParts parts(spec, kernel(shape, map), 4, stores);
    REQUIRE(parts.run());
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      CHECK(parts.kernel(rank).bytes_received() > 0);
      CHECK(stores.at_end[rank] == parts.kernel(rank).bytes_received());
    }
  }
}

TEST_CASE("all-to-all waits for every part of a sum") {
  // Of 2 x 4 tiles, cut twice along k, each of four GPUs stores 3/4 to others: two partial sums of each.
  program::GemmShape shape = gemm(256, 1024, 256);
  shape.split_k = 2;
  test::GpuRing ring(gpu(), 4);
  ring.begin(kernel(shape, "all-to-all"));
  REQUIRE(ring.run() > 0);
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    CHECK(ring.traffic(rank, sim::TrafficClass::other) == 2 * shape.output_bytes() * 3 / 4);
}

TEST_CASE("a GPU at half speed computes, stores and reads half as fast") {
  // As one work-group of 128 x 256 x 64 takes at full speed (gpu_kernels.cpp), with twice the time for what CUs, L2 and
  // DRAM do, and the same latencies: two blocks of 32 bursts 128 ns, then 300 ns; two chunks of 2 x 1,462,857.14 ps;
  // twice the fixed time; a block at each bank of the L2, 22,858 ps.
  machine::GpuSpec spec = test::without_rows(gpu());
  spec.speed = 0.5;
  test::GpuRing one(spec, 1);
  one.begin(kernel(gemm(128, 256, 64), "local"));
  CHECK(one.run() == 428 * nanosecond + 2 * 2'925'715 + 10 * microsecond + 22'858);
}
