// Strategy t3: what its tables turn into.
#include "tessera/strategy/t3/t3.hpp"

#include <catch2/catch.hpp>

#include "jobs.hpp"

using namespace tessera;
using strategy::TestJob;

namespace {

/// Eight GPUs that know their transactions; H = 1024, 2 sequences of 256 tokens.
TestJob job() {
  TestJob job(8, strategy::gpt(2, 1024, 8), 2);
  job.workload.sequence = 256;
  job.machine.device.peak["fp16"] = FlopPerSecond{100'000'000'000'000};
  job.machine.device.transaction = machine::GpuSpec{};
  return job;
}

/// Without sequences, which a GEMM as given does not read.
TestJob gemm_job() {
  TestJob one = job();
  one.workload = {};
  return one;
}

std::string problem(const std::string& text) {
  TestJob one = text.starts_with("sublayer = \"gemm\"") ? gemm_job() : job();
  static_cast<void>(one.plan("name = \"t3\"\n" + text, strategy::t3::kind()));
  return one.diagnostics.errors().empty() ? "" : one.diagnostics.errors().front();
}

}  // namespace

TEST_CASE("t3: every configuration of every sub-layer is a program without problems") {
  for (const char* configuration :
       {"sequential", "t3", "t3-mca", "ideal-gemm-rs-overlap", "ideal-rs-nmc", "cu-split", "gemm", "reduce-scatter"}) {
    for (const char* sublayer : {"op", "fc2", "fc1", "ip"}) {
      CAPTURE(configuration, sublayer);
      TestJob one = job();
      const strategy::Plan plan = one.plan(
          std::string("name = \"t3\"\nconfiguration = \"") + configuration + "\"\nsublayer = \"" + sublayer + "\"",
          strategy::t3::kind());
      REQUIRE(one.diagnostics.ok());
      CHECK(program::check_program(plan.program, one.machine).empty());
    }
  }
}

TEST_CASE("t3: FLOP are executed where there is a product") {
  // Eight GPUs, 2 x 512 x 1024 x 512 FLOP each.
  for (const auto& [configuration, flops] : {std::pair{"gemm", 8 * 536'870'912.0},
                                             {"sequential", 8 * 536'870'912.0},
                                             {"reduce-scatter", 0.0},
                                             {"all-gather", 0.0}}) {
    TestJob one = job();
    const std::string text =
        std::string("name = \"t3\"\nsublayer = \"fc2\"\nconfiguration = \"") + configuration + "\"";
    CHECK(one.plan(text, strategy::t3::kind()).hardware_flops == flops);
  }
}

TEST_CASE("t3: a sub-layer's GEMM is cut along its depth") {
  // T3, section 2.5 and the shapes of its table 2: OP H/TP, FC-2 and FC-1 4H/TP, IP 3H/TP; tokens by H.
  const std::pair<const char*, std::int64_t> depths[] = {{"op", 128}, {"fc2", 512}, {"fc1", 512}, {"ip", 384}};
  for (const auto& [sublayer, depth] : depths) {
    TestJob one = job();
    const strategy::Plan plan =
        one.plan(std::string("name = \"t3\"\nsublayer = \"") + sublayer + "\"", strategy::t3::kind());
    const auto& gemm = std::get<program::GemmKernel>(plan.program.kernels.at(0).work);
    CHECK(gemm.shape.m == 512);
    CHECK(gemm.shape.n == 1024);
    CHECK(gemm.shape.k == depth);
    CHECK(gemm.arbitration == "mca");
  }
}

TEST_CASE("t3: the paper's two calls make the paper's map") {
  // Figure 12, relative to the rank: chunk 0 stored to the neighbour, the others sent by DMA after two updates, the
  // last kept. On eight devices that is the ring reduce-scatter.
  std::string text = "name = \"t3\"\n[[remote_map]]\nchunk = 0\n";
  for (int chunk = 1; chunk < 7; ++chunk) text += "[[dma_map]]\nchunk = " + std::to_string(chunk) + "\n";
  TestJob one = job();
  const strategy::Plan plan = one.plan(text, strategy::t3::kind());
  REQUIRE(one.diagnostics.ok());
  const auto& gemm = std::get<program::GemmKernel>(plan.program.kernels.at(0).work);
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    const program::AddressMap ours = gemm.address_map(rank, 8);
    const program::AddressMap theirs =
        program::ring_reduce_scatter_map(rank, 8, static_cast<std::uint32_t>(gemm.shape.tiles()));
    REQUIRE(ours.regions.size() == theirs.regions.size());
    for (std::size_t i = 0; i < ours.regions.size(); ++i) {
      CHECK(ours.regions[i].first_tile == theirs.regions[i].first_tile);
      CHECK(ours.regions[i].kind == theirs.regions[i].kind);
      CHECK(ours.regions[i].updates == theirs.regions[i].updates);
      if (ours.regions[i].kind != program::RegionKind::local)
        CHECK(ours.regions[i].destination == theirs.regions[i].destination);
    }
  }
}

