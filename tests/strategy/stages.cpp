// Stages where the table puts them, what each runs again, and what they lend.
#include <catch2/catch.hpp>

#include "jobs.hpp"
#include "tessera/program/loans.hpp"

namespace tessera::strategy {
namespace {

using program::MemoryCategory;

std::string described(const Plan& plan, const std::string& key) {
  for (const auto& [name, value] : plan.description) {
    if (name == key) return value;
  }
  return "";
}

/// 1 ps a FLOP.
class PerFlop final : public workload::CostModel {
 public:
  Time time(const workload::Operator& op, const machine::DeviceSpec&) const override { return op.flops; }
};

/// A layer per stage on a mesh of 4 x 2 dies.
TestJob job_on_mesh(std::int64_t layers = 4) {
  TestJob job(8, gpt(layers, 512, 8), 8);
  job.machine = program::mesh_of(4, 2);
  job.machine.name = "mesh";
  job.machine.device.memory_bandwidth = BytesPerSecond{1'000'000'000'000};
  job.workload.sequence = 1024;
  job.cost = std::make_shared<PerFlop>();
  return job;
}

const std::string cut_in_four = "tensor = 2\npipeline = 4\nmicro_batch = 1\nsequence_parallel = true\n";

std::string error_of(const std::string& keys, TestJob job = job_on_mesh()) {
  static_cast<void>(job.plan(cut_in_four + keys));
  return job.diagnostics.errors().empty() ? "" : job.diagnostics.errors().front();
}

std::vector<program::DeviceId> group_of_stage(const Plan& plan, program::DeviceId member) {
  const auto group = plan.program.devices[member].groups[0];
  return plan.program.groups[group].members;
}

/// At the peak of the first device of a stage that keeps one micro-batch: the last one.
std::int64_t kept_by_last(const std::string& keys) {
  TestJob job = job_on_mesh();
  const Plan plan = job.plan(cut_in_four + keys);
  REQUIRE(job.diagnostics.errors().empty());
  CHECK(program::check_program(plan.program, job.machine).empty());
  return at_peak(plan.program, 6, MemoryCategory::activations);
}

}  // namespace

TEST_CASE("groups stand in tiles along a path, or where the table lists them") {
  TestJob job = job_on_mesh();
  // Columns of two dies, from the left: 0 and 4, 1 and 5, ...; two dies are a cycle.
  const Plan tiled = job.plan(cut_in_four + "[placement]\ntiles = [\"1x2\"]\n");
  REQUIRE(job.diagnostics.errors().empty());
  CHECK(group_of_stage(tiled, 1) == std::vector<program::DeviceId>{1, 5});
  CHECK(described(tiled, "placement") == "1x2, cycle, serpentine along rows");
  CHECK(tiled.program.devices[5].peers[1] == 6);  // the next stage's tensor rank 1
  // Down the left half and up the right one: 0 1, 4 5, then 6 7 and 2 3.
  const Plan down =
      job.plan(cut_in_four + "[placement]\ntiles = [\"2x1 * 2\", \"2x1\"]\npath = \"serpentine-columns\"\n");
  CHECK(group_of_stage(down, 6) == std::vector<program::DeviceId>{6, 7});
  CHECK(down.program.devices[4].peers[1] == 6);
  CHECK(down.program.devices[7].peers[1] == 3);
  const std::string lists =
      "[[stages]]\ndevices = [5, 4]\n[[stages]]\ndevices = [1, 0]\n[[stages]]\ndevices = [2, 3]\n[[stages]]\n"
      "devices = [7, 6]\n";
  const Plan listed = job.plan(cut_in_four + lists);
  CHECK(group_of_stage(listed, 4) == std::vector<program::DeviceId>{5, 4});
  CHECK(listed.program.devices[4].peers[1] == 0);
  // A tile without a cycle is a snake.
  TestJob wide = job_on_mesh(2);
  const Plan snake = wide.plan("tensor = 4\npipeline = 2\n[placement]\ntiles = [\"4x1\"]\n");
  CHECK(described(snake, "placement") == "4x1, cycle, serpentine along rows; 4x1 has no cycle: a snake");
}

TEST_CASE("the first group that is no rectangle is named, unless the table places it") {
  TestJob job(6, gpt(3, 512, 8), 8);
  job.machine = program::mesh_of(3, 2);
  // Pairs on rows of three: the second one is die (2,0) and die (0,1).
  static_cast<void>(job.plan("tensor = 2\npipeline = 3\n"));
  REQUIRE(job.diagnostics.warnings().size() == 1);
  CHECK(job.diagnostics.warnings()[0].find("die (2,0) to die (0,1) is no rectangle of the mesh") != std::string::npos);
  static_cast<void>(job.plan("tensor = 2\npipeline = 3\n[placement]\ntiles = [\"1x2\"]\n"));
  CHECK(job.diagnostics.warnings().empty());
}

TEST_CASE("on two wafers tiles stand on one or the other, and groups over the joint are named") {
  TestJob job = job_on_mesh(2);
  // Two wafers of 2 x 2 instead of one of 4 x 2: devices 4 to 7 are on the second one.
  job.machine.grid = {2, 2, false, 2};
  for (int device = 0; device < 8; ++device)
    job.machine.places[static_cast<std::size_t>(device)] = {device / 4, device % 2, device / 2 % 2, -1};
  const Plan tiled = job.plan("tensor = 4\npipeline = 2\n[placement]\ntiles = [\"2x2\"]\norder = \"rows\"\n");
  REQUIRE(job.diagnostics.errors().empty());
  CHECK(group_of_stage(tiled, 3) == std::vector<program::DeviceId>{0, 1, 2, 3});
  CHECK(group_of_stage(tiled, 4) == std::vector<program::DeviceId>{4, 5, 6, 7});
  static_cast<void>(job.plan("tensor = 4\npipeline = 2\n[placement]\ntiles = [\"4x1\"]\n"));
  REQUIRE(job.diagnostics.errors().size() == 1);
  CHECK(job.diagnostics.errors()[0] ==
        "strategy.toml:3:1: placement: tile 0 of 2, 4x1, lies beyond the edge of the 2 columns and 2 rows of 2 grids");
  TestJob all = job_on_mesh(1);
  all.machine.grid = job.machine.grid;
  all.machine.places = job.machine.places;
  static_cast<void>(all.plan("tensor = 8\npipeline = 1\n"));
  REQUIRE(all.diagnostics.warnings().size() == 1);
  CHECK(all.diagnostics.warnings()[0].find("die (0,0) of node 0 to die (1,1) of node 1 is no rectangle") !=
        std::string::npos);
}

TEST_CASE("places that do not fit are refused in a line") {
  const std::string where = "strategy.toml:5:1: placement: ";
  CHECK(error_of("[placement]\ntiles = [\"2*2\"]\n") ==
        where + "\"2*2\", allowed: columns x rows such as \"2x2\", and how many of them such as \"2x2 * 12\"");
  CHECK(error_of("[placement]\ntiles = [\"2x2\"]\n") == where + "tile 2x2 has 4 devices, and a group has tensor = 2");
  CHECK(error_of("[placement]\ntiles = [\"1x2 * 3\", \"2x1\"]\n") ==
        where + "tile 3 of 4, 2x1, lies beyond the edge of the 4 columns and 2 rows");
  CHECK(error_of("[placement]\ntiles = []\n[[stages]]\ndevices = [0, 1]\n") ==
        "strategy.toml:7:1: stages: 1 stages, allowed: pipeline = 4");
  const auto stages = [](const std::string& last) {
    return "[[stages]]\ndevices = [0, 1]\n[[stages]]\ndevices = [2, 3]\n[[stages]]\ndevices = [4, 5]\n[[stages]]\n"
           "devices = [" +
           last + "]\n";
  };
  const std::string listed = "strategy.toml:5:1: stages: ";
  CHECK(error_of(stages("6")) == listed + "stage 3 has 1 devices, allowed: tensor 2 x data 1 = 2");
  CHECK(error_of(stages("6, 8")) == listed + "stage 3: there is no device 8, allowed: 0 to 7");
  CHECK(error_of(stages("6, 0")) == listed + "die (0,0) (device 0) is in stage 0 and in stage 3");
  TestJob dead = job_on_mesh(3);
  dead.machine.speed[7] = 0;
  static_cast<void>(
      dead.plan("tensor = 2\npipeline = 3\nspare_devices = \"idle\"\n[[stages]]\ndevices = [0, 1]\n"
                "[[stages]]\ndevices = [2, 3]\n[[stages]]\ndevices = [6, 7]\n"));
  REQUIRE(dead.diagnostics.errors().size() == 1);
  CHECK(dead.diagnostics.errors()[0] == "strategy.toml:4:1: stages: die (3,1) (device 7) of stage 2 is dead");
  TestJob cluster(8, gpt(4, 512, 8), 8);
  static_cast<void>(cluster.plan(cut_in_four + "[placement]\ntiles = [\"1x2\"]\n"));
  CHECK(cluster.diagnostics.errors().front() ==
        where + "machine test machine is no mesh or torus: stages.devices says where stages stand");
}

TEST_CASE("what runs again is a set of sections, for all stages or for one") {
  // Of 1,024 tokens of width 512 in 2 B, cut over 2 ranks: a unit is 512 KiB. A layer keeps, in units: norm 1 and its
  // input as qkv's 1, Q, K and V 3, statistics and scores of the core, the projection's input 1, masks 1/2, mlp norm 1,
  // fc1's input 1, the activation's 4 and fc2's 4.
  const std::int64_t unit = 512 << 10;
  const std::int64_t none = kept_by_last("");
  CHECK(none - kept_by_last("recomputed_sections = [\"activation\"]\n") == 4 * unit);
  CHECK(none - kept_by_last("recomputed_sections = [\"fc1\"]\n") == 4 * unit);
  // Both: what fc1 and the activation make; fc1's input stays.
  CHECK(none - kept_by_last("recomputed_sections = [\"fc1\", \"activation\"]\n") == 8 * unit);
  CHECK(none - kept_by_last("recomputed_sections = [\"mlp_norm\", \"fc1\", \"activation\"]\n") == 9 * unit);
  // Names are those of `recomputation`, and one stage may have its own.
  CHECK(kept_by_last("recomputed_sections = [\"full\"]\n") == kept_by_last("recomputation = \"full\"\n"));
  CHECK(kept_by_last("recomputed_sections = [\"selective\"]\n") == kept_by_last("recomputation = \"selective\"\n"));
  const std::string own =
      "[[stages]]\n[[stages]]\nrecomputation = [\"full\"]\n[[stages]]\n[[stages]]\nrecomputation = [\"fc1\"]\n";
  CHECK(kept_by_last("recomputed_sections = [\"activation\"]\n" + own) ==
        kept_by_last("recomputed_sections = [\"fc1\"]\n"));
  TestJob job = job_on_mesh();
  CHECK(described(job.plan(cut_in_four + own), "recomputation") == "none x 1; full x 1; none x 1; fc1 x 1");
}

TEST_CASE("sets that cannot run again are refused in a line") {
  const std::string where = "strategy.toml:5:23: recomputed_sections: ";
  CHECK(error_of("recomputed_sections = [\"fc3\"]\n")
            .starts_with(where +
                         "unknown section of a layer \"fc3\" (did you mean \"fc1\"?), allowed: attention_norm, qkv, "));
  CHECK(error_of("recomputed_sections = [\"attention_residual\"]\n") ==
        where + "attention_residual runs again along with projection, whose output it adds");
  CHECK(error_of("recomputed_sections = [\"mlp_residual\"]\n") ==
        where + "mlp_residual runs again along with fc2, whose output it adds");
  CHECK(error_of("recomputed_sections = [\"fc1\"]\nrecomputation = \"full\"\n") ==
        where + "\"recomputation\" is given as well, allowed: one of them");
  TestJob experts(8, mixture(4, 4), 8);
  static_cast<void>(experts.plan("pipeline = 2\nrecomputed_sections = [\"fc1\"]\n"));
  CHECK(experts.diagnostics.errors().front() ==
        "strategy.toml:2:23: recomputed_sections: the experts of a MoE layer run together: router, dispatch, fc1, "
        "activation, fc2 and combine, or none of them");
}

TEST_CASE("a stage lends what it keeps to the nearest devices of another one") {
  TestJob job = job_on_mesh();
  // Stages from left to right: columns of the mesh. Stage 0 keeps four micro-batches, and lends fc2's input, 4 units.
  const Plan plan =
      job.plan(cut_in_four + "[placement]\ntiles = [\"1x2\"]\n[[loans]]\nfrom = 0\nto = 3\ntensors = [\"fc2\"]\n");
  REQUIRE(job.diagnostics.errors().empty());
  CHECK(program::check_program(plan.program, job.machine).empty());
  const std::int64_t unit = 512 << 10;
  const auto offloaded = static_cast<MemoryCategory>(program::memory_category_count);
  CHECK(name_of(plan.program, offloaded) == "offloaded");
  CHECK(at_peak(plan.program, 3, offloaded) == 4 * 4 * unit);
  CHECK(plan.program.devices[4].peers[2] == 7);  // along the row, 3 hops, and not to die (3,0)
  CHECK(plan.program.devices[7].peers[2] == 4);
  CHECK(described(plan, "lent in all") == "33.6 MB, and as much back");  // 2 MiB, 8 micro-batches, 2 devices
  REQUIRE(plan.tables.size() == 3);
  CHECK(plan.tables[2].name == "loans");
  CHECK(plan.tables[2].values<std::int32_t>("hops") == std::vector<std::int32_t>{3, 3});
}

TEST_CASE("devices of a stage lend to those that are listed, die by die") {
  TestJob job = job_on_mesh();
  // Stage 0 are dies 0 and 4, stage 3 dies 3 and 7. Crossed; and die 4 alone lends once more, to die 7.
  const Plan plan = job.plan(cut_in_four +
                             "[placement]\ntiles = [\"1x2\"]\n"
                             "[[loans]]\nfrom = 0\nto = 3\nbytes = \"1000 B\"\nlenders = [4, 0]\nhelpers = [3, 7]\n"
                             "[[loans]]\nfrom = 0\nto = 3\nbytes = \"200 B\"\nlenders = [4]\nhelpers = [7]\n");
  REQUIRE(job.diagnostics.errors().empty());
  CHECK(program::check_program(plan.program, job.machine).empty());
  CHECK(plan.program.devices[4].peers[2] == 3);
  CHECK(plan.program.devices[3].peers[2] == 4);
  CHECK(plan.program.devices[0].peers[2] == 7);
  CHECK(plan.program.devices[4].peers[3] == 7);
  CHECK(plan.program.devices[0].peers[3] == program::no_device);
  // Stage 0 has four micro-batches under way: die 3 holds 4 x 1000 B, die 7 also 4 x 200 B.
  const auto offloaded = static_cast<MemoryCategory>(program::memory_category_count);
  CHECK(at_peak(plan.program, 3, offloaded) == 4 * 1000);
  CHECK(at_peak(plan.program, 7, offloaded) == 4 * 1000 + 4 * 200);
  CHECK(described(plan, "lent in all") == "17.6 kB, and as much back");  // 8 micro-batches of 2 x 1000 B + 200 B
  CHECK(plan.tables[1].values<std::int64_t>("lent_bytes") == std::vector<std::int64_t>{1200, 0, 0, 0});
  CHECK(plan.tables[1].values<std::int64_t>("room_bytes") == std::vector<std::int64_t>{0, 0, 0, 4800});
}

TEST_CASE("loans that cannot be are refused in a line") {
  const auto loan = [](const std::string& keys) { return "[[loans]]\n" + keys; };
  const std::string where = "strategy.toml:5:1: loan 0 of 1: ";
  // Two dies a stage, in order: 2 and 3 are stage 1, 6 and 7 stage 3.
  const auto by_die = [&](const std::string& keys) { return error_of(loan("from = 1\nto = 3\n") + keys); };
  CHECK(by_die("lenders = [2, 3]\nhelpers = [6]\n") ==
        where + "it lists 2 lenders and 1 helpers, allowed: a helper for each lender");
  CHECK(by_die("lenders = [1]\nhelpers = [6]\n") == where + "device 1 is none of stage 1");
  CHECK(by_die("lenders = [2]\nhelpers = [99]\n") == where + "device 99 is none of stage 3");
  CHECK(by_die("lenders = [2, 2]\nhelpers = [6, 7]\n") == where + "device 2 lends twice");
  CHECK(by_die("lenders = [2, 3]\nhelpers = [6, 6]\n") == where + "device 6 holds twice, allowed: in another loan");
  CHECK(error_of(loan("from = 1\nto = 3\nbytes = \"3 MB\"\nlenders = [3]\nhelpers = [6]\n") +
                 loan("from = 1\nto = 3\nbytes = \"3 GB\"\nlenders = [2]\nhelpers = [6]\n"))
            .starts_with("strategy.toml:5:1: loan 1 of 2: stage 1 is to lend 3.00 GB of a micro-batch, and keeps "));
  CHECK(error_of(loan("from = 1\nto = 1\n")) == where + "stage 1 lends to itself");
  CHECK(error_of(loan("from = 1\nto = 4\n")) == where + "there is no stage 4, allowed: 0 to 3");
  CHECK(error_of(loan("from = 1\n")).find("the machine has no host") != std::string::npos);
  CHECK(error_of(loan("from = 1\nto = 3\nbytes = \"1 GB\"\n"))
            .starts_with(where + "stage 1 is to lend 1.00 GB of a micro-batch, and keeps "));
  CHECK(error_of(loan("from = 1\nto = 3\ntensors = [\"combine\"]\n")) ==
        where + "stage 1 is to lend 0 B of a micro-batch, and keeps 0 B of these tensors that are not lent already");
  CHECK(error_of(loan("from = 0\nto = 3\n") + loan("from = 0\nto = 2\ntensors = [\"qkv\"]\n")) ==
        "strategy.toml:5:1: loan 1 of 2: stage 0 is to lend 0 B of a micro-batch, and keeps 0 B of these tensors that "
        "are not lent already");
  CHECK(error_of("interleave = 1\n" + loan("from = 0\nto = 3\ntensors = [\"x\"]\n"))
            .find("unknown section of a layer \"x\"") != std::string::npos);
  TestJob chunks = job_on_mesh(8);
  static_cast<void>(chunks.plan(cut_in_four + "interleave = 2\n" + loan("from = 0\nto = 3\n")));
  CHECK(chunks.diagnostics.errors().front() == "strategy.toml:6:1: loans are of stages with one chunk: interleave = 1");
}

TEST_CASE("what goes between stages takes ways that are given, or those whose links are used least") {
  // Columns of two dies from the left to the right. Stage 0 lends to stage 2: die (0,0) to die (2,0).
  const std::string loans = "[placement]\ntiles = [\"1x2\"]\n[[loans]]\nfrom = 0\nto = 2\nbytes = \"100 kB\"\n";
  const auto way = [](const std::string& what, const std::string& through, int to = 2) {
    return "[[ways]]\nfrom = 0\nto = " + std::to_string(to) + "\nwhat = \"" + what + "\"\nthrough = " + through + "\n";
  };
  TestJob job = job_on_mesh();
  const Plan given = job.plan(cut_in_four + loans + way("loans", "[4, 5, 6]"));
  REQUIRE(job.diagnostics.errors().empty());
  CHECK(program::check_program(given.program, job.machine).empty());
  REQUIRE(given.program.ways.size() == 1);
  CHECK(given.program.ways[0].links.size() == 4);
  CHECK(given.program.ways[0].connection.channel == 3);
  // By the rule: 3 x 2 activations and as many gradients, 2 loans there and back; the loans, which are largest, first.
  const Plan ruled = job.plan(cut_in_four + "routes = \"unused-first\"\n" + loans);
  REQUIRE(job.diagnostics.errors().empty());
  CHECK(program::check_program(ruled.program, job.machine).empty());
  CHECK(ruled.program.ways.size() == 12 + 4);
  CHECK(described(ruled, "routes") == "unused first");
  const std::string where = "strategy.toml:11:1: ways: ";
  const auto error = [&](const std::string& text) { return error_of(loans + text); };
  CHECK(error(way("loans", "[5]")) ==
        where + "loans from device 0 to device 2: there is no link from die (0,0) to die (1,1)");
  CHECK(error(way("loans", "[1, 1]")) == where + "loans from device 0 to device 2: device 1 stands twice on it");
  CHECK(error(way("loans", "[8]")) == where + "loans from device 0 to device 2: there is no device 8, allowed: 0 to 7");
  CHECK(error(way("returns", "[1]")) ==
        where + "returns from device 0 to device 2: nothing of that kind is sent there");
  CHECK(error(way("activations", "[]", 1) + way("activations", "[]", 1)) ==
        where + "activations from device 0 to device 1: it is given twice");
  CHECK(error_of("routes = \"unused-first\"\n" + way("activations", "[]", 1)) ==
        "strategy.toml:6:1: ways: routes = \"unused-first\" chooses all of them, allowed: one of the two");
}

}  // namespace tessera::strategy
