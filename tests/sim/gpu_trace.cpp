// A fused GEMM and reduce-scatter of four work-groups on two GPUs, event by event, to the picosecond.
#include <catch2/catch.hpp>

#include <map>
#include <string>
#include <utility>

#include "gpu_parts.hpp"
#include "gpu_shapes.hpp"

using namespace tessera;
using sim::MemoryOp;
using sim::TrafficClass;

namespace {

/// One CU, one channel, one bank of the L2. Blocks are 1 KiB, 32 bursts; rows open at once; all clocks are 1 GHz, so
/// that
///   a bank of the L2 takes                 16 ns  a block (64 B a clock)
///   DRAM reads or writes                   32 ns  a block (a clock a burst)
///   DRAM updates                           63 ns  a block: 2 clocks from burst to burst, and the last one's own
///   the bus turns round in                 10 ns
///   data of a read are at the L2 after    100 ns, at the CU after 50 ns more; so are those of a hit after the bank
machine::GpuSpec small_gpu() {
  machine::GpuSpec spec = test::without_rows({});
  spec.cus = 1;
  spec.clock = 1'000'000'000;
  spec.work_group_time = 1 * microsecond;
  spec.l2_banks = 1;
  spec.l2_latency = 50 * nanosecond;
  spec.channels = 1;
  spec.dram_latency = 100 * nanosecond;
  return spec;
}

/// A tile row of four tiles of 16 x 16 elements of 4 B, with one chunk of k: a part of A, of B or of C is one block.
/// Blocks: 0 is A, 1 + t is B of tile t, 5 + t is C of tile t. 4,096 FMA take 100 ns.
program::GemmKernel small_gemm() {
  program::GemmKernel gemm;
  gemm.shape.m = gemm.shape.k = 16;
  gemm.shape.n = 64;
  gemm.shape.tile_m = gemm.shape.tile_n = gemm.shape.tile_k = 16;
  gemm.shape.element = 4;
  gemm.shape.peak = 2 * 4'096 * std::int64_t{10'000'000};
  gemm.shape.wavefronts = 1;
  return gemm;
}

/// Times in ps by tile, or by block where nothing else is said.
using Times = std::map<std::uint64_t, Time>;

struct Trace {
  Times loaded;     ///< block: its data have left DRAM
  Times ready;      ///< number of the work-group on its GPU: its chunk is here
  Times computed;   ///< the same: and is computed
  Times entered;    ///< own stores: in the DRAM queue
  Times updated;    ///< own stores: in memory
  Times read;       ///< by a DMA: its data have left DRAM
  Times fetched;    ///< by a DMA: is on its way to the link
  Times left;       ///< messages
  Times arrived;    ///< messages
  Times received;   ///< what came: in the DRAM queue
  Times reduced;    ///< what came: in memory
  Times completed;  ///< by the Tracker: how many wavefront tiles still wait
  Time ended = 0;
};

class Tracer final : public test::GpuWatcher {
 public:
  explicit Tracer(std::uint32_t waiting) : waiting_{waiting, waiting} {}

  Trace gpus[2];

  void served(std::uint32_t rank, const sim::MemoryRequest& request, Time at) override {
    Trace& trace = gpus[rank];
    if (request.traffic == TrafficClass::gemm_read) return note(trace.loaded, request.block, at);
    const bool own = request.traffic == TrafficClass::gemm_write;
    note(request.op == MemoryOp::read ? trace.read : own ? trace.updated : trace.reduced, request.block - first_c, at);
  }
  void stored(std::uint32_t rank, const sim::MemoryRequest& request, Time now) override {
    CHECK(request.op == MemoryOp::update);
    const bool own = request.traffic == TrafficClass::gemm_write;
    note(own ? gpus[rank].entered : gpus[rank].received, request.block - first_c, now);
  }
  void counted(std::uint32_t rank, const sim::KernelRun& run, Time now) override {
    const auto waiting =
        static_cast<std::uint32_t>(std::stoul(run.waits_for().substr(std::string("updates of ").size())));
    if (waiting == waiting_[rank]) return;
    CHECK(waiting == waiting_[rank] - 1);
    waiting_[rank] = waiting;
    note(gpus[rank].completed, waiting, now);
  }
  void woken(std::uint32_t rank, const sim::GpuWake& wake, Time now) override {
    using What = sim::GpuWake::What;
    Trace& trace = gpus[rank];
    if (wake.what == What::block_read) return note(trace.fetched, wake.index, now);
    if (wake.what == What::slot_ready) return note(trace.ready, trace.ready.size(), now);
    // A slot is done twice: when its chunk is computed, and 1 us later, when its work-group is.
    if (trace.computed.size() < trace.ready.size()) return note(trace.computed, trace.computed.size(), now);
    CHECK(now == trace.computed.rbegin()->second + 1 * microsecond);
  }
  void sent(std::uint32_t rank, std::uint32_t to, const sim::KernelBlock& block, Time leaves) override {
    CHECK(to == 1 - rank);
    CHECK(block.bytes == 1024);
    note(gpus[rank].left, block.first, leaves);
  }
  void came(std::uint32_t rank, std::uint32_t, const sim::KernelBlock& block, Time now) override {
    note(gpus[rank].arrived, block.first, now);
  }
  void ended(std::uint32_t rank, Time now) override {
    CHECK(gpus[rank].ended == 0);
    gpus[rank].ended = now;
  }

