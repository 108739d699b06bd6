// Files that a strategy names, and models that are graphs.
#include <algorithm>
#include <catch2/catch.hpp>

#include "files.hpp"
#include "tessera/base/error.hpp"
#include "tessera/experiment/run.hpp"

using namespace tessera;
using namespace tessera::experiment;
using tessera::test::Folder;

namespace {

using Lines = std::vector<std::string>;

struct ProbeOptions {
  std::string table, other;
};

const config::Schema<ProbeOptions>& probe_schema() {
  static const config::Schema<ProbeOptions> schema = [] {
    config::Schema<ProbeOptions> s("strategy.probe", "Says what it was given.");
    s.also_accept("name", "\"probe\"");
    s.text("table", &ProbeOptions::table, "a file").names_file().otherwise("");
    s.text("other", &ProbeOptions::other, "no file").otherwise("");
    return s;
  }();
  return schema;
}

/// A plan that has the file's content in its description.
strategy::Plan probe_plan(const config::Table&, const strategy::Job& job) {
  strategy::Plan plan;
  plan.program = strategy::empty_program(job);
  const strategy::Attachment* file = job.file("table");
  plan.description = {{"table", file == nullptr ? "none" : file->content},
                      {"nodes", job.graph == nullptr ? "none" : std::to_string(job.graph->nodes.size())}};
  return plan;
}

strategy::Strategies with_probe() {
  strategy::StrategyKind probe;
  probe.name = "probe";
  probe.help = "for tests";
  probe.needs_model = false;
  probe.schema = []() -> const config::SchemaBase& { return probe_schema(); };
  probe.check = [](const config::Table& table, const strategy::Job&, config::Diagnostics& diagnostics) {
    probe_schema().check(table, diagnostics);
    return std::string();
  };
  probe.program = probe_plan;
  strategy::Strategies all = strategy::built_in_strategies();
  all.push_back(probe);
  return all;
}

const std::string machine_text = R"(
[machine]
name = "ring"
device.name = "gpu"
device.peak.fp16 = "100 TFLOP/s"
device.memory_bandwidth = "1 TB/s"
device.memory_capacity = "40 GB"
topology.kind = "ring"
topology.devices = 2
topology.bandwidth = "100 GB/s"
topology.latency = "500 ns"
)";

struct Loaded {
  Source source;
  std::unique_ptr<Experiment> experiment;
  Lines errors;
};

Loaded loaded(const std::string& path, const std::vector<Setting>& settings = {}) {
  config::Diagnostics diagnostics;
  Loaded all{load(path, settings, {}, diagnostics, {}, with_probe()), nullptr, {}};
  if (diagnostics.ok()) all.experiment = build(*all.source.table, diagnostics, with_probe(), all.source.files);
  all.errors = diagnostics.errors();
  return all;
}

bool says(const Loaded& loaded, const std::string& what) {
  return loaded.errors.size() == 1 && loaded.errors[0].find(what) != std::string::npos;
}

const std::string probing = "[strategy]\nname = \"probe\"\ntable = \"data/t.csv\"\n";

}  // namespace

TEST_CASE("attachments: a file beside the experiment is read once, and its hash stands in the resolved experiment") {
  Folder folder;
  std::filesystem::create_directories(folder.path("data"));
  folder.write("data/t.csv", std::string("1,2\n\0three", 10));
  folder.write("x.toml", machine_text + probing);
  Loaded first = loaded(folder.path("x.toml"));
  REQUIRE(first.errors == Lines{});
  CHECK(first.experiment->plan.description[0].second == std::string("1,2\n\0three", 10));
  REQUIRE(first.source.files.size() == 1);
  CHECK(first.source.files[0].key == "table");
  CHECK(first.source.files[0].hash.size() == 16);
  CHECK(changed_files(first.source.files).empty());
  const std::string resolved = config::to_toml(*first.source.table);
  CHECK(resolved.find("[attachments]\ntable = \"" + first.source.files[0].hash + "\"") != std::string::npos);
  // The resolved experiment runs beside the file, and refuses another one.
  folder.write("resolved.toml", resolved);
  CHECK(loaded(folder.path("resolved.toml")).errors == Lines{});
  folder.write("data/t.csv", "1,3\n");
  CHECK(says(loaded(folder.path("resolved.toml")), "is not the file that this experiment was resolved with"));
  const Lines changed = changed_files(first.source.files);
  REQUIRE(changed.size() == 1);
  CHECK(changed[0].find("t.csv has changed since it was read") != std::string::npos);
  std::filesystem::remove(folder.path("data/t.csv"));
  CHECK(changed_files(first.source.files).size() == 1);
}

