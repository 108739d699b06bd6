// Kernels on GPUs at transaction level: times worked out by hand, and traffic
// to the byte.
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

/// A GEMM whose stores go where each member's map says.
Time fused(test::GpuRing& ring, const program::GemmShape& shape) {
  ring.begin(kernel(shape, "ring-reduce-scatter"));
  return ring.run();
}

Time pass(test::GpuRing& ring, const program::CopyKernel& pass, std::int64_t cus) {
  ring.begin({pass, 0, cus});
  return ring.run();
}

}  // namespace

TEST_CASE("one work-group: load, two chunks of k, its fixed time") {
  // Chunk 0 is 8 blocks of A and 16 of B of 1 KiB, which begin in different channels but for three, where one of B is
  // behind one of A: 2 x 32 bursts of 1 ns, then 150 ns to the L2 and 150 ns to the CU: 364 ns.
  // A chunk is 128 x 256 x 32 FMA at 512 x 1.4 GHz: 1,462,857.14 ps, the second
  // one is loaded meanwhile. Then 5 us. The 64 blocks of the result come to the 64 banks of the L2, which take 16
  // clocks at 1.4 GHz: 11,429 ps.
  test::GpuRing one(test::without_rows(gpu()), 1);
  one.begin(kernel(gemm(128, 256, 64), "local"));
  CHECK(one.run() == 364 * nanosecond + 2 * 1'462'858 + 5 * microsecond + 11'429);
  // Each operand was read once.
  CHECK(one.traffic(0, TrafficClass::gemm_read) == 2 * (128 * 64 + 64 * 256));
}

TEST_CASE("work-groups that share a row or a column share its loads through the L2") {
  // 2 x 2 tiles on 80 CUs: A and B are read from memory once, the result stays
  // in the L2.
  test::GpuRing one(gpu(), 1);
  const program::GemmShape shape = gemm(256, 512, 128);
  one.begin(kernel(shape, "local"));
  REQUIRE(one.run() > 0);
  CHECK(one.traffic(0, TrafficClass::gemm_read) == 2 * (256 * 128 + 128 * 512));
  // Its end writes the result back.
  CHECK(one.traffic(0, TrafficClass::gemm_write) == shape.output_bytes());
}

TEST_CASE(
    "a reduce-scatter on its own takes (N-1)(latency + S/N/bandwidth), "
    "then the last reduction") {
  // The last reduction reads two chunks at 1,024 GB/s, if rows open at once; its
  // results stay in the L2.
  for (const std::int64_t bytes : {std::int64_t{6} << 20, std::int64_t{24} << 20}) {
    test::GpuRing ring(test::without_rows(gpu()), 4);
    const Time time = pass(ring, {bytes, program::CopyKind::reduce_scatter}, 80);
    const double chunk = static_cast<double>(bytes) / 4;
    const double expected = 3 * (5e5 + chunk / 75e9 * 1e12) + 2 * chunk / 1024e9 * 1e12;
    CHECK(static_cast<double>(time) == Approx(expected).epsilon(0.015));
    // It reads one copy in the first step, two in two more, and two at the end; three chunks come, one is the result.
    CHECK(ring.traffic(0, TrafficClass::reduce_scatter_read) == 7 * bytes / 4);
    CHECK(ring.traffic(0, TrafficClass::reduce_scatter_write) == bytes);
  }
}

TEST_CASE("near-memory reduction reads one copy a step and has no last one") {
  test::GpuRing ring(gpu(), 4);
  const std::int64_t bytes = std::int64_t{24} << 20;
  const Time time = pass(ring, {bytes, program::CopyKind::reduce_scatter, true}, 80);
  CHECK(static_cast<double>(time) == Approx(3 * (5e5 + 6.0 * 1048576 / 75e9 * 1e12)).epsilon(0.01));
  CHECK(ring.traffic(0, TrafficClass::reduce_scatter_read) == 3 * bytes / 4);
}

TEST_CASE("a send and an all-to-all: what leaves over the link, and its latency") {
  // 12 MiB to the next member; of three chunks of 4 MiB, two leave. Each byte is read once and written once.
  const std::int64_t bytes = std::int64_t{12} << 20;
  test::GpuRing sends(gpu(), 3);
  const Time sent = pass(sends, {bytes, program::CopyKind::send}, 80);
  CHECK(static_cast<double>(sent) == Approx(5e5 + 12.0 * 1048576 / 75e9 * 1e12).epsilon(0.01));
  CHECK(sends.traffic(1, TrafficClass::other) == 2 * bytes);
  test::GpuRing exchanges(gpu(), 3);
  const Time exchanged = pass(exchanges, {bytes, program::CopyKind::all_to_all}, 80);
  CHECK(static_cast<double>(exchanged) == Approx(5e5 + 8.0 * 1048576 / 75e9 * 1e12).epsilon(0.01));
  CHECK(exchanges.traffic(1, TrafficClass::other) == 4 * bytes / 3);
}

TEST_CASE("an addition near memory moves two thirds of a share of the bytes that CUs do") {
  // CUs read two arrays of 12 MiB and write one; near memory one chunk is read and added: 8 of 36 MiB.
  const std::int64_t bytes = std::int64_t{12} << 20;
  test::GpuRing by_cus(gpu(), 3);
  const Time slow = pass(by_cus, {bytes, program::CopyKind::add}, 80);
  CHECK(by_cus.traffic(1, TrafficClass::other) == 3 * bytes);
  test::GpuRing near_memory(gpu(), 3);
  const Time fast = pass(near_memory, {bytes, program::CopyKind::add, true}, 80);
  CHECK(near_memory.traffic(1, TrafficClass::other) == 2 * bytes / 3);
  // An update takes twice as long as a read where the next one is in its bank group; here at most that.
  CHECK(4 * fast < slow * 2);
}

TEST_CASE("an all-gather passes each chunk on") {
  test::GpuRing ring(gpu(), 3);
  const std::int64_t bytes = std::int64_t{12} << 20;
  const Time time = pass(ring, {bytes, program::CopyKind::all_gather}, 80);
  CHECK(static_cast<double>(time) == Approx(2 * (5e5 + 4.0 * 1048576 / 75e9 * 1e12)).epsilon(0.01));
  CHECK(ring.traffic(2, TrafficClass::all_gather_read) == 2 * bytes / 3);
  CHECK(ring.traffic(2, TrafficClass::all_gather_write) == 2 * bytes / 3);
}

TEST_CASE("few CUs cannot keep a link busy") {
  // A CU has 4 KiB under way: with 300 ns to memory and back, and the wait for
  // departure, two CUs are slower than 80.
  test::GpuRing all(gpu(), 4);
  test::GpuRing two(gpu(), 4);
  const program::CopyKernel reduce{std::int64_t{6} << 20, program::CopyKind::reduce_scatter};
  const Time quick = pass(all, reduce, 80);
  CHECK(5 * pass(two, reduce, 2) > 6 * quick);
}

TEST_CASE(
    "a fused GEMM and reduce-scatter: traffic to the byte, every policy, "
    "any number of GPUs") {
  // T3, section 6.2: of N chunks the first is stored to the neighbour, so N-1
  // are updated here by the GEMM and N-1 by the neighbour; N-2 are read by DMA.
  // Odd sizes leave partial tiles at both edges.
  for (const char* policy : {"round-robin", "compute-first", "mca"}) {
    for (const std::uint32_t size : {2U, 3U, 4U}) {
      machine::GpuSpec spec = gpu();
      spec.arbitration = policy;
      test::GpuRing ring(spec, size);
      program::GemmShape shape = gemm(128 * 12, 256 * 4, 96);
      CAPTURE(policy, size);
      REQUIRE(fused(ring, shape) > 0);
      const std::int64_t chunk = shape.output_bytes() / size;
      for (std::uint32_t rank = 0; rank < size; ++rank) {
        CHECK(ring.traffic(rank, TrafficClass::gemm_write) == (size - 1) * chunk);
        CHECK(ring.traffic(rank, TrafficClass::reduce_scatter_write) == (size - 1) * chunk);
        CHECK(ring.traffic(rank, TrafficClass::reduce_scatter_read) == (size - 2) * chunk);
      }
      test::GpuRing odd(spec, size);
      CHECK(fused(odd, gemm(1000, 1000, 100)) > 0);
    }
  }
}

TEST_CASE("split-K: a tile is sent when all of its partial sums are here") {
  test::GpuRing ring(gpu(), 3);
  program::GemmShape shape = gemm(128 * 6, 256 * 2, 256);
  shape.split_k = 2;
  REQUIRE(fused(ring, shape) > 0);
  const std::int64_t chunk = shape.output_bytes() / 3;
  CHECK(ring.traffic(0, TrafficClass::gemm_write) == 2 * 2 * chunk);
  CHECK(ring.traffic(0, TrafficClass::reduce_scatter_read) == chunk);
  CHECK(ring.traffic(0, TrafficClass::reduce_scatter_write) == 3 * chunk);  // two partial sums, then one whole
}

TEST_CASE("every partial sum is added exactly once") {
  // GPU r adds 10^r: the owner of a tile must end with 1111, whatever the policy and the order in which updates came.
  // DMA commands of one wavefront's tile and of three, which the eight wavefronts of a work-group do not divide into.
  const std::uint32_t ranks = 4;
  for (const char* map : {"ring-reduce-scatter", "direct-reduce-scatter"}) {
    for (const std::int64_t dma_tiles : {1, 3}) {
      CAPTURE(map, dma_tiles);
      test::GpuRing ring(gpu(), ranks);
      ring.own = {1, 10, 100, 1000};
      program::Kernel fused_kernel = kernel(gemm(1500, 1100, 96), map);
      std::get<program::GemmKernel>(fused_kernel.work).dma_tiles = dma_tiles;
      const program::GemmKernel gemm_kernel = std::get<program::GemmKernel>(fused_kernel.work);
      ring.begin(fused_kernel);
      REQUIRE(ring.run() > 0);
      const sim::GemmLayout layout(gemm_kernel.shape, gpu().granularity);
      CHECK(ring.check_sums(gemm_kernel, layout, 1111) == gemm_kernel.shape.output_bytes());
    }
  }
}

TEST_CASE("an all-to-all ends when everything has come") {
  // Of four chunks each GPU stores three to the others, and three come; its own one stays.
  test::GpuRing ring(gpu(), 4);
  const program::GemmShape shape = gemm(128 * 8, 256 * 2, 96);
  ring.begin(kernel(shape, "all-to-all"));
  REQUIRE(ring.run() > 0);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    CHECK(ring.traffic(rank, TrafficClass::other) == 3 * shape.output_bytes() / 4);
    CHECK(ring.traffic(rank, TrafficClass::gemm_write) == shape.output_bytes() / 4);
  }
}