TEST_CASE("t3: by operators, and what a device holds") {
  // 512 x 1024 x 512 in FP16: weights 1 MiB, input 0.5 MiB and output 1 MiB, receive buffer 1 MiB.
  TestJob one = job();
  const strategy::Plan plan =
      one.plan("name = \"t3\"\nfidelity = \"operator\"\nconfiguration = \"sequential\"", strategy::t3::kind());
  REQUIRE(one.diagnostics.ok());
  CHECK(plan.program.kernels.empty());
  CHECK(plan.program.operators.at(0).flops == 2LL * 512 * 1024 * 512);
  CHECK(plan.program.collectives.size() == 2);
  CHECK(program::check_program(plan.program, one.machine).empty());
  CHECK(program::memory_peak(plan.program, 0).total == 7 << 19);
  CHECK(problem("fidelity = \"operator\"") ==
        "strategy.toml:1:1: fidelity \"operator\" has configuration \"sequential\" alone");
}

// Of FC-2, 512 x 1024 in FP16 on each device: 1 MiB.
TEST_CASE("t3: results that go to others without a sum, fused and by a kernel of their own") {
  using program::CopyKind;
  for (const auto& [map, kind] : {std::pair("all-to-all", CopyKind::all_to_all), {"send", CopyKind::send}}) {
    for (const char* configuration : {"sequential", "t3", "t3-mca", "ideal-gemm-rs-overlap", "cu-split", "gemm"}) {
      CAPTURE(map, configuration);
      TestJob one = job();
      const strategy::Plan plan = one.plan(
          std::string("name = \"t3\"\ncollective = \"") + map + "\"\nconfiguration = \"" + configuration + "\"",
          strategy::t3::kind());
      REQUIRE(one.diagnostics.ok());
      CHECK(program::check_program(plan.program, one.machine).empty());
      const std::string name = configuration;
      const bool apart = name == "sequential" || name[0] == 'i' || name[0] == 'c';
      CHECK(plan.program.kernels.size() == (apart ? 2 : 1));
      for (const program::Kernel& kernel : plan.program.kernels) {
        const auto* copy = std::get_if<program::CopyKernel>(&kernel.work);
        if (copy != nullptr) CHECK(*copy == program::CopyKernel{1 << 20, kind});
      }
    }
  }
}

TEST_CASE("t3: what is added to a sum, behind the all-gather by CUs, before it near the memory") {
  using program::CopyKind;
  for (const char* configuration : {"sequential", "t3", "ideal-rs-nmc"}) {
    for (const bool near_memory : {false, true}) {
      if (near_memory && configuration[0] == 's') continue;
      CAPTURE(configuration, near_memory);
      TestJob one = job();
      const strategy::Plan plan =
          one.plan(std::string("name = \"t3\"\nfollowing = \"") + (near_memory ? "near-memory" : "cus") +
                       "\"\nconfiguration = \"" + configuration + "\"",
                   strategy::t3::kind());
      REQUIRE(one.diagnostics.ok());
      std::vector<program::CopyKernel> copies;
      for (const program::Kernel& kernel : plan.program.kernels) {
        if (const auto* copy = std::get_if<program::CopyKernel>(&kernel.work)) copies.push_back(*copy);
      }
      const auto last = copies.size() - 1;
      CHECK(copies[last - (near_memory ? 1 : 0)] == program::CopyKernel{1 << 20, CopyKind::add, near_memory});
      CHECK(copies[last - (near_memory ? 0 : 1)].kind == CopyKind::all_gather);
    }
  }
}

