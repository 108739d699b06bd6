// Every byte is reduced exactly once: what the owners of the chunks end with equals Eigen's sum of products, exactly.
#include <catch2/catch.hpp>

#include "gpu_sums.hpp"
#include "tessera/base/random.hpp"

using namespace tessera;
using test::GpuSums;
using test::Matrix;

namespace {

machine::GpuSpec gpu(const char* arbitration) {
  machine::GpuSpec spec;
  spec.granularity = 256;
  spec.cus = 3;
  spec.channels = 4;
  spec.l2_capacity = 64 << 10;
  spec.work_group_time = 300 * nanosecond;
  spec.starvation_limit = 5 * nanosecond;
  spec.arbitration = arbitration;
  return spec;
}

/// 5 x 4 tiles of 32 x 32 in eight wavefronts of 4 rows, which are one transaction each. Below, 22 rows are left:
/// wavefront 5 has two of its rows, 6 and 7 none; on the right 14 columns. Three chunks of k, the last one of 8.
program::GemmKernel kernel(const char* map, std::int64_t split_k, std::int64_t dma_tiles) {
  program::GemmKernel gemm;
  gemm.shape.m = 4 * 32 + 22;
  gemm.shape.n = 3 * 32 + 14;
  gemm.shape.k = 40;
  gemm.shape.tile_m = gemm.shape.tile_n = 32;
  gemm.shape.tile_k = 16;
  gemm.shape.peak = 3 * 2 * 512 * std::int64_t{1'400'000'000};
  gemm.shape.split_k = split_k;
  gemm.map = program::address_map_index(map);
  gemm.dma_tiles = dma_tiles;
  return gemm;
}

/// Integers from -4 to 4, another matrix for each stream of numbers.
std::vector<Matrix> operands(std::uint32_t ranks, Eigen::Index rows, Eigen::Index columns, const char* stream) {
  const KeyedRandom random(20'241'021, random_stream(stream));
  std::uint64_t draws = 0;
  std::vector<Matrix> all;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    all.push_back(
        Matrix::NullaryExpr(rows, columns, [&] { return static_cast<std::int64_t>(random.below(draws++, 9)) - 4; }));
  }
  return all;
}

struct Operands {
  Operands(const program::GemmShape& shape, std::uint32_t ranks)
      : a(operands(ranks, shape.m, shape.k, "conservation a")),
        b(operands(ranks, shape.k, shape.n, "conservation b")) {}
  std::vector<Matrix> a, b;
};

/// Elements.
Eigen::Index differences(const Matrix& one, const Matrix& other) { return (one.array() != other.array()).count(); }

/// Whether the tiles that each member keeps hold the sum over all members, and all of the output is kept.
void check_sums(const program::GemmKernel& gemm, const GpuSums& sums, const Operands& operands) {
  const auto ranks = static_cast<std::uint32_t>(operands.a.size());
  Matrix expected = Matrix::Zero(gemm.shape.m, gemm.shape.n);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) expected += operands.a[rank] * operands.b[rank];
  Matrix gathered = Matrix::Constant(gemm.shape.m, gemm.shape.n, -1'000'000);  // no element is so small
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (const program::Region& region : gemm.address_map(rank, ranks).regions) {
      if (region.kind != program::RegionKind::local) continue;
      for (std::uint32_t tile = region.first_tile; tile < region.first_tile + region.tiles; ++tile) {
        const GpuSums::Place at = sums.place_of(tile);
        gathered.block(at.row, at.column, at.rows, at.columns) =
            sums.memory(rank).block(at.row, at.column, at.rows, at.columns);
      }
    }
  }
  CHECK(differences(gathered, expected) == 0);
  CHECK(sums.left_over() == 0);
}

}  // namespace

