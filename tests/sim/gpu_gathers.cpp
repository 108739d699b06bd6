// All-gathers that are fused with the GEMM that makes their data (T3, section 7.1): traffic to the byte, what comes
// where, and times worked out by hand.
#include <catch2/catch.hpp>

#include <string>

#include "gpu_ring.hpp"
#include "gpu_shapes.hpp"
#include "sim/gpu/gemm_layout.hpp"

using namespace tessera;
using sim::TrafficClass;
using test::gemm;
using test::gpu;
using test::kernel;

TEST_CASE("a fused all-gather: traffic to the byte, every policy, any number of GPUs") {
  // Each of N GPUs makes a shard and ends with N. It writes its own once, and the N-1 that come. On the ring its DMAs
  // read N-1: its own, and all that come but the last, which has been everywhere. Directly they read none: the GEMM's
  // stores go to all others by themselves.
  for (const char* policy : {"round-robin", "compute-first", "mca"}) {
    for (const std::uint32_t size : {2U, 3U, 4U}) {
      for (const std::string map : {"ring-all-gather", "direct-all-gather"}) {
        CAPTURE(policy, size, map);
        machine::GpuSpec spec = gpu();
        spec.arbitration = policy;
        test::GpuRing ring(spec, size);
        const program::GemmShape shape = gemm(128 * 3, 256 * 2, 96);
        ring.begin(kernel(shape, map.c_str()));
        REQUIRE(ring.run() > 0);
        const std::int64_t shard = shape.output_bytes();
        for (std::uint32_t rank = 0; rank < size; ++rank) {
          CHECK(ring.traffic(rank, TrafficClass::gemm_write) == shard);
          CHECK(ring.traffic(rank, TrafficClass::all_gather_write) == (size - 1) * shard);
          CHECK(ring.traffic(rank, TrafficClass::all_gather_read) == (map[0] == 'r' ? (size - 1) * shard : 0));
          CHECK(ring.traffic(rank, TrafficClass::reduce_scatter_write) == 0);
          CHECK(ring.gpu(rank).run().bytes_received() == (size - 1) * shard);
        }
      }
    }
  }
}

TEST_CASE("every shard comes to every GPU exactly once") {
  // GPU r makes 10^r: shard s must be 10^s everywhere, neither missing nor twice, and not sent on before it was there.
  // DMA commands of one wavefront's tile and of three, which the eight wavefronts of a work-group do not divide into.
  const std::uint32_t ranks = 4;
  const program::GemmShape shape = gemm(500, 700, 96);  // partial tiles at both edges
  const sim::GemmLayout layout(shape, 1024);
  for (const char* map : {"ring-all-gather", "direct-all-gather"}) {
    for (const std::int64_t dma_tiles : {1, 3}) {
      CAPTURE(map, dma_tiles);
      test::GpuRing ring(gpu(), ranks);
      ring.own = {1, 10, 100, 1000};
      const auto shard = static_cast<std::uint32_t>(8 * shape.tiles());  // wavefront tiles
      ring.has = [&](std::uint32_t rank, std::uint32_t number) { return number / shard == rank; };
      program::Kernel fused = kernel(shape, map);
      std::get<program::GemmKernel>(fused.work).dma_tiles = dma_tiles;
      ring.begin(fused);
      REQUIRE(ring.run() > 0);
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        std::int64_t checked = 0;
        for (std::uint32_t number = 0; number < ranks * shard; ++number) {
          if (layout.wavefront_bytes(number / 8, number % 8) == 0) continue;
          REQUIRE(ring.payload(rank, number) == ring.own[number / shard]);
          checked += layout.wavefront_bytes(number / 8, number % 8);
        }
        CHECK(checked == ranks * shape.output_bytes());
      }
    }
  }
}

TEST_CASE("split-K: a shard is gathered when all of its partial sums are here") {
  // On the ring they are added where they are made: two writes here, then whole tiles go round. Directly each partial
  // sum goes to all others, which add them.
  const program::GemmShape two = [] {
    program::GemmShape shape = gemm(128 * 3, 256 * 2, 256);
    shape.split_k = 2;
    return shape;
  }();
  const std::int64_t shard = two.output_bytes();
  test::GpuRing ring(gpu(), 3);
  ring.begin(kernel(two, "ring-all-gather"));
  REQUIRE(ring.run() > 0);
  CHECK(ring.traffic(0, TrafficClass::gemm_write) == 2 * shard);
  CHECK(ring.traffic(0, TrafficClass::all_gather_read) == 2 * shard);
  CHECK(ring.traffic(0, TrafficClass::all_gather_write) == 2 * shard);
  test::GpuRing direct(gpu(), 3);
  direct.begin(kernel(two, "direct-all-gather"));
  REQUIRE(direct.run() > 0);
  CHECK(direct.traffic(0, TrafficClass::all_gather_read) == 0);
  CHECK(direct.traffic(0, TrafficClass::reduce_scatter_write) == 2 * 2 * shard);
}

TEST_CASE("two GPUs, four work-groups: a fused all-gather event by event") {
  // One tile row of four tiles, one chunk of k each, all at once on four CUs. The first work-group has its 24 blocks
  // after 364 ns, some of B behind some of A in their channels, has computed after 1,462,858 ps more, and stores 5 us
  // later. From then on the link is busy: 32 wavefront tiles of 8 KiB leave over 75 GB/s one after the other, the last
  // one after 32 x 8,192 B / 75 GB/s = 3,495,254 ps, and arrive 500 ns later, where a store that is alone takes its
  // place in the DRAM queue at once.
  test::GpuRing stores(test::without_rows(gpu()), 2);
  stores.begin(kernel(gemm(128, 1024, 32), "direct-all-gather"));
  const Time stored = 364 * nanosecond + 1'462'858 + 5 * microsecond;
  CHECK(stores.run() == stored + 3'495'254 + 500 * nanosecond);
  // On the ring the same messages leave, but the first one has to be in memory and read again: at least the latency of
  // 150 ns and the 32 bursts of a block; 8 blocks of 32 channels each, so less than 32 x 32 ns and a turn more.
  test::GpuRing dmas(test::without_rows(gpu()), 2);
  dmas.begin(kernel(gemm(128, 1024, 32), "ring-all-gather"));
  const Time sent = dmas.run() - 3'495'254 - 500 * nanosecond;
  CHECK(sent > stored + 150 * nanosecond + 32 * nanosecond);
  CHECK(sent < stored + 150 * nanosecond + 1100 * nanosecond);
}
