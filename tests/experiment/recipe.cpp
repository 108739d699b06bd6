// recipe = "name": what a software stack does, as defaults of the experiment's own tables.
#include <catch2/catch.hpp>

#include "files.hpp"
#include "tessera/base/text.hpp"
#include "tessera/experiment/experiment.hpp"

namespace tessera::experiment {
namespace {

using tessera::test::Folder;
using tessera::test::ring;

const std::string job = "machine = \"ring\"\n[workload]\nglobal_batch = 4\n[strategy]\nname = \"megatron\"\n";
const std::string stack =
    "source = \"a stack of 2021\"\n[workload]\ndatatype = \"bf16\"\n[strategy]\nname = \"megatron\"\n"
    "gradient_precision = \"fp16\"\n[cost]\nlaunch_overhead = \"5 us\"\n";

/// An experiment read beside ring.toml and recipes/stack.toml.
struct Loaded {
  Folder folder;
  config::Diagnostics diagnostics;
  std::shared_ptr<config::Table> table;

  explicit Loaded(const std::string& experiment, const std::string& recipe = stack, const std::string& setting = "") {
    folder.write("ring.toml", ring);
    folder.write("in/recipes/stack.toml", recipe);
    folder.write("x.toml", experiment);
    std::vector<Setting> settings;
    if (!setting.empty()) settings.push_back(parse_setting(setting));
    table = load(folder.path("x.toml"), settings, {folder.path("in")}, diagnostics).table;
  }
  [[nodiscard]] std::string error() const {
    return diagnostics.ok() ? "" : diagnostics.errors().front().substr(folder.path("").size());
  }
  [[nodiscard]] std::string text(const std::string& in, const std::string& key) const {
    return *table->find(in)->table()->find(key)->string();
  }
};

}  // namespace

TEST_CASE("a recipe gives the tables of an experiment what it does not say itself") {
  const Loaded plain(job);
  CHECK(plain.text("strategy", "gradient_precision") == "fp32");
  const Loaded with("recipe = \"stack\"\n" + job);
  REQUIRE(with.error() == "");
  CHECK(with.text("strategy", "gradient_precision") == "fp16");
  CHECK(with.text("workload", "datatype") == "bf16");
  CHECK(with.text("cost", "launch_overhead") == "5 us");
  // It is in the resolved text, which needs the file no more.
  CHECK(with.table->find("recipe") == nullptr);
  CHECK(with.table->find("source") == nullptr);
}

TEST_CASE("a recipe's operations run besides those of the recipe that it includes; an experiment's instead") {
  const auto operation = [](const std::string& name) {
    return "[[workload.operations]]\nname = \"" + name + "\"\nsection = \"qkv\"\nforward = \"4 B\"\n";
  };
  const Folder folder;
  folder.write("ring.toml", ring);
  folder.write("recipes/old.toml", stack + operation("first"));
  folder.write("recipes/new.toml", "source = \"a year later\"\ninclude = \"old\"\n" + operation("second"));
  const auto names = [&](const std::string& own) {
    folder.write("x.toml", "recipe = \"new\"\n" + job + own);
    config::Diagnostics diagnostics;
    const auto table = load(folder.path("x.toml"), {}, {folder.path("")}, diagnostics).table;
    REQUIRE(diagnostics.errors() == std::vector<std::string>{});
    std::vector<std::string> found;
    for (const config::Value& one : *table->find("workload")->table()->find("operations")->array())
      found.push_back(*one.table()->find("name")->string());
    return found;
  };
  CHECK(names("") == std::vector<std::string>{"first", "second"});
  CHECK(names(operation("own")) == std::vector<std::string>{"own"});
  folder.write("recipes/new.toml", "source = \"none\"\ninclude = \"old\"\n[workload]\noperations = []\n");
  CHECK(names("").empty());
}

TEST_CASE("the experiment's own keys, the command line's too, win over those of the recipe") {
  const Loaded own("recipe = \"stack\"\n" + job + "gradient_precision = \"fp32\"\n", stack, "workload.datatype=fp8");
  REQUIRE(own.error() == "");
  CHECK(own.text("strategy", "gradient_precision") == "fp32");
  CHECK(own.text("workload", "datatype") == "fp8");
  const Loaded named(job, stack, "recipe=stack");
  CHECK(named.text("strategy", "gradient_precision") == "fp16");
}

TEST_CASE("a recipe may be for several strategies, the first of which it names") {
  const auto for_strategies = [](const std::string& names) {
    std::string text = stack;
    const std::string name = "name = \"megatron\"";
    return text.replace(text.find(name), name.size(), "name = [" + names + "]");
  };
  const Loaded second("recipe = \"stack\"\n" + job, for_strategies("\"t3\", \"megatron\""));
  REQUIRE(second.error() == "");
  CHECK(second.text("strategy", "name") == "megatron");
  const std::string unnamed = "recipe = \"stack\"\nmachine = \"ring\"\n[workload]\nglobal_batch = 4\n";
  CHECK(Loaded(unnamed, for_strategies("\"t3\", \"megatron\"")).text("strategy", "name") == "t3");
  CHECK(Loaded("recipe = \"stack\"\n" + job, for_strategies("\"primepar\", \"t3\""))
            .error()
            .find("recipe \"stack\" is for strategy \"primepar\" or \"t3\"") != std::string::npos);
}

TEST_CASE("a recipe wins over the machine's calibration") {
  Folder folder;
  folder.write("ring.toml", ring +
                                "[machine.calibration]\n[machine.calibration.cost]\nmodel = \"roofline\"\n"
                                "launch_overhead = \"1 us\"\nmemory_efficiency = 0.5\n");
  folder.write("recipes/stack.toml", stack);
  folder.write("x.toml", "recipe = \"stack\"\n" + job);
  config::Diagnostics diagnostics;
  const Source source = load(folder.path("x.toml"), {}, {folder.path("")}, diagnostics);
  const config::Table& cost = *source.table->find("cost")->table();
  CHECK(*cost.find("launch_overhead")->string() == "5 us");
  CHECK(cost.find("memory_efficiency") != nullptr);
}

TEST_CASE("mistakes in and around a recipe are reported where they stand") {
  const std::string with = "recipe = \"stack\"\n" + job;
  CHECK(Loaded("recipe = \"stak\"\n" + job).error() ==
        "x.toml:1:10: unknown recipe \"stak\" (did you mean \"stack\"?), known: stack");
  CHECK(Loaded("recipe = 3\n" + job).error() ==
        "x.toml:1:10: a whole number is not allowed here, expected the name of a recipe");
  CHECK(Loaded(with, stack + "[machine]\n")
            .error()
            .starts_with("in/recipes/stack.toml:9:2: unknown key \"machine\" in [recipe], allowed: "));
  CHECK(Loaded("recipe = \"stack\"\nmachine = \"ring\"\n[strategy]\nname = \"t3\"\n").error() ==
        "x.toml:1:10: recipe \"stack\" is for strategy \"megatron\", not for \"t3\"");
  CHECK(Loaded(with, "include = \"stack\"\n").error().find("includes itself") != std::string::npos);
}

TEST_CASE("list shows recipes by their sources") {
  Folder folder;
  folder.write("recipes/broken.toml", "[machine]\n");
  folder.write("recipes/stack.toml", stack);
  const std::vector<Listed> recipes = list(Listing::recipes, {folder.path("")});
  REQUIRE(recipes.size() == 2);
  CHECK(recipes[0].description.starts_with("cannot be used: " + folder.path("recipes/broken.toml") + ":1:2: "));
  CHECK(recipes[1].description == "a stack of 2021");
}

TEST_CASE("of a recipe's [cost], another cost model takes what it has itself") {
  const std::string keys = stack + "model = \"roofline\"\nmatrix_ramp = \"4 us\"\n";
  const Loaded same("recipe = \"stack\"\n" + job, keys);
  REQUIRE(same.error() == "");
  CHECK(same.text("cost", "matrix_ramp") == "4 us");
  const Loaded other("recipe = \"stack\"\n" + job + "[cost]\nmodel = \"tile\"\n", keys);
  REQUIRE(other.error() == "");
  CHECK(other.text("cost", "model") == "tile");
  CHECK(other.text("cost", "launch_overhead") == "5 us");
  CHECK(other.table->find("cost")->table()->find("matrix_ramp") == nullptr);
  // What the experiment itself says is refused as ever.
  const Loaded own("recipe = \"stack\"\n" + job + "[cost]\nmodel = \"tile\"\nmatrix_ramp = \"1 us\"\n", keys);
  CHECK(own.table->find("cost")->table()->find("matrix_ramp") != nullptr);
}

}  // namespace tessera::experiment
