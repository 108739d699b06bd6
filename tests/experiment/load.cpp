#include <algorithm>
#include <catch2/catch.hpp>

#include "files.hpp"
#include "tessera/base/error.hpp"
#include "tessera/experiment/experiment.hpp"

using namespace tessera;
using namespace tessera::experiment;
using tessera::test::Folder;
using tessera::test::ring;

namespace {

const std::string tiny = R"(name = "tiny"
family = "gpt2"
layers = 2
hidden = 64
heads = 4
vocabulary = 128
max_positions = 32
source = "a test"
)";

using Lines = std::vector<std::string>;

/// The resolved table; requires that nothing was wrong.
Source loaded(const Folder& folder, const Lines& settings = {}, const Lines& input_folders = {}) {
  config::Diagnostics diagnostics;
  std::vector<Setting> parsed;
  for (const auto& text : settings) parsed.push_back(parse_setting(text));
  Source source = load(folder.path("x.toml"), parsed, {input_folders.begin(), input_folders.end()}, diagnostics);
  REQUIRE(diagnostics.errors() == Lines{});
  return source;
}

Lines errors_of(const Folder& folder, const Lines& settings = {}) {
  config::Diagnostics diagnostics;
  std::vector<Setting> parsed;
  for (const auto& text : settings) parsed.push_back(parse_setting(text));
  (void)load(folder.path("x.toml"), parsed, {folder.path("inputs")}, diagnostics);
  Lines errors = diagnostics.errors();
  const std::string prefix = folder.path("");
  for (std::string& line : errors) {
    for (std::size_t at = line.find(prefix); at != std::string::npos; at = line.find(prefix))
      line.erase(at, prefix.size());
  }
  return errors;
}

/// The value under a.b.c.
const config::Value& at(const Source& source, const Lines& path) {
  const config::Table* table = source.table.get();
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    REQUIRE(table->find(path[i]) != nullptr);
    table = table->find(path[i])->table();
    REQUIRE(table != nullptr);
  }
  REQUIRE(table->find(path.back()) != nullptr);
  return *table->find(path.back());
}

const std::string& text_at(const Source& source, const Lines& path) {
  REQUIRE(at(source, path).string() != nullptr);
  return *at(source, path).string();
}

}  // namespace

TEST_CASE("machines and models are found beside the experiment first, then in the input folders") {
  Folder folder;
  folder.write("x.toml", "machine = \"ring\"\nmodel = \"tiny\"\n[strategy]\nname = \"megatron\"\n");
  folder.write("inputs/machines/ring.toml", ring);
  folder.write("inputs/models/tiny.toml", tiny);
  const Source far = loaded(folder, {}, {folder.path("nowhere"), folder.path("inputs")});
  CHECK(text_at(far, {"machine", "name"}) == "ring");
  CHECK(text_at(far, {"model", "family"}) == "gpt2");
  std::string near_ring = ring;
  near_ring.replace(near_ring.find("40 GB"), 5, "16 GB");
  folder.write("ring.toml", near_ring);
  const Source near = loaded(folder, {}, {folder.path("inputs")});
  CHECK(text_at(near, {"machine", "device", "memory_capacity"}) == "16 GB");
}

TEST_CASE("own keys go over included ones, value by value, and paths are relative to the file that names them") {
  Folder folder;
  folder.write("x.toml", "[machine]\ninclude = \"parts/big.toml\"\ntopology.latency = \"1 us\"\n");
  folder.write("parts/big.toml", "[machine]\ninclude = \"ring\"\nname = \"big\"\ntopology.devices = 64\n");
  folder.write("parts/ring.toml", ring);
  const Source source = loaded(folder);
  CHECK(text_at(source, {"machine", "name"}) == "big");
  CHECK(text_at(source, {"machine", "topology", "latency"}) == "1 us");
  CHECK(text_at(source, {"machine", "topology", "bandwidth"}) == "100 GB/s");
  CHECK(std::get<std::int64_t>(at(source, {"machine", "topology", "devices"}).content()) == 64);
  CHECK(source.table->find("machine")->table()->find("include") == nullptr);
  // Messages about a value name the file in which it stands.
  CHECK(config::to_string(at(source, {"machine", "topology", "devices"}).where()) ==
        folder.path("parts/big.toml") + ":4:20");
}