TEST_CASE("attachments: names on the command line are relative to the current folder") {
  Folder folder;
  folder.write("x.toml", machine_text + "[strategy]\nname = \"probe\"\n");
  folder.write("here.csv", "here");
  CHECK(loaded(folder.path("x.toml")).experiment->plan.description[0].second == "none");
  const Loaded set =
      loaded(folder.path("x.toml"), {{"strategy.table", folder.path("here.csv"), "--set strategy.table"}});
  REQUIRE(set.errors == Lines{});
  CHECK(set.experiment->plan.description[0].second == "here");
}

TEST_CASE("attachments: what cannot be read is one line with its place") {
  Folder folder;
  folder.write("x.toml", machine_text + probing);
  const Loaded missing = loaded(folder.path("x.toml"));
  CHECK(says(missing, "x.toml:14:9: \"table\": "));
  CHECK(says(missing, "there is no such file"));
  std::filesystem::create_directories(folder.path("data/t.csv"));
  CHECK(says(loaded(folder.path("x.toml")), "is a directory, expected a file"));
  std::filesystem::remove_all(folder.path("data"));
  std::filesystem::create_directories(folder.path("data"));
  folder.write("data/t.csv", "");
  std::filesystem::resize_file(folder.path("data/t.csv"), (std::uintmax_t{1} << 30U) + 1);  // a hole: takes no room
  CHECK(says(loaded(folder.path("x.toml")), "is longer than 1024 MiB"));
}

TEST_CASE("a model may be a graph, which stands whole in the resolved experiment") {
  Folder folder;
  const std::string two =
      "name = \"two\"\n[[tensors]]\nname = \"x\"\nkind = \"input\"\nelements = 10\n[[tensors]]\nname = \"y\"\n"
      "elements = 10\n[[tensors]]\nname = \"z\"\nelements = 10\n[[nodes]]\nname = \"a\"\nkind = \"copy\"\n"
      "reads = [\"x\"]\nwrites = [\"y\"]\n[[nodes]]\nname = \"b\"\nkind = \"copy\"\nreads = [\"y\"]\nwrites = "
      "[\"z\"]\n";
  folder.write("two.toml", two);
  folder.write("x.toml", "model = \"two.toml\"\n" + machine_text + "[strategy]\nname = \"probe\"\n");
  const Loaded first = loaded(folder.path("x.toml"));
  REQUIRE(first.errors == Lines{});
  CHECK(first.experiment->plan.description[1].second == "2");
  CHECK_FALSE(first.experiment->model.has_value());
  folder.write("resolved.toml", config::to_toml(*first.source.table));
  std::filesystem::remove(folder.path("two.toml"));
  const Loaded again = loaded(folder.path("resolved.toml"));
  REQUIRE(again.errors == Lines{});
  CHECK(again.experiment->plan.description[1].second == "2");
  CHECK(config::to_toml(*again.source.table) == config::to_toml(*first.source.table));
  // Transformers are another thing.
  folder.write("two.toml", two);
  folder.write("wrong.toml", "model = \"two.toml\"\n" + machine_text + "[strategy]\nname = \"megatron\"\n");
  CHECK(says(loaded(folder.path("wrong.toml")),
             "strategy \"megatron\" cuts transformers, and this model is a computation graph"));
}