TEST_CASE("t3: bad tables") {
  CHECK(problem("sublayer = \"gemm\"") == "strategy.toml:2:12: sub-layer \"gemm\" needs m, n and k");
  CHECK(problem("wavefronts = 3") == "strategy.toml:2:14: 3 wavefronts do not divide a tile of 128 rows");
  CHECK(problem("sublayer = \"op\"\nsplit_k = 5") ==
        "strategy.toml:3:11: 5 work-groups cannot share a depth of 128 in chunks of 32: some would have none");
  CHECK(problem("configuration = \"all-gather\"\ncollective = \"local\"") ==
        "strategy.toml:2:17: \"all-gather\" has nothing to gather: collective is \"local\", input \"local\"");
  for (const char* map : {"all-to-all", "send"}) {
    CHECK(problem(std::string("configuration = \"reduce-scatter\"\ncollective = \"") + map + "\"") ==
          std::string("strategy.toml:2:17: \"reduce-scatter\" needs a sum, but \"") + map + "\" has none");
    CHECK(problem(std::string("configuration = \"all-gather\"\ncollective = \"") + map + "\"")
              .starts_with("strategy.toml:2:17: \"all-gather\" has nothing to gather"));
    CHECK(problem(std::string("following = \"cus\"\ncollective = \"") + map + "\"") ==
          std::string("strategy.toml:2:13: there is no sum to add to: collective \"") + map + "\"");
  }
  CHECK(problem("following = \"cus\"\nfidelity = \"operator\"\nconfiguration = \"sequential\"") ==
        "strategy.toml:2:13: fidelity \"operator\" has following \"none\" alone");
  CHECK(problem("gemm_cus = 81") == "strategy.toml:2:12: 81 of 80 CUs");
  TestJob other = job();
  other.workload.datatype = "bf16";
  static_cast<void>(other.plan("name = \"t3\"", strategy::t3::kind()));
  CHECK(other.diagnostics.errors() ==
        std::vector<std::string>{"strategy.toml:1:8: the device has no peak for the workload's datatype \"bf16\""});
  CHECK(problem("[[remote_map]]\nchunk = 8") == "strategy.toml:2:1: chunk 8 of 8: there are as many as devices");
  CHECK(problem("[[remote_map]]\nchunk = 0\nshift = 8") ==
        "strategy.toml:2:1: a shift to the device itself: a chunk that stays needs no map");
  CHECK(problem("[[remote_map]]\nchunk = 0\n[[dma_map]]\nchunk = 0") ==
        "strategy.toml:4:1: dma_map overlaps a remote_map: both name chunk 0");
}

TEST_CASE("t3: an all-gather with the GEMM that makes its data") {
  // 512 x 1024 x 256 on each of eight devices, in FP16: a shard of 1 MiB each, 8 MiB gathered.
  const std::string gather = "name = \"t3\"\nsublayer = \"gemm\"\nm = 512\nn = 1024\nk = 256\n";
  for (const char* map : {"ring-all-gather", "direct-all-gather"}) {
    for (const char* configuration :
         {"sequential", "t3", "t3-mca", "ideal-gemm-rs-overlap", "cu-split", "gemm", "all-gather"}) {
      CAPTURE(map, configuration);
      TestJob one = gemm_job();
      const strategy::Plan plan = one.plan(
          gather + "collective = \"" + map + "\"\nconfiguration = \"" + configuration + "\"", strategy::t3::kind());
      REQUIRE(one.diagnostics.ok());
      CHECK(program::check_program(plan.program, one.machine).empty());
      // Weights 0.5 MiB, input 0.25 MiB, and the gathered array, in which everything comes where it belongs.
      CHECK(program::memory_peak(plan.program, 0).total == (3 << 18) + (8 << 20));
      // No kernel reduces, and none of those that gather moves less than the whole array.
      for (const program::Kernel& kernel : plan.program.kernels) {
        const auto* pass = std::get_if<program::CopyKernel>(&kernel.work);
        if (pass == nullptr) continue;
        CHECK(pass->kind == program::CopyKind::all_gather);
        CHECK(pass->bytes == 8 << 20);
      }
      const std::string name = configuration;
      CHECK(plan.program.kernels.size() == (name == "sequential" || name[0] == 'i' || name[0] == 'c' ? 2 : 1));
    }
  }
  CHECK(problem("collective = \"ring-all-gather\"") ==
        "strategy.toml:2:14: \"ring-all-gather\" gathers results, but those of sub-layer \"fc2\" are partial sums; "
        "\"gemm\" has whole ones");
  for (const char* configuration : {"reduce-scatter", "ideal-rs-nmc"}) {
    TestJob one = gemm_job();
    static_cast<void>(one.plan(gather + "collective = \"ring-all-gather\"\nconfiguration = \"" + configuration + "\"",
                               strategy::t3::kind()));
    CHECK(one.diagnostics.errors() == std::vector<std::string>{std::string("strategy.toml:7:17: \"") + configuration +
                                                               "\" needs a sum, but \"ring-all-gather\" has none"});
  }
}

