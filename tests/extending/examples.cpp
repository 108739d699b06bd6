// The topology, the collective, the graph family and the strategy of docs/extending.md and
// docs/extending-strategies.md, simulated.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tessera/experiment/run.hpp"
#include "tessera/workload/network.hpp"

using namespace tessera;

namespace {

const std::string star_of_four = R"(
[machine]
name = "star"
packet = "4096 B"
[machine.device]
name = "GPU"
peak.fp16 = "100 TFLOP/s"
memory_bandwidth = "1 TB/s"
memory_capacity = "16 GB"
[machine.topology]
kind = "star"
devices = 4
bandwidth = "100 GB/s"
latency = "250 ns"
)";

struct Outcome {
  std::unique_ptr<experiment::Experiment> experiment;
  results::RunResults results;
};

Outcome simulated(const std::string& text) {
  const std::string file = (std::filesystem::temp_directory_path() / "tessera-extending.toml").string();
  std::ofstream(file) << text;
  config::Diagnostics diagnostics;
  const experiment::Source source = experiment::load(file, {}, {}, diagnostics);
  Outcome outcome{experiment::build(*source.table, diagnostics), {}};
  std::filesystem::remove(file);
  REQUIRE(diagnostics.errors() == std::vector<std::string>{});
  const auto comm = make_serial_communicator();
  outcome.results = experiment::run(*outcome.experiment, *comm).results;
  return outcome;
}

}  // namespace

TEST_CASE("the star collective on the star topology takes what it takes by hand") {
  const Outcome outcome = simulated(star_of_four + R"(
[collectives]
reduction = "free"
[strategy]
name = "script"
[[strategy.step]]
op = "all-reduce"
algorithm = "star"
group = "all"
bytes = "4096000 B"
)");
  // Three members send 4,096,000 B each to the first: its link carries 12,288,000 B in 122.88 us, from the moment at
  // which the first packet of 4,096 B (40.96 ns) has come to the hub (250 ns), and 250 ns more. The answers leave over
  // the first member's own link in 122.88 us, and the last packet goes on from the hub.
  const Time one_way = 122'880'000 + 40'960 + 2 * 250'000;
  CHECK(outcome.results.iteration_time == 2 * one_way);
}

TEST_CASE("the strategy of replicas computes all layers on every device and sums the gradients") {
  const Outcome outcome = simulated(star_of_four + R"(
[model]
name = "tiny"
layers = 2
hidden = 64
heads = 4
vocabulary = 128
max_positions = 32
[workload]
sequence = 32
global_batch = 16
[collectives]
all_reduce = "star"
[strategy]
name = "replicas"
micro_batch = 2
)");
  const workload::Model& model = *outcome.experiment->model;
  // Four sequences a device, forward and backward: three times the FLOP of the layers' forward pass.
  const auto forward =
      static_cast<std::int64_t>(workload::forward_flops(model, 32, 32, workload::Phase::training).layers);
  REQUIRE(outcome.results.device_rows.size() == 4);
  for (const auto& row : outcome.results.device_rows) CHECK(static_cast<std::int64_t>(row.flops) >= 3 * 4 * forward);
  // 4 B for each of 2 (12 h^2 + 13 h) parameters, from each of three to the first, and back.
  const std::int64_t gradients = 4 * 2 * (12 * 64 * 64 + 13 * 64);
  CHECK(static_cast<std::int64_t>(outcome.results.device_rows[0].bytes_sent) == 3 * gradients);
  CHECK(static_cast<std::int64_t>(outcome.results.device_rows[1].bytes_sent) == gradients);
  CHECK(outcome.results.iteration_time > 0);
}

TEST_CASE("the graph family of LeNet-5 has the parameters of its paper, and multiply-adds by hand") {
  config::Diagnostics diagnostics;
  const auto table = config::parse_toml("name = \"LeNet-5\"\nnetwork = \"lenet\"", "lenet.toml", diagnostics);
  const workload::Graph graph = workload::read_network(*table, diagnostics);
  REQUIRE(diagnostics.errors() == std::vector<std::string>{});
  // Windows of 5 x 5 to 6 channels at 28 x 28 places, to 16 at 10 x 10; 400-120-84-10.
  CHECK(graph.parameters() == 6 * 26 + 16 * 151 + 401 * 120 + 121 * 84 + 85 * 10);
  CHECK(graph.flops() / 2 == 28 * 28 * 6 * 25 + 10 * 10 * 16 * 150 + 400 * 120 + 120 * 84 + 84 * 10);
}
