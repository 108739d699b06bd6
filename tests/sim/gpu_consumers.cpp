// GEMMs whose input is gathered while they run (T3, section 7.2): times worked out by hand, traffic to the byte, what
// comes where.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "gpu_ring.hpp"
#include "gpu_shapes.hpp"

using namespace tessera;
using sim::TrafficClass;
using test::gemm;
using test::gpu;

namespace {

/// A GEMM whose rows of A are shared out evenly; what becomes of its result.
program::Kernel consumer(const program::GemmShape& shape, const char* input, const char* output = "local") {
  program::Kernel one = test::kernel(shape, output);
  std::get<program::GemmKernel>(one.work).input_map = static_cast<std::uint16_t>(program::address_map_index(input));
  return one;
}

}  // namespace

TEST_CASE("two GPUs, two work-groups: the second one waits for its row of A, and no longer") {
  // A tile row of A each, 8 KiB: one chunk of k. At 0 a DMA reads it, 8 blocks at 8 channels, 32 ns each, and its data
  // are there after 182 ns. The message takes 8,192 B / 75 GB/s = 109,227 ps and 500 ns to the other one, where the
  // stores take their places in idle DRAM queues at once: the row is complete at 791,227 ps, and its work-group, on a
  // CU of its own, loads it. Seven of the eight channels have begun to write by then, 32 ns, and turn round, 10 ns; 32
  // ns to read, 150 ns to the L2 and 150 ns to the CU: 1,165,227 ps. (B is in the L2.) A chunk is computed in 1,462,858
  // ps, 5 us pass, and the 64 blocks of the result come to the 64 banks of the L2, as for a work-group alone.
  test::GpuRing ring(test::without_rows(gpu()), 2);
  const program::GemmShape shape = gemm(256, 256, 32);
  ring.begin(consumer(shape, "ring-all-gather"));
  CHECK(ring.run() == 1'165'227 + 1'462'858 + 5 * microsecond + 11'429);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    CHECK(ring.traffic(rank, TrafficClass::all_gather_read) == 8'192);
    CHECK(ring.traffic(rank, TrafficClass::all_gather_write) == 8'192);
    CHECK(ring.traffic(rank, TrafficClass::gemm_read) == 2 * 8'192 + 16'384);
  }
}

TEST_CASE("a gathered input: traffic to the byte, every policy, any number of GPUs") {
  // A has N shards of S, one of them here: N-1 come and are written. DMAs read N-1: on the ring the own one and all
  // that come but the last; directly the own one for each of the others. The GEMM reads all of A and B, once each,
  // which the L2 holds; its result stays in the L2 until its end.
  for (const char* policy : {"round-robin", "compute-first", "mca"}) {
    for (const std::uint32_t size : {2U, 3U, 4U}) {
      for (const char* map : {"ring-all-gather", "direct-all-gather"}) {
        CAPTURE(policy, size, map);
        machine::GpuSpec spec = gpu();
        spec.arbitration = policy;
        test::GpuRing ring(spec, size);
        const program::GemmShape shape = gemm(size * 256, 500, 200);
        ring.begin(consumer(shape, map));
        REQUIRE(ring.run() > 0);
        const std::int64_t input = 2 * shape.m * shape.k;
        for (std::uint32_t rank = 0; rank < size; ++rank) {
          CHECK(ring.traffic(rank, TrafficClass::all_gather_write) == (size - 1) * input / size);
          CHECK(ring.traffic(rank, TrafficClass::all_gather_read) == (size - 1) * input / size);
          CHECK(ring.traffic(rank, TrafficClass::gemm_read) == input + 2 * shape.k * shape.n);
          CHECK(ring.traffic(rank, TrafficClass::gemm_write) == shape.output_bytes());
          CHECK(ring.gpu(rank).run().bytes_received() == (size - 1) * input / size);
        }
      }
    }
  }
}