TEST_CASE("t3: a GEMM whose input is gathered") {
  // 2048 x 256 x 512 on each of eight devices, in FP16: two rows of tiles of A from each, 2 MiB in all.
  const std::string gemm = "name = \"t3\"\nsublayer = \"gemm\"\nm = 2048\nn = 256\nk = 512\n";
  const std::string input = gemm + "collective = \"local\"\ninput = \"ring-all-gather\"\n";
  for (const char* configuration :
       {"sequential", "t3", "t3-mca", "ideal-gemm-rs-overlap", "cu-split", "gemm", "all-gather"}) {
    CAPTURE(configuration);
    TestJob one = gemm_job();
    const strategy::Plan plan = one.plan(input + "configuration = \"" + configuration + "\"", strategy::t3::kind());
    REQUIRE(one.diagnostics.ok());
    CHECK(program::check_program(plan.program, one.machine).empty());
    const std::string name = configuration;
    const bool fused = name[0] == 't';
    const bool two = name == "sequential" || name[0] == 'i' || name[0] == 'c';
    CHECK(plan.program.kernels.size() == (two ? 2 : 1));
    for (const program::Kernel& kernel : plan.program.kernels) {
      const auto* pass = std::get_if<program::CopyKernel>(&kernel.work);
      if (pass != nullptr) CHECK(*pass == program::CopyKernel{2 << 20, program::CopyKind::all_gather});
      if (pass == nullptr) CHECK((std::get<program::GemmKernel>(kernel.work).input_map != 0) == fused);
    }
  }
  // Between an all-gather and a reduce-scatter; one after the other it has a kernel before it and two behind.
  TestJob one = gemm_job();
  const strategy::Plan plan =
      one.plan(gemm + "input = \"ring-all-gather\"\nconfiguration = \"sequential\"", strategy::t3::kind());
  CHECK(plan.program.kernels.size() == 4);

  CHECK(problem("input = \"ring-all-gather\"") ==
        "strategy.toml:2:9: sub-layer \"fc2\" has a part of each row on each device, nothing to gather");
  TestJob uneven = gemm_job();
  static_cast<void>(uneven.plan(input + "tile_m = 256\ntile_n = 64", strategy::t3::kind()));
  CHECK(uneven.diagnostics.ok());
  static_cast<void>(uneven.plan(input + "tile_m = 512\ntile_n = 64", strategy::t3::kind()));
  CHECK(uneven.diagnostics.errors() ==
        std::vector<std::string>{"strategy.toml:7:9: 8 devices cannot share 4 rows of tiles (m / tile_m) evenly"});
  // A program that was not made by the strategy.
  TestJob other = gemm_job();
  program::Program program = other.plan(input, strategy::t3::kind()).program;
  std::get<program::GemmKernel>(program.kernels.at(0).work).shape.m = 1100;
  CHECK(program::check_program(program, other.machine) ==
        std::vector<std::string>{
            "kernel 0 of group [0..7]: 8 members cannot share the 9 rows of tiles of its input evenly"});
}

TEST_CASE("t3: members of a group run the same kernels") {
  TestJob one = job();
  strategy::Plan plan = one.plan("name = \"t3\"", strategy::t3::kind());
  program::Program& program = plan.program;
  // Device 3 does nothing.
  program.devices[3].streams.clear();
  CHECK(program::check_program(program, one.machine) ==
        std::vector<std::string>{"kernels of group [0..7]: device 3 never runs them"});
}

TEST_CASE("t3: what adds updates") {
  for (const auto& [name, reduction] : {std::pair("near-memory", program::Reduction::near_memory),
                                        {"atomics", program::Reduction::atomics},
                                        {"switch", program::Reduction::in_switch}}) {
    TestJob one = job();
    const strategy::Plan plan =
        one.plan(std::string("name = \"t3\"\ncollective = \"direct-reduce-scatter\"\nreduction = \"") + name + "\"",
                 strategy::t3::kind());
    REQUIRE(one.diagnostics.ok());
    CHECK(std::get<program::GemmKernel>(plan.program.kernels.at(0).work).reduction == reduction);
  }
  CHECK(problem("reduction = \"switch\"") ==
        "strategy.toml:2:13: a switch adds what all devices store to one: collective \"direct-reduce-scatter\"");
}
