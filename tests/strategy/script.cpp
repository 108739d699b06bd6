// Scripts: what they turn into, and what is refused where.
#include <catch2/catch.hpp>

#include "jobs.hpp"
#include "program/machines.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/strategy/script/script.hpp"

namespace tessera::strategy {
namespace {

using program::DeviceId;
using program::Op;
using Texts = std::vector<std::string>;

/// A script on a machine of 8 devices in two nodes.
struct Scripted {
  machine::Machine machine = program::nodes_of(8, 4);
  Workload workload;
  config::Diagnostics diagnostics;
  Plan plan;

  explicit Scripted(const std::string& text, machine::Machine on = program::nodes_of(8, 4)) : machine(std::move(on)) {
    machine.device.name = "test gpu";
    machine.device.memory_bandwidth = BytesPerSecond{1'000'000'000'000};
    machine.device.peak["fp16"] = FlopPerSecond{1'000'000'000'000};
    const auto table = config::parse_toml(text, "s.toml", diagnostics);
    TestJob job(8, {}, 1);
    const program::search::Evaluations evaluations = job.evaluations();
    const Job own{machine, workload, *job.cost, job.collectives, evaluations};
    static_cast<void>(script::kind().check(*table, own, diagnostics));
    if (diagnostics.ok()) plan = script::kind().program(*table, own);
  }
  [[nodiscard]] const program::Program& program() const { return plan.program; }
  [[nodiscard]] const std::vector<program::Instruction>& code(DeviceId device, std::size_t stream = 0) const {
    return program().blocks.at(program().devices[device].streams.at(stream)).code;
  }
  [[nodiscard]] Texts problems() const { return program::check_program(program(), machine); }
};

Texts errors_of(const std::string& text) { return Scripted(text).diagnostics.errors(); }

}  // namespace

TEST_CASE("a repeated collective is stored once and called") {
  const Scripted script(R"(
[[step]]
op = "all-reduce"
group = "all"
bytes = "24 MB"
repeat = 2000
)");
  REQUIRE(script.diagnostics.errors() == Texts{});
  CHECK(script.problems() == Texts{});
  REQUIRE(script.code(5).size() == 1);
  CHECK(script.code(5)[0].op == Op::call);
  CHECK(script.code(5)[0].count == 2000);
  CHECK(script.program().blocks.size() == 2);
  // Two nodes of four GPUs with a NIC each: four rings of 14 steps.
  CHECK(program::totals(script.program(), script.machine, 5).messages == 2000 * 4 * 14);
  CHECK(script.program().collectives[0].algorithm == program::algorithm_index("ring"));
}

TEST_CASE("groups are cut from a list: neighbours, or members that stand apart") {
  const Scripted script(R"(
[[group]]
name = "tensor"
devices = "0-7"
size = 4
[[group]]
name = "data"
devices = "all"
size = 2
stride = 4
[[group]]
name = "ends"
devices = [7, 0]
[[step]]
op = "all-gather"
group = "data"
bytes = "1 MB"
algorithm = "direct"
[[step]]
op = "broadcast"
group = "ends"
bytes = "1 kB"
root = 1
)");
  REQUIRE(script.diagnostics.errors() == Texts{});
  CHECK(script.problems() == Texts{});
  const auto& groups = script.program().groups;
  REQUIRE(groups.size() == 1 + 2 + 4 + 1);
  CHECK(groups[1].members == std::vector<DeviceId>{0, 1, 2, 3});
  CHECK(groups[2].members == std::vector<DeviceId>{4, 5, 6, 7});
  CHECK(groups[3].members == std::vector<DeviceId>{0, 4});
  CHECK(groups[6].members == std::vector<DeviceId>{3, 7});
  CHECK(groups[7].members == std::vector<DeviceId>{7, 0});
  CHECK(script.code(7).size() == 2);
  CHECK(script.code(3).size() == 1);
}

TEST_CASE("messages to a fixed device and to neighbours in a list") {
  const Scripted script(R"(
[[step]]
op = "send"
devices = "0-7"
shift = -1
bytes = "1 MB"
channel = 3
[[step]]
op = "receive"
devices = "0-7"
shift = 1
bytes = "1 MB"
channel = 3
[[step]]
op = "send"
devices = [2]
peer = 6
bytes = "10 B"
[[step]]
op = "receive"
devices = [6]
peer = 2
bytes = "10 B"
)");
  REQUIRE(script.diagnostics.errors() == Texts{});
  CHECK(script.problems() == Texts{});
  CHECK(script.program().devices[0].peers[0] == 7);
  CHECK(script.program().devices[7].peers[1] == 0);
  CHECK(script.code(0).size() == 2);
  CHECK(script.code(2).size() == 3);
}

TEST_CASE("blocks, streams, events and memory") {
  const Scripted script(R"(
[[block]]
name = "layer"
[[block.step]]
op = "gemm"
m = 128
n = 256
k = 512
[[block.step]]
op = "compute"
read = "2 MB"
write = "1 MB"
label = "norm"
repeat = 3
activity = "backward"
[[block.step]]
op = "signal"
devices = "0-3"

[[block]]
name = "pass"
[[block.step]]
op = "run"
block = "layer"
repeat = 10

[[step]]
op = "allocate"
bytes = "1 GiB"
memory = "weights"
[[step]]
op = "run"
block = "pass"
repeat = 4
[[step]]
op = "wait"
devices = "0-3"
count = 40
stream = 2
[[step]]
op = "compute"
flops = 2e9
[[step]]
op = "release"
bytes = "1 GiB"
memory = "weights"
)");
  REQUIRE(script.diagnostics.errors() == Texts{});
  CHECK(script.problems() == Texts{});
  CHECK(script.program().devices[0].streams.size() == 3);
  CHECK(script.program().devices[0].events == 1);
  CHECK(script.program().devices[4].streams.size() == 1);
  // Two classes of devices, and nothing else, tell their code apart.
  CHECK(script.program().devices[1].streams == script.program().devices[2].streams);
  CHECK(script.program().devices[4].streams == script.program().devices[7].streams);
  const std::int64_t gemm = 2 * 128 * 256 * 512;
  CHECK(program::totals(script.program(), script.machine, 4).flops == 40 * gemm + 2'000'000'000);
  CHECK(script.plan.hardware_flops == 8.0 * static_cast<double>(40 * gemm + 2'000'000'000));
  CHECK(program::memory_peak(script.program(), 4).total == std::int64_t{1} << 30);
  // A square GEMM of 2 GFLOP has sides of 1000.
  const auto square = script.program().operators.back();
  CHECK(square.m == 1000);
  CHECK(square.bytes_read == 2 * 2 * 1000 * 1000);
}

TEST_CASE("a member may be kept from joining: that is for the check of programs") {
  const Scripted script(R"(
[[step]]
op = "all-reduce"
group = "all"
bytes = "4 MB"
devices = "0-4, 6-7"
)");
  REQUIRE(script.diagnostics.errors() == Texts{});
  CHECK(script.problems() == Texts{"all-reduce of group [0..7]: device 5 never joins"});
}

TEST_CASE("groups that overlap, do not divide, or name devices that are not there") {
  CHECK(errors_of("[[group]]\nname = \"rows\"\ndevices = \"0-3\"\n"
                  "[[group]]\nname = \"rows\"\ndevices = \"3-6\"\n"
                  "[[step]]\nop = \"wait-sends\"\n") ==
        Texts{"s.toml:6:11: groups overlap: device 3 is in another group \"rows\" already"});
  CHECK(errors_of("[[group]]\nname = \"a\"\ndevices = \"0-6\"\nsize = 4\n[[step]]\nop = \"wait-sends\"\n") ==
        Texts{"s.toml:3:11: 7 devices do not divide into groups of 4 with stride 1"});
  CHECK(errors_of("[[group]]\nname = \"a\"\ndevices = \"6-9\"\n[[step]]\nop = \"wait-sends\"\n") ==
        Texts{"s.toml:3:11: device 8 does not exist, the machine has 0 to 7"});
  CHECK(errors_of("[[group]]\nname = \"a\"\ndevices = [1, 2, 1]\n[[step]]\nop = \"wait-sends\"\n") ==
        Texts{"s.toml:3:11: device 1 is listed more than once"});
  for (const char* list : {"\"x\"", "\"3-1\"", "\"\"", "[]", "[\"a\"]", "1.5", "\"0-7/0\"", "\"1,\""}) {
    const Texts errors = errors_of(std::string("[[step]]\nop = \"wait-sends\"\ndevices = ") + list + "\n");
    INFO(list);
    if (std::string(list) == "\"1,\"") {
      CHECK(errors == Texts{});
      continue;
    }
    REQUIRE(errors.size() == 1);
    CHECK_THAT(errors[0], Catch::StartsWith("s.toml:3:11: \"devices\": expected"));
  }
}

TEST_CASE("names that are not defined") {
  CHECK(errors_of("[[group]]\nname = \"rows\"\ndevices = \"0-3\"\n"
                  "[[step]]\nop = \"all-reduce\"\ngroup = \"row\"\nbytes = \"1 MB\"\n") ==
        Texts{"s.toml:6:9: no group \"row\" (did you mean \"rows\"?), defined: all, rows"});
  CHECK(errors_of("[[step]]\nop = \"run\"\nblock = \"layer\"\n"
                  "[[block]]\nname = \"layers\"\n[[block.step]]\nop = \"wait-sends\"\n") ==
        Texts{"s.toml:3:9: no block \"layer\" is defined above (did you mean \"layers\"?)"});
  // A block cannot run itself.
  CHECK(errors_of(
            "[[step]]\nop = \"wait-sends\"\n[[block]]\nname = \"a\"\n[[block.step]]\nop = \"run\"\nblock = \"a\"\n") ==
        Texts{"s.toml:7:9: no block \"a\" is defined above"});
  CHECK(errors_of("[[step]]\nop = \"all-reduse\"\ngroup = \"all\"\nbytes = \"1 MB\"\n").size() == 1);
}

TEST_CASE("keys that an op does not take, or lacks") {
  CHECK(errors_of("[[step]]\nop = \"send\"\npeer = 1\n") == Texts{"s.toml:1:1: op \"send\" needs \"bytes\""});
  CHECK(errors_of("[[step]]\nop = \"send\"\nbytes = \"1 MB\"\n") ==
        Texts{"s.toml:1:1: op \"send\" needs \"peer\" (a device) or \"shift\" (places further)"});
  CHECK(errors_of("[[step]]\nop = \"send\"\nbytes = \"1 MB\"\npeer = 1\nshift = 1\n") ==
        Texts{"s.toml:5:1: \"shift\" beside \"peer\": only one of them is allowed"});
  CHECK(
      errors_of("[[step]]\nop = \"allocate\"\nbytes = \"1 MB\"\ngroup = \"all\"\n") ==
      Texts{
          "s.toml:4:1: op \"allocate\" takes no \"group\", allowed: bytes, memory, op, devices, stream, repeat, label, "
          "activity"});
  CHECK(errors_of("[[step]]\nop = \"compute\"\n") ==
        Texts{"s.toml:1:1: op \"compute\" needs \"flops\", \"read\" or \"write\", or \"time\""});
  CHECK(errors_of("[[step]]\nop = \"compute\"\ntime = \"1 us\"\nread = \"1 MB\"\n") ==
        Texts{"s.toml:3:1: \"time\" beside \"flops\", \"read\" or \"write\": only one says how long it takes"});
  CHECK(errors_of("[[step]]\nop = \"compute\"\ntime = \"1 us\"\n").empty());
  CHECK(errors_of("[[step]]\nop = \"send\"\nbytes = \"1 MB\"\npeer = 8\n") ==
        Texts{"s.toml:4:8: device 8 does not exist, the machine has 0 to 7"});
}

TEST_CASE("collectives that do not fit") {
  CHECK(
      errors_of("[[step]]\nop = \"all-gather\"\ngroup = \"all\"\nbytes = \"1 MB\"\nalgorithm = \"binomial-tree\"\n") ==
      Texts{"s.toml:5:13: algorithm \"binomial-tree\" has no all-gather, allowed: ring, bidirectional-ring, direct, "
            "halving-doubling, hierarchical, mesh, mesh-scatter, torus, ring-bi-odd, multitree, synthesised, auto"});
  CHECK(errors_of("[[step]]\nop = \"all-reduce\"\ngroup = \"all\"\nbytes = \"3 B\"\n") ==
        Texts{"s.toml:1:1: all-reduce of group \"all\": 3 bytes are not a whole number of elements of 2 bytes"});
  CHECK(errors_of("[[group]]\nname = \"g\"\ndevices = \"0-2\"\n"
                  "[[step]]\nop = \"all-reduce\"\ngroup = \"g\"\nbytes = \"4 B\"\ndevices = \"0-3\"\n") ==
        Texts{"s.toml:8:11: device 3 is in no group \"g\""});
}

TEST_CASE("work that the device cannot do") {
  CHECK(errors_of("[[step]]\nop = \"gemm\"\nm = 1\nn = 1\nk = 1\ndatatype = \"fp8\"\n") ==
        Texts{"s.toml:6:12: test gpu has no peak for \"fp8\", it has fp16"});
  CHECK(errors_of("[[step]]\nop = \"gemm\"\nm = 1000000000\nn = 1000000000\nk = 1000000000\n") ==
        Texts{"s.toml:1:1: a gemm of more than 1e18 FLOP"});
}

TEST_CASE("dead devices are left out of \"all\"") {
  machine::Machine machine = program::nodes_of(8, 4);
  machine.speed[3] = 0;
  const Scripted script("[[step]]\nop = \"all-reduce\"\ngroup = \"all\"\nbytes = \"4 MB\"\n", machine);
  REQUIRE(script.diagnostics.errors() == Texts{});
  CHECK(script.problems() == Texts{});
  CHECK(script.program().groups[0].members.size() == 7);
  CHECK(script.program().devices[3].streams.empty());
}

}  // namespace tessera::strategy
