// What a kernel is said to move, for estimates, beside what it moves.
#include <catch2/catch.hpp>

#include <numeric>

#include "gpu_ring.hpp"
#include "tessera/sim/gpu/kernel_volume.hpp"

using namespace tessera;

namespace {

struct Moved {
  std::int64_t transactions = 0;
  std::int64_t bytes_sent = 0;
};

/// By all GPUs together.
Moved moved(const machine::GpuSpec& spec, const program::Kernel& kernel, std::uint32_t ranks) {
  test::GpuRing ring(spec, ranks);
  ring.begin(kernel);
  REQUIRE(ring.run() > 0);
  Moved sum;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (const sim::MemoryChannel* channel : ring.gpu(rank).memory().channels()) {
      const auto& counted = channel->counts().transactions;
      sum.transactions = std::accumulate(counted.begin(), counted.end(), sum.transactions);
    }
    sum.bytes_sent += ring.gpu(rank).run().bytes_received();
  }
  return sum;
}

Moved estimated(const machine::GpuSpec& spec, const program::Kernel& kernel, std::uint32_t ranks) {
  Moved sum;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const sim::KernelVolume volume = sim::kernel_volume(kernel, spec, rank, ranks);
    sum.transactions += volume.transactions;
    sum.bytes_sent += volume.bytes_sent;
  }
  return sum;
}

program::GemmKernel gemm(std::int64_t m, std::int64_t n, std::int64_t k, const char* map) {
  program::GemmKernel kernel;
  kernel.shape.m = m;
  kernel.shape.n = n;
  kernel.shape.k = k;
  kernel.shape.peak = 80 * 2 * 512 * std::int64_t{1'400'000'000};
  kernel.map = program::address_map_index(map);
  return kernel;
}

}  // namespace

TEST_CASE("the volume of kernels that copy is exact") {
  using program::CopyKind;
  machine::GpuSpec spec;
  spec.copy_block = 8192;
  for (const CopyKind kind :
       {CopyKind::reduce_scatter, CopyKind::all_gather, CopyKind::all_to_all, CopyKind::send, CopyKind::add}) {
    for (const bool near_memory : {false, true}) {
      const program::CopyKernel copy{1 << 20, kind, near_memory};
      CAPTURE(name_of(kind), near_memory);
      CHECK(estimated(spec, {copy}, 4).transactions == moved(spec, {copy}, 4).transactions);
      CHECK(estimated(spec, {copy}, 4).bytes_sent == moved(spec, {copy}, 4).bytes_sent);
    }
  }
  // Of four chunks of 256 KiB, three are sent by each GPU, in units of 8 KiB.
  const sim::KernelVolume volume =
      sim::kernel_volume({program::CopyKernel{1 << 20, CopyKind::reduce_scatter}}, spec, 0, 4);
  CHECK(volume.messages == 3 * 32);
  CHECK(volume.loads == 4 * 32);  // and the last reduction
  // It reads 7 chunks (figure 10: one, then two in each step and at the end) and writes 4, in blocks of 256 B.
  CHECK(volume.transactions == 11 * 1024);
}

TEST_CASE("the volume of fused GEMMs of whole tiles is exact where the L2 holds both operands") {
  const machine::GpuSpec spec;
  for (const char* map : {"local", "ring-reduce-scatter", "direct-reduce-scatter", "all-to-all", "send",
                          "ring-all-gather", "direct-all-gather"}) {
    for (const std::int64_t split_k : {1, 2}) {
      CAPTURE(map, split_k);
      program::GemmKernel kernel = gemm(128 * 6, 256 * 2, 256, map);
      kernel.shape.split_k = split_k;
      CHECK(estimated(spec, {kernel}, 3).transactions == moved(spec, {kernel}, 3).transactions);
      CHECK(estimated(spec, {kernel}, 3).bytes_sent == moved(spec, {kernel}, 3).bytes_sent);
    }
  }
  for (const char* map : {"ring-reduce-scatter", "direct-reduce-scatter"}) {
    program::GemmKernel kernel = gemm(128 * 6, 256 * 2, 256, map);
    kernel.reduction = program::Reduction::atomics;
    CHECK(estimated(spec, {kernel}, 3).transactions == moved(spec, {kernel}, 3).transactions);
  }
  for (const char* map : {"ring-all-gather", "direct-all-gather"}) {
    program::GemmKernel kernel = gemm(128 * 6, 256 * 2, 256, "ring-reduce-scatter");
    kernel.input_map = static_cast<std::uint16_t>(program::address_map_index(map));
    CHECK(estimated(spec, {kernel}, 3).transactions == moved(spec, {kernel}, 3).transactions);
    CHECK(estimated(spec, {kernel}, 3).bytes_sent == moved(spec, {kernel}, 3).bytes_sent);
  }
  program::GemmKernel in_switch = gemm(128 * 6, 256 * 2, 256, "direct-reduce-scatter");
  in_switch.reduction = program::Reduction::in_switch;
  CHECK(estimated(spec, {in_switch}, 3).transactions == moved(spec, {in_switch}, 3).transactions);
  // A chunk of 4 of the 12 tiles is stored to the neighbour, another one sent by DMA; eight wavefronts a tile, and
  // eight chunks of k.
  const sim::KernelVolume volume = sim::kernel_volume({gemm(128 * 6, 256 * 2, 256, "ring-reduce-scatter")}, spec, 0, 3);
  CHECK(volume.messages == 8 * 8);
  CHECK(volume.loads == 12 * 8);
}

TEST_CASE("stages whose operands do not stay in the L2 load them anew, about") {
  // 8 x 16 tiles in 16 stages of 8 work-groups: each stage loads its row and 8 of the columns, or 8 rows and a column.
  machine::GpuSpec spec;
  spec.cus = 8;
  spec.l2_capacity = 1 << 20;
  for (const auto order : {program::TileOrder::row_major, program::TileOrder::column_major}) {
    program::GemmKernel kernel = gemm(128 * 8, 256 * 16, 2048, "ring-reduce-scatter");
    kernel.shape.order = order;
    const auto simulated = static_cast<double>(moved(spec, {kernel}, 2).transactions);
    CHECK(static_cast<double>(estimated(spec, {kernel}, 2).transactions) == Approx(simulated).epsilon(0.1));
  }
  // Odd sizes: blocks at the edges count as loaded though some hold nothing.
  const program::GemmKernel odd = gemm(1000, 1000, 100, "ring-reduce-scatter");
  const auto simulated = static_cast<double>(moved(spec, {odd}, 3).transactions);
  CHECK(static_cast<double>(estimated(spec, {odd}, 3).transactions) == Approx(simulated).epsilon(0.1));
}