 private:
  static constexpr std::uint64_t first_c = 5;
  /// Everything happens once.
  static void note(Times& times, std::uint64_t which, Time at) { CHECK(times.emplace(which, at).second); }

  std::uint32_t waiting_[2];
};

/// The same on GPU 1, which begins with tiles 2 and 3: tile t stands for its tile t ^ 2.
Times by_tile(const Times& times, std::uint32_t rank, std::uint64_t first = 0) {
  Times mirrored;
  for (const auto& [which, at] : times) {
    mirrored[which < first || rank == 0 ? which : first + ((which - first) ^ 2U)] = at;
  }
  return mirrored;
}

std::string text(const Times& times) {
  std::string all;
  for (const auto& [which, at] : times) all += std::to_string(which) + " at " + std::to_string(at) + "; ";
  return all;
}

void check(const Tracer& tracer, const Trace& expected) {
  for (const std::uint32_t rank : {0U, 1U}) {
    CAPTURE(rank);
    const Trace& trace = tracer.gpus[rank];
    CHECK(text(trace.loaded) == text(by_tile(expected.loaded, rank, 1)));  // A is block 0 on both
    CHECK(text(trace.ready) == text(expected.ready));
    CHECK(text(trace.computed) == text(expected.computed));
    CHECK(text(trace.entered) == text(by_tile(expected.entered, rank)));
    CHECK(text(trace.updated) == text(by_tile(expected.updated, rank)));
    CHECK(text(trace.read) == text(by_tile(expected.read, rank)));
    CHECK(text(trace.fetched) == text(by_tile(expected.fetched, rank)));
    CHECK(text(trace.left) == text(by_tile(expected.left, rank)));
    CHECK(text(trace.arrived) == text(by_tile(expected.arrived, rank)));
    CHECK(text(trace.received) == text(by_tile(expected.received, rank)));
    CHECK(text(trace.reduced) == text(by_tile(expected.reduced, rank)));
    CHECK(text(trace.completed) == text(expected.completed));
    CHECK(trace.ended == expected.ended);
  }
}

}  // namespace

