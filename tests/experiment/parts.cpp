// Topologies and collectives that a program adds: experiments name them like the built-in ones.
#include "tessera/experiment/parts.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "files.hpp"
#include "tessera/base/error.hpp"
#include "tessera/experiment/run.hpp"

using namespace tessera;
using namespace tessera::experiment;
using Catch::Contains;
using program::CollectiveCall;
using program::CollectiveKind;

namespace {

/// What the built-in "direct" does, by another name, and for one kind.
class Mine final : public program::CollectiveAlgorithm {
 public:
  std::string name() const override { return "mine"; }
  std::string help() const override { return "direct by another name"; }
  bool supports(CollectiveKind kind) const override { return kind == CollectiveKind::all_reduce; }
  std::string check(const program::Collective&, const program::Group&, const machine::Machine&) const override {
    return {};
  }
  std::uint32_t steps(const CollectiveCall& call) const override { return direct().steps(call); }
  void step(const CollectiveCall& call, std::uint32_t index, program::Step& step) const override {
    direct().step(call, index, step);
  }

 private:
  static const program::CollectiveAlgorithm& direct() {
    return program::algorithm_of(program::algorithm_index("direct"));
  }
};

/// With a topology "loop", which is a ring, and an algorithm "mine".
Parts own_parts() {
  Parts parts;
  machine::TopologyKind loop = *std::ranges::find(parts.topologies, "ring", &machine::TopologyKind::name);
  loop.name = "loop";
  parts.topologies.push_back(loop);
  parts.collectives.add(std::make_shared<Mine>());
  return parts;
}

std::string text_of(const std::string& topology, const std::string& choices, const std::string& step) {
  return "[machine]\nname = \"four\"\ndevice.name = \"gpu\"\ndevice.peak.fp16 = \"100 TFLOP/s\"\n"
         "device.memory_bandwidth = \"1 TB/s\"\ndevice.memory_capacity = \"40 GB\"\ntopology.kind = \"" +
         topology +
         "\"\ntopology.devices = 4\ntopology.bandwidth = \"100 GB/s\"\ntopology.latency = \"500 ns\"\n[collectives]\n" +
         choices + "[strategy]\nname = \"script\"\n[[strategy.step]]\ngroup = \"all\"\nbytes = \"4 MB\"\n" + step;
}

struct Outcome {
  std::unique_ptr<Experiment> experiment;
  results::RunResults results;
  std::string errors;
};

Outcome outcome_of(const std::string& text, const Parts& parts) {
  const test::Folder folder;
  folder.write("x.toml", text);
  config::Diagnostics diagnostics;
  const Source source = load(folder.path("x.toml"), {}, {}, diagnostics, {}, parts);
  Outcome outcome;
  if (diagnostics.ok()) outcome.experiment = build(*source.table, diagnostics, parts, source.files);
  for (const std::string& error : diagnostics.errors()) outcome.errors += error + "\n";
  if (!diagnostics.ok()) return outcome;
  const auto comm = make_serial_communicator();
  outcome.results = run(*outcome.experiment, *comm).results;
  return outcome;
}

const std::string by_choice = "op = \"all-reduce\"\n";
const std::string by_name = "op = \"all-reduce\"\nalgorithm = \"mine\"\n";

}  // namespace

TEST_CASE("parts: an experiment names a topology and an algorithm of the program's own") {
  const Outcome built_in = outcome_of(text_of("ring", "all_reduce = \"direct\"\n", by_choice), {});
  REQUIRE(built_in.errors.empty());
  for (const Outcome& own : {outcome_of(text_of("loop", "all_reduce = \"mine\"\n", by_choice), own_parts()),
                             outcome_of(text_of("loop", "", by_name), own_parts())}) {
    REQUIRE(own.errors.empty());
    CHECK(own.experiment->machine.topology == "loop");
    CHECK(own.results.iteration_time == built_in.results.iteration_time);
    REQUIRE(own.results.collective_rows.size() == built_in.results.collective_rows.size());
    CHECK(own.results.algorithms.at(own.results.collective_rows[0].algorithm) == "mine");
  }
}

TEST_CASE("parts: what is not handed on is not known, and what is there is said") {
  CHECK_THAT(outcome_of(text_of("loop", "", by_choice), {}).errors,
             Contains("\"kind\": unknown choice \"loop\"") &&
                 Contains("allowed: cluster, ring, mesh, torus, torus-3d, package, wafers, mesh-switch, dragonfly\n"));
  CHECK_THAT(outcome_of(text_of("lop", "", by_choice), own_parts()).errors,
             Contains("unknown choice \"lop\" (did you mean \"loop\"?)"));
  CHECK_THAT(outcome_of(text_of("ring", "all_reduce = \"mine\"\n", by_choice), {}).errors,
             Contains("\"all_reduce\": unknown choice \"mine\""));
  CHECK_THAT(outcome_of(text_of("ring", "", by_name), {}).errors,
             Contains("x.toml:18:13: \"algorithm\": unknown collective algorithm \"mine\""));
  CHECK_THAT(outcome_of(text_of("ring", "", "op = \"all-gather\"\nalgorithm = \"mine\"\n"), own_parts()).errors,
             Contains("x.toml:18:13: algorithm \"mine\" has no all-gather, allowed: ring, "));
  CHECK_THAT(outcome_of(text_of("ring", "broadcast = \"mine\"\n", by_choice), own_parts()).errors,
             Contains("\"broadcast\": unknown choice \"mine\""));
}

TEST_CASE("parts: two algorithms of one name are a mistake of the program") {
  Parts parts = own_parts();
  CHECK_THROWS_WITH(parts.collectives.add(std::make_shared<Mine>()), "two collective algorithms are called \"mine\"");
  CHECK(parts.collectives.all().size() == program::built_in_collectives().all().size() + 1);
  // The built-in ones keep their places, and a copy what it had.
  const program::Collectives before = program::built_in_collectives();
  CHECK(parts.collectives.find("direct").index == program::algorithm_index("direct").index);
  CHECK_THROWS_AS(before.find("mine"), InputError);
  CHECK(&program::algorithm_of(parts.collectives.find("ring")) == &program::algorithm_of(program::AlgorithmId()));
}

TEST_CASE("parts: help tells of them") {
  const Parts parts = own_parts();
  const auto all = choices(parts);
  const auto has = [&](const std::string& family, const std::string& name) {
    return std::ranges::any_of(all, [&](const Choice& one) { return one.family == family && one.name == name; });
  };
  CHECK(has("machine.topology", "loop"));
  CHECK(has("collectives", "mine"));
  std::string kinds;
  for (const config::SchemaPointer& schema : schemas(parts)) {
    if (schema->path() != "machine.topology") continue;
    for (const config::ParameterHelp& one : schema->parameters()) kinds += one.help;
  }
  CHECK_THAT(kinds, Contains("; loop: "));
}
