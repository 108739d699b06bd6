// A plan that a search has found is run without being simulated again.
#include <catch2/catch.hpp>

#include "files.hpp"
#include "tessera/experiment/run.hpp"

namespace tessera {
namespace {

/// A small model on four GPUs, its cut still to be found.
const std::string open_cut = test::ring + R"([model]
name = "small"
layers = 2
hidden = 256
heads = 4
vocabulary = 1024
max_positions = 128
[strategy]
name = "megatron"
tensor = "any"
data = "any"
[workload]
sequence = 64
global_batch = 4
)";

std::unique_ptr<experiment::Experiment> searched(Communicator& comm) {
  const test::Folder folder;
  folder.write("x.toml", open_cut);
  config::Diagnostics diagnostics;
  const experiment::Source source = experiment::load(folder.path("x.toml"), {}, {}, diagnostics);
  auto built = experiment::build(*source.table, diagnostics);
  REQUIRE(diagnostics.errors() == std::vector<std::string>{});
  experiment::search(*source.table, *built, comm, {}, diagnostics);
  REQUIRE(diagnostics.errors() == std::vector<std::string>{});
  return built;
}

}  // namespace

TEST_CASE("found plans: what the search has simulated is what a run of the plan comes to") {
  const auto alone = make_serial_communicator();
  const auto found = searched(*alone);
  REQUIRE(found->fastest);
  CHECK(found->fastest->program == found->plan.program);
  const sim::SimulationResult kept = experiment::run(*found, *alone);
  found->fastest.reset();
  const sim::SimulationResult again = experiment::run(*found, *alone);
  CHECK(kept.results.iteration_time == again.results.iteration_time);
  CHECK(kept.statistics.events == again.statistics.events);
  CHECK(kept.fold == again.fold);
  REQUIRE(kept.results.device_rows.size() == 4);
  REQUIRE(again.results.device_rows.size() == 4);
  for (std::size_t device = 0; device < 4; ++device)
    CHECK(std::pair(kept.results.device_rows[device].activity, kept.results.device_rows[device].peak_memory) ==
          std::pair(again.results.device_rows[device].activity, again.results.device_rows[device].peak_memory));
}

TEST_CASE("found plans: another plan, and one that is to be simulated in another way, are simulated") {
  const auto alone = make_serial_communicator();
  const auto found = searched(*alone);
  // Whoever says that the iteration takes 7 ps has not simulated it.
  found->fastest->result.results.iteration_time = 7;
  const auto takes = [&] { return experiment::run(*found, *alone).results.iteration_time; };
  CHECK(takes() == 7);
  SECTION("with a timeline") { found->record.timeline = true; }
  SECTION("with memory over time") { found->record.memory_timeline = true; }
  SECTION("where too little memory only warns") { found->simulation.allow_oversubscription = true; }
  SECTION("packet by packet") { found->simulation.laws = "none"; }
  SECTION("without a fold") { found->simulation.fold = sim::Folding::none; }
  SECTION("with another name in the timeline") { found->plan.program.labels.back() += "s"; }
  SECTION("with another instruction") { found->plan.program.blocks.front().code.front().count += 1; }
  CHECK(takes() > 7);
}

}  // namespace tessera