TEST_CASE("settings go over everything, as TOML where they are TOML and as text otherwise") {
  Folder folder;
  folder.write("x.toml", "machine = \"ring\"\n[workload]\nsequence = 128\n");
  folder.write("ring.toml", ring);
  const Source source =
      loaded(folder, {"workload.sequence=256", "machine.device.memory_capacity=20 GB", "workload.datatype=\"bf16\"",
                      "strategy.name=megatron", "record.timeline=true", "title=a = b"});
  CHECK(std::get<std::int64_t>(at(source, {"workload", "sequence"}).content()) == 256);
  CHECK(text_at(source, {"machine", "device", "memory_capacity"}) == "20 GB");
  CHECK(text_at(source, {"machine", "name"}) == "ring");
  CHECK(text_at(source, {"workload", "datatype"}) == "bf16");
  CHECK(text_at(source, {"strategy", "name"}) == "megatron");
  CHECK(std::get<bool>(at(source, {"record", "timeline"}).content()));
  CHECK(text_at(source, {"title"}) == "a = b");
  CHECK(config::to_string(at(source, {"workload", "sequence"}).where()) == "--set workload.sequence");
  CHECK(source.given.find("# --set workload.sequence=256\n") != std::string::npos);
}

TEST_CASE("a setting that is no KEY=VALUE is refused") {
  for (const std::string text : {"", "a", "=1", ".a=1", "a.=1", "a..b=1"}) {
    CHECK_THROWS_WITH(parse_setting(text), "--set " + text + ": expected KEY=VALUE such as strategy.tensor=8");
  }
  CHECK(parse_setting("a=").value.empty());
  Folder folder;
  folder.write("x.toml", "title = \"t\"\n");
  CHECK(errors_of(folder, {"title.x=1"}) ==
        Lines{"--set title.x: \"title\" is a string, only the keys of tables can be set"});
}

TEST_CASE("what is included but not there is one line with a suggestion") {
  Folder folder;
  folder.write("inputs/machines/ring-a.toml", ring);
  folder.write("inputs/machines/other.toml", ring);
  folder.write("inputs/models/tiny.toml", tiny);
  folder.write("x.toml", "machine = \"ring-b\"\nmodel = \"huge\"\n");
  CHECK(errors_of(folder) ==
        Lines{"x.toml:1:11: unknown machine \"ring-b\" (did you mean \"ring-a\"?), known: other, ring-a",
              "x.toml:2:9: unknown model \"huge\", known: tiny"});
  folder.write("x.toml", "machine = \"sub/ring.toml\"\nmodel.include = 3\n");
  CHECK(errors_of(folder) == Lines{"x.toml:1:11: there is no machine file \"sub/ring.toml\"",
                                   "x.toml:2:17: a whole number is not allowed here, expected the name of a model"});
  folder.write("x.toml", "machine = 5\n[model]\ninclude = \"tiny\"\nhugging_face = \"config.json\"\n");
  CHECK(errors_of(folder) ==
        Lines{"x.toml:1:11: \"machine\": a whole number is not allowed here, expected a name or a table [machine]",
              "x.toml:4:1: a model has either \"include\" or \"hugging_face\", not both"});
}

TEST_CASE("files that include each other are refused") {
  Folder folder;
  folder.write("x.toml", "machine = \"a\"\n");
  folder.write("a.toml", "[machine]\ninclude = \"b\"\n");
  folder.write("b.toml", "[machine]\ninclude = \"a\"\n");
  CHECK(errors_of(folder) == Lines{"b.toml:2:11: \"a.toml\" includes itself"});
}

TEST_CASE("a file that is not TOML is one line, whatever else is wrong") {
  Folder folder;
  folder.write("x.toml", "machine = \"nothing\"\n[workload\n");
  CHECK(errors_of(folder).size() == 1);
  CHECK_THROWS_WITH(errors_of(Folder()), Catch::Contains("x.toml: there is no such file"));
}

TEST_CASE("the resolved text is an experiment that resolves to itself") {
  Folder folder;
  folder.write("x.toml", "model = \"tiny\"\nmachine = \"ring\"\n[strategy]\nname = \"megatron\"\n");
  folder.write("ring.toml", ring);
  folder.write("tiny.toml", tiny);
  const Source first = loaded(folder);
  const std::string text = config::to_toml(*first.table);
  folder.write("x.toml", text);
  const Source second = loaded(folder);
  CHECK(config::to_toml(*second.table) == text);
  CHECK(text_at(first, {"simulation", "partition"}) == "auto");
  CHECK(text_at(first, {"cost", "model"}) == "roofline");
  CHECK(text_at(first, {"collectives", "all_reduce"}) == "ring");
}

TEST_CASE("a Hugging Face configuration becomes the fields that it stands for, under own keys") {
  Folder folder;
  folder.write("x.toml", "[model]\nhugging_face = \"gpt2/config.json\"\nlayers = 3\n");
  folder.write(
      "gpt2/config.json",
      R"({"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 2, "n_positions": 32, "vocab_size": 128})");
  const Source source = loaded(folder);
  CHECK(std::get<std::int64_t>(at(source, {"model", "layers"}).content()) == 3);
  CHECK(std::get<std::int64_t>(at(source, {"model", "hidden"}).content()) == 64);
  CHECK(source.table->find("model")->table()->find("hugging_face") == nullptr);
}