TEST_CASE("fused GEMM and reduce-scatter: every element is the exact sum over the GPUs") {
  for (const char* map : {"ring-reduce-scatter", "direct-reduce-scatter"}) {
    for (const char* arbitration : {"round-robin", "mca"}) {
      for (const std::uint32_t ranks : {2U, 3U, 4U}) {
        for (const std::int64_t split_k : {1, 2}) {
          for (const std::int64_t dma_tiles : {1, 3}) {
            CAPTURE(map, arbitration, ranks, split_k, dma_tiles);
            const program::GemmKernel gemm = kernel(map, split_k, dma_tiles);
            const machine::GpuSpec spec = gpu(arbitration);
            const Operands operands(gemm.shape, ranks);
            GpuSums sums(gemm, spec.granularity, operands.a, operands.b);
            REQUIRE(test::GpuParts(spec, {gemm}, ranks, sums).run());
            check_sums(gemm, sums, operands);
          }
        }
      }
    }
  }
}

TEST_CASE("updates that a full Tracker holds back are counted later, and none is lost") {
  // One set of two ways of 76 bits, for 160 wavefronts' tiles that update when they like.
  machine::GpuSpec spec = gpu("round-robin");
  spec.tracker_sets = 1;
  spec.tracker_size = 19;
  for (const std::uint32_t ranks : {2U, 4U}) {
    const program::GemmKernel gemm = kernel("ring-reduce-scatter", 2, 3);
    const Operands operands(gemm.shape, ranks);
    GpuSums sums(gemm, spec.granularity, operands.a, operands.b);
    test::GpuParts parts(spec, {gemm}, ranks, sums);
    REQUIRE(parts.run());
    for (std::uint32_t rank = 0; rank < ranks; ++rank) CHECK(parts.kernel(rank).held_back() > 100);
    check_sums(gemm, sums, operands);
  }
}

TEST_CASE("the paper's calls by hand: chunks that go by DMA alone are summed as exactly") {
  // Two GPUs: each sends its own chunk when it is complete (one update), and keeps the other one, complete with two.
  program::GemmKernel gemm = kernel("local", 1, 1);
  gemm.calls = {{program::RegionKind::dma, 0, -1, program::StoreOperation::update, 1}};
  const machine::GpuSpec spec = gpu("mca");
  const Operands operands(gemm.shape, 2);
  GpuSums sums(gemm, spec.granularity, operands.a, operands.b);
  REQUIRE(test::GpuParts(spec, {gemm}, 2, sums).run());
  check_sums(gemm, sums, operands);
}

TEST_CASE("all-to-all: every element is at the one GPU that it is for, once") {
  // Chunk c of each product goes to GPU c, into a buffer of its own for each sender: together a permutation.
  for (const char* arbitration : {"round-robin", "mca"}) {
    for (const std::uint32_t ranks : {2U, 3U, 4U}) {
      CAPTURE(arbitration, ranks);
      const program::GemmKernel gemm = kernel("all-to-all", 1, 1);
      const machine::GpuSpec spec = gpu(arbitration);
      const Operands operands(gemm.shape, ranks);
      GpuSums sums(gemm, spec.granularity, operands.a, operands.b);
      REQUIRE(test::GpuParts(spec, {gemm}, ranks, sums).run());
      CHECK(sums.left_over() == 0);
      for (std::uint32_t from = 0; from < ranks; ++from) {
        const Matrix product = operands.a[from] * operands.b[from];
        Matrix gathered = Matrix::Zero(gemm.shape.m, gemm.shape.n), stores = gathered;
        for (const program::Region& region : gemm.address_map(from, ranks).regions) {
          const bool stays = region.kind == program::RegionKind::local;
          const std::uint32_t owner = stays ? from : region.destination;
          for (std::uint32_t tile = region.first_tile; tile < region.first_tile + region.tiles; ++tile) {
            const GpuSums::Place at = sums.place_of(tile);
            gathered.block(at.row, at.column, at.rows, at.columns) =
                (stays ? sums.memory(from) : sums.buffer(owner, from)).block(at.row, at.column, at.rows, at.columns);
            if (stays) stores.block(at.row, at.column, at.rows, at.columns).setOnes();
          }
        }
        for (std::uint32_t to = 0; to < ranks; ++to) stores += sums.stores(to, from);
        CHECK(differences(gathered, product) == 0);
        CHECK(differences(stores, Matrix::Ones(gemm.shape.m, gemm.shape.n)) == 0);
      }
    }
  }
}
