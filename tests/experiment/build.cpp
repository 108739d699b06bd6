#include <algorithm>
#include <catch2/catch.hpp>

#include "files.hpp"
#include "support/source_folder.hpp"
#include "tessera/base/error.hpp"
#include "tessera/experiment/experiment.hpp"

using namespace tessera;
using namespace tessera::experiment;
using tessera::test::Folder;

namespace {

using Lines = std::vector<std::string>;

const std::string machine_text = R"([machine]
name = "ring"
device.name = "gpu"
device.peak.fp16 = "100 TFLOP/s"
device.memory_bandwidth = "1 TB/s"
device.memory_capacity = "40 GB"
topology.kind = "ring"
topology.devices = 4
topology.bandwidth = "100 GB/s"
topology.latency = "500 ns"
)";

const std::string model_text = R"([model]
name = "tiny"
layers = 2
hidden = 64
heads = 4
vocabulary = 128
max_positions = 32
)";

const std::string strategy_text = R"([strategy]
name = "megatron"
tensor = 2
)";

struct Built {
  std::unique_ptr<Experiment> experiment;
  Lines errors, warnings;
};

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Built built(const std::string& text) {
  Folder folder;
  folder.write("x.toml", text);
  config::Diagnostics diagnostics;
  const Source source = load(folder.path("x.toml"), {}, {}, diagnostics);
  Built result{build(*source.table, diagnostics), diagnostics.errors(), diagnostics.warnings()};
  const std::string prefix = folder.path("");
  for (Lines* lines : {&result.errors, &result.warnings}) {
    for (std::string& line : *lines) {
      for (std::size_t at = line.find(prefix); at != std::string::npos; at = line.find(prefix))
        line.erase(at, prefix.size());
    }
  }
  return result;
}

}  // namespace