// clang-format off
// GPU 0 in ns (GPU 1 does the same with tiles 2 and 3 for 0 and 1). It stores tiles 0 and 1 to GPU 1, which updates its
// own with them, and keeps 2 and 3, for which GPU 1's come. A message of 1,024 B leaves in 13.654 ns (75 GB/s, rounded
// up) and arrives 500 ns later.
//
//   work-group                    1. (tile 0)      2. (tile 1)       3. (tile 2)            4. (tile 3)
//   begins, when the last ends    0                1,314             2,596                  3,878
//   A: of DRAM | bank + 50        0..32 + 150      1,380             2,662                  3,944
//   B: DRAM begins                32 (after A)     1,314             2,596                  3,951 (update to 3,941, turn)
//   B: data are there (+ 132)     164              1,446             2,728                  4,083
//   chunk is here (+ 50)          214              1,496             2,778                  4,133
//   computed (+ 100)              314              1,596             2,878                  4,233
//   stores its tile (+ 1,000)     1,314            2,596             3,878                  5,233
//     message leaves              1,327.654        2,609.654         -                      -
//     update is in memory (+ 63)  -                -                 3,941                  5,296
//
//   the neighbour's tile          2                3
//   arrives, enters the queue     1,827.654        3,109.654         its channel is idle, and has turned long since
//   is in memory (+ 63)           1,890.654        3,172.654
//   complete, with the own one    3,878            5,233             the kernel's end: all work-groups have ended
// clang-format on
TEST_CASE("two GPUs, four work-groups, ring reduce-scatter: event by event") {
  program::GemmKernel gemm = small_gemm();
  gemm.map = program::address_map_index("ring-reduce-scatter");
  const machine::GpuSpec spec = small_gpu();
  Tracer tracer(2);
  REQUIRE(test::GpuParts(spec, {gemm}, 2, tracer).run());
  Trace expected;
  expected.loaded = {{0, 132'000}, {1, 164'000}, {2, 1'446'000}, {3, 2'728'000}, {4, 4'083'000}};
  expected.ready = {{0, 214'000}, {1, 1'496'000}, {2, 2'778'000}, {3, 4'133'000}};
  expected.computed = {{0, 314'000}, {1, 1'596'000}, {2, 2'878'000}, {3, 4'233'000}};
  expected.left = {{0, 1'327'654}, {1, 2'609'654}};
  expected.arrived = {{2, 1'827'654}, {3, 3'109'654}};
  expected.received = expected.arrived;
  expected.reduced = {{2, 1'890'654}, {3, 3'172'654}};
  expected.entered = {{2, 3'878'000}, {3, 5'233'000}};
  expected.updated = {{2, 3'941'000}, {3, 5'296'000}};
  expected.completed = {{1, 3'878'000}, {0, 5'233'000}};
  expected.ended = 5'233'000;
  check(tracer, expected);
}

// clang-format off
// The same with DMAs: each GPU keeps its own chunk until it is complete, after one update, and a DMA sends it
// (dma_map). A tile's store, the DMA that it triggers and the next work-group's load of B come to the channel in this
// order at the same time; the update goes first, since the DMA reads what it leaves, and the bus turns for both reads.
//
//   work-group                    1. (tile 0)      2. (tile 1)       3. (tile 2)            4. (tile 3)
//   begins, when the last ends    0                1,314             2,701                  4,088
//   A: of DRAM | bank + 50        0..32 + 150      1,380             2,767                  4,154
//   B: DRAM begins                32 (after A)     1,419 (DMA)       2,806 (DMA)            4,161 (update to 4,151, turn)
//   B: data are there (+ 132)     164              1,551             2,938                  4,293
//   chunk is here (+ 50)          214              1,601             2,988                  4,343
//   computed (+ 100)              314              1,701             3,088                  4,443
//   stores its tile (+ 1,000)     1,314            2,701             4,088                  5,443
//     complete after updates      1                1                 2                      2: the end
//     update is in memory (+ 63)  1,377            2,764             4,151                  5,506
//     DRAM begins the DMA's read  1,387 (turn)     2,774 (turn)
//     its data are there (+ 132)  1,519            2,906             and go to the link at once
//     message leaves              1,532.654        2,919.654
//
//   the neighbour's tile          2                3
//   arrives, enters the queue     2,032.654        3,419.654         its channel is idle, and has turned long since
//   is in memory (+ 63)           2,095.654        3,482.654
// clang-format on
TEST_CASE("two GPUs, four work-groups, a DMA for each tile that is sent: event by event") {
  program::GemmKernel gemm = small_gemm();
  gemm.calls = {{program::RegionKind::dma, 0, -1, program::StoreOperation::update, 1}};
  const machine::GpuSpec spec = small_gpu();
  Tracer tracer(4);
  REQUIRE(test::GpuParts(spec, {gemm}, 2, tracer).run());
  Trace expected;
  expected.loaded = {{0, 132'000}, {1, 164'000}, {2, 1'551'000}, {3, 2'938'000}, {4, 4'293'000}};
  expected.ready = {{0, 214'000}, {1, 1'601'000}, {2, 2'988'000}, {3, 4'343'000}};
  expected.computed = {{0, 314'000}, {1, 1'701'000}, {2, 3'088'000}, {3, 4'443'000}};
  expected.entered = {{0, 1'314'000}, {1, 2'701'000}, {2, 4'088'000}, {3, 5'443'000}};
  expected.updated = {{0, 1'377'000}, {1, 2'764'000}, {2, 4'151'000}, {3, 5'506'000}};
  expected.read = {{0, 1'519'000}, {1, 2'906'000}};
  expected.fetched = expected.read;
  expected.left = {{0, 1'532'654}, {1, 2'919'654}};
  expected.arrived = {{2, 2'032'654}, {3, 3'419'654}};
  expected.received = expected.arrived;
  expected.reduced = {{2, 2'095'654}, {3, 3'482'654}};
  expected.completed = {{3, 1'314'000}, {2, 2'701'000}, {1, 4'088'000}, {0, 5'443'000}};
  expected.ended = 5'443'000;
  check(tracer, expected);
}
