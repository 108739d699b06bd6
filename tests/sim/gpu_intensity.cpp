// MCA's threshold follows from how intensively the first stage uses the memory (T3, section 4.5).
#include <catch2/catch.hpp>

#include "gpu_parts.hpp"

using namespace tessera;

namespace {

/// 16 tiles of 64 x 64 on two GPUs of four CUs and one channel. Wavefronts write 1 KiB: four blocks of 8 bursts.
program::GemmKernel sixteen_tiles(std::int64_t peak) {
  program::GemmKernel gemm;
  gemm.shape.m = gemm.shape.n = gemm.shape.k = 256;
  gemm.shape.tile_m = gemm.shape.tile_n = 64;
  gemm.shape.tile_k = 16;
  gemm.shape.peak = peak;
  gemm.map = program::address_map_index("ring-reduce-scatter");
  return gemm;
}

machine::GpuSpec one_channel() {
  machine::GpuSpec spec;
  spec.cus = 4;
  spec.channels = 1;
  spec.arbitration = "mca";
  spec.starvation_limit = 1 * millisecond;  // never, here
  return spec;
}

/// Bursts that the DRAM queue held when updates from the neighbour entered it, while the producer ran.
class Entries final : public test::GpuWatcher {
 public:
  test::GpuParts* parts = nullptr;
  std::uint32_t updates = 0;
  std::uint32_t most = 0;

  void stored(std::uint32_t rank, const sim::MemoryRequest& request, Time) override {
    const bool has_ended = parts->kernel(rank).computed() > 0;  // from then on everything may enter
    if (has_ended || request.stream == sim::MemoryStream::compute) return;
    ++updates;
    most = std::max(most, parts->memory(rank).channels()[0]->occupancy() - sim::bursts_of(request.bytes));
  }
};

Entries entries(std::int64_t peak) {
  const program::GemmKernel gemm = sixteen_tiles(peak);
  const machine::GpuSpec spec = one_channel();
  Entries seen;
  test::GpuParts parts(spec, {gemm}, 2, seen);
  seen.parts = &parts;
  REQUIRE(parts.run());
  CHECK(seen.updates > 0);
  return seen;
}

}  // namespace

TEST_CASE("a first stage that fills the DRAM queue leaves room for less than 5 bursts of communication") {
  // Computing takes no time to speak of: what four work-groups load ahead, 16 blocks of 8 bursts a chunk each, keeps
  // the queue of 64 full nearly all of the stage. The threshold is 5: an update enters a queue of at most 4 bursts.
  CHECK(entries(std::int64_t{1} << 60).most < 5);
}

TEST_CASE("a first stage that hardly uses the memory lets communication in") {
  // A chunk of 65,536 FMA takes 13 us on its CU; its blocks are loaded in 0.2 us. The threshold is none: messages of
  // 32 bursts come every 14 ns and an update of that size takes longer, so that they find others in the queue.
  CHECK(entries(4 * 2 * std::int64_t{5'000'000'000}).most > 30);
}