TEST_CASE("an experiment becomes typed parts") {
  const Built b = built("title = \"t\"\n" + machine_text + model_text + strategy_text +
                        "[workload]\nsequence = 16\nglobal_batch = 8\n[simulation]\nseed = 3\npartition = \"block\"\n"
                        "[record]\ntimeline = true\n[collectives]\nall_reduce = \"direct\"\n");
  REQUIRE(b.errors == Lines{});
  const Experiment& e = *b.experiment;
  CHECK(e.title == "t");
  CHECK(e.machine.devices() == 4);
  CHECK(e.machine.device.memory_capacity.value() == 40'000'000'000);
  REQUIRE(e.model);
  CHECK(e.model->layers == 2);
  CHECK(e.model->kv_heads == 4);
  CHECK(e.workload.sequence == 16);
  CHECK(e.strategy.name == "megatron");
  CHECK(e.simulation.seed == 3);
  CHECK(e.simulation.partition == "block");
  CHECK(e.record.timeline);
  CHECK_FALSE(e.record.memory_timeline);
  CHECK(e.collectives.all_reduce == "direct");
  CHECK(e.cost != nullptr);
  CHECK(e.plan.program.devices.size() == 4);
  // One iteration is 8 sequences of 16 tokens.
  CHECK(e.plan.tokens == 128);
}

TEST_CASE("what the parts say is reported together, in the order of the file") {
  const Built b = built("[simulation]\nseed = -1\n" + machine_text + "fault = 3\n" + model_text + "layers_ = 3\n" +
                        strategy_text + "tensro = 2\n[workload]\nsequence = 0\n");
  REQUIRE(b.errors.size() == 5);
  CHECK(b.errors[0] == "x.toml:2:8: \"seed\": -1 is out of range, allowed: at least 0");
  CHECK(b.errors[1] == "x.toml:13:9: \"fault\": a whole number is not allowed here, expected tables [[machine.fault]]");
  CHECK(b.errors[2] == "x.toml:21:1: unknown key \"layers_\" in [model], did you mean \"layers\"?");
  CHECK(b.errors[3] == "x.toml:25:1: unknown key \"tensro\" in [strategy.megatron], did you mean \"tensor\"?");
  CHECK(b.errors[4] == "x.toml:27:12: \"sequence\": 0 is out of range, allowed: 1 to 16777216");
}

TEST_CASE("missing parts are named") {
  CHECK(built("").errors ==
        Lines{"x.toml:1:1: missing key \"machine\", expected the name of a machine or a table [machine]",
              "x.toml:1:1: missing key \"strategy\", expected a table [strategy]"});
  CHECK(built(machine_text + strategy_text).errors ==
        Lines{"x.toml:1:1: missing key \"model\": strategy \"megatron\" needs one, "
              "expected the name of a model or a table [model]"});
  CHECK(built(machine_text + model_text + "[strategy]\nname = 3\n").errors.size() == 1);
}

TEST_CASE("a sliding window that no sequence exceeds changes nothing, a shorter one leaves out what it hides") {
  const std::string job = machine_text + strategy_text + "[workload]\nglobal_batch = 2\nsequence = 32\n";
  const auto model = [](const std::string& window) { return model_text + window; };
  const Built whole = built(job + model(""));
  const Built equal = built(job + model("sliding_window = 32\n"));
  CHECK(equal.errors == Lines{});
  CHECK(equal.experiment->plan.model_flops == whole.experiment->plan.model_flops);
  CHECK(equal.experiment->plan.program.operators == whole.experiment->plan.program.operators);
  const Built shorter = built(job + model("sliding_window = 31\n"));
  CHECK(shorter.errors == Lines{});
  CHECK(shorter.experiment->plan.model_flops < whole.experiment->plan.model_flops);
}

TEST_CASE("keys that change nothing in a phase warn where they are given, and not in the resolved text") {
  const std::string job = machine_text + model_text + "[workload]\nsequence = 16\n";
  CHECK(built(job + "generated = 4\n" + strategy_text).warnings ==
        Lines{"x.toml:20:13: generated has no effect outside generation"});
  CHECK(built(job + strategy_text).warnings == Lines{});
  const Built generation =
      built(job + "phase = \"generation\"\ngenerated = 4\n" + strategy_text + "distributed_optimizer = true\n");
  CHECK(generation.warnings == Lines{"x.toml:25:25: distributed_optimizer has no effect outside training"});
}

TEST_CASE("an experiment without a title is called after its file, in its resolved text too") {
  CHECK(built(machine_text + model_text + strategy_text).experiment->title == "x");
  CHECK(built("title = \"\"\n" + machine_text + model_text + strategy_text).experiment->title == "x");
  Folder folder;
  folder.write("first.toml", machine_text + model_text + strategy_text);
  config::Diagnostics diagnostics;
  const std::string resolved = config::to_toml(*load(folder.path("first.toml"), {}, {}, diagnostics).table);
  folder.write("second.toml", resolved);
  CHECK(config::to_toml(*load(folder.path("second.toml"), {}, {}, diagnostics).table) == resolved);
}

TEST_CASE("every parameter of every layer is documented, and its default passes its own checks") {
  for (const config::SchemaPointer& schema : schemas()) {
    INFO(schema->path());
    CHECK_FALSE(schema->help().empty());
    for (const auto& parameter : schema->parameters()) {
      INFO(parameter.name);
      CHECK_FALSE(parameter.help.empty());
    }
    // A table with nothing but the defaults: whatever is wrong with it is that something is missing.
    config::Table table;
    schema->complete(table);
    config::Diagnostics diagnostics;
    schema->check(table, diagnostics);
    for (const std::string& error : diagnostics.errors()) CHECK_THAT(error, Catch::StartsWith("missing key"));
  }
}

TEST_CASE("no two sections of help share a path") {
  std::vector<std::string> paths;
  for (const config::SchemaPointer& schema : schemas()) paths.push_back(schema->path());
  CHECK(std::is_sorted(paths.begin(), paths.end()));
  CHECK(std::adjacent_find(paths.begin(), paths.end()) == paths.end());
}

TEST_CASE("every experiment that comes along builds, and its resolved text gives the same plan") {
  namespace fs = std::filesystem;
  const fs::path inputs = fs::path(test::source_folder()) / "inputs";
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(inputs / "experiments")) {
    if (entry.path().extension() != ".toml") continue;
    INFO(entry.path().string());
    config::Diagnostics diagnostics;
    const auto file = config::parse_toml(read(entry.path()), entry.path().string(), diagnostics);
    if (file->entries().size() == 1 && file->find("machine") != nullptr) continue;  // a machine for those beside it
    ++count;
    // Plans are searched here, and not simulated: that takes minutes on a wafer.
    const bool searched = entry.path().parent_path().filename() == "primepar";
    const std::vector<Setting> settings(searched ? 1 : 0, parse_setting("strategy.simulated=0"));
    const Source source = load(entry.path().string(), settings, {inputs}, diagnostics);
    const auto first = build(*source.table, diagnostics);
    REQUIRE(diagnostics.errors() == Lines{});
    CHECK(diagnostics.warnings() == Lines{});
    // This is how the ranks above 0 build.
    const auto table = config::parse_toml(config::to_toml(*source.table), "resolved experiment", diagnostics);
    const auto second = build(*table, diagnostics);
    REQUIRE(diagnostics.errors() == Lines{});
    CHECK(first->plan.description == second->plan.description);
    CHECK(first->plan.hardware_flops == second->plan.hardware_flops);
    CHECK(first->plan.program.blocks.size() == second->plan.program.blocks.size());
    CHECK(first->plan.program.operators == second->plan.program.operators);
    CHECK(first->machine.network.links.size() == second->machine.network.links.size());
  }
  CHECK(count > 0);
}