TEST_CASE("every row of A comes to every GPU exactly once") {
  // GPU r has 10^r in its rows: they must be 10^s everywhere in the rows of shard s. The last row of tiles is a short
  // one, and DMA commands of three parts end within a row.
  const std::uint32_t ranks = 4;
  const program::GemmShape shape = gemm(1000, 300, 500);
  const auto outputs = static_cast<std::uint32_t>(shape.tiles());
  for (const char* map : {"ring-all-gather", "direct-all-gather"}) {
    for (const std::int64_t dma_tiles : {1, 3}) {
      CAPTURE(map, dma_tiles);
      test::GpuRing ring(gpu(), ranks);
      ring.own = {1, 10, 100, 1000};
      const auto shard_of = [&](std::uint32_t number) { return (number / 8 - outputs) / 2; };  // of two rows of tiles
      ring.has = [&](std::uint32_t rank, std::uint32_t number) { return shard_of(number) == rank; };
      program::Kernel kernel = consumer(shape, map);
      std::get<program::GemmKernel>(kernel.work).dma_tiles = dma_tiles;
      ring.begin(kernel);
      REQUIRE(ring.run() > 0);
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        for (std::uint32_t number = 8 * outputs; number < 8 * (outputs + 8); ++number)
          REQUIRE(ring.payload(rank, number) == ring.own[shard_of(number)]);
      }
    }
  }
}

TEST_CASE("work-groups overlap with the all-gather of their input") {
  // Two shards of ten rows of tiles of A and eight columns, on 80 CUs: the 80 work-groups of the own shard begin at
  // once, and when they end the other shard has come. So the kernels take little more than the longer of them.
  const program::GemmShape shape = gemm(20 * 128, 8 * 256, 1024);
  test::GpuRing fused(gpu(), 2);
  fused.begin(consumer(shape, "ring-all-gather"));
  const Time together = fused.run();
  test::GpuRing apart(gpu(), 2);
  apart.begin({program::CopyKernel{2 * shape.m * shape.k, program::CopyKind::all_gather}});
  const Time gather = apart.run();
  apart.begin(test::kernel(shape, "local"));
  const Time both = apart.run();
  CHECK(together < both - gather / 2);
  CHECK(together > std::max(gather, both - gather));
}

TEST_CASE("split-K and a gathered input: both parts of a tile wait for its row") {
  program::GemmShape shape = gemm(6 * 128, 256, 256);
  shape.split_k = 2;
  test::GpuRing ring(gpu(), 3);
  ring.begin(consumer(shape, "ring-all-gather"));
  REQUIRE(ring.run() > 0);
  CHECK(ring.traffic(0, TrafficClass::gemm_read) == 2 * (shape.m * shape.k + shape.k * shape.n));
}

TEST_CASE("a GEMM between an all-gather and a reduce-scatter") {
  // Tiles row by row: the chunk of the result that is stored to the neighbour first is that of the own rows. Each kind
  // of traffic is as it is alone, and every partial sum is added exactly once: 10^r by GPU r, 111 in the end.
  const std::uint32_t size = 3;
  program::GemmShape shape = gemm(size * 256, 512, 96);
  shape.order = program::TileOrder::row_major;
  test::GpuRing ring(gpu(), size);
  ring.own = {1, 10, 100};
  const program::Kernel both = consumer(shape, "ring-all-gather", "ring-reduce-scatter");
  ring.begin(both);
  REQUIRE(ring.run() > 0);
  const std::int64_t shard = 2 * shape.m * shape.k / size;
  const std::int64_t chunk = shape.output_bytes() / size;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    CHECK(ring.traffic(rank, TrafficClass::all_gather_write) == (size - 1) * shard);
    CHECK(ring.traffic(rank, TrafficClass::all_gather_read) == (size - 1) * shard);
    CHECK(ring.traffic(rank, TrafficClass::gemm_write) == (size - 1) * chunk);
    CHECK(ring.traffic(rank, TrafficClass::reduce_scatter_write) == (size - 1) * chunk);
    CHECK(ring.traffic(rank, TrafficClass::reduce_scatter_read) == (size - 2) * chunk);
  }
  const sim::GemmLayout layout(shape, 1024);
  CHECK(ring.check_sums(std::get<program::GemmKernel>(both.work), layout, 111) == shape.output_bytes());
}
