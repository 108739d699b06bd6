// [machine.calibration]: defaults of the experiment's own tables.
#include <catch2/catch.hpp>

#include "files.hpp"
#include "tessera/base/text.hpp"
#include "tessera/experiment/experiment.hpp"

#include <fstream>

namespace tessera::experiment {
namespace {

constexpr const char* machine_text = R"(
[machine]
name = "two nodes"
[machine.device]
name = "gpu"
peak.fp16 = "100 TFLOP/s"
memory_bandwidth = "1 TB/s"
memory_capacity = "80 GB"
cores = 80
[machine.topology]
kind = "cluster"
nodes = 2
gpus_per_node = 4
nvlink_bandwidth = "300 GB/s"
nic_bandwidth = "25 GB/s"
)";

constexpr const char* calibration = R"(
[machine.calibration]
source = "made up"
[machine.calibration.topology]
nvlink_efficiency = 0.5
nvlink_latency = "3 us"
nic_latency = "9 us"
[machine.calibration.cost]
model = "tile"
matrix_efficiency = 0.75
memory_efficiency = 0.5
[machine.calibration.collectives]
reduction = "free"
channels = 8
)";

const std::string job = "\n" + test::one_all_reduce;

struct Loaded {
  config::Diagnostics diagnostics;
  Source source;
  std::unique_ptr<Experiment> experiment;

  explicit Loaded(const std::string& text, const std::vector<std::string>& settings = {}) {
    const std::string path = std::filesystem::temp_directory_path() / "tessera-calibration.toml";
    std::ofstream(path) << text;
    std::vector<Setting> parsed;
    for (const std::string& setting : settings) parsed.push_back(parse_setting(setting));
    source = load(path, parsed, {}, diagnostics);
    std::filesystem::remove(path);
    experiment = build(*source.table, diagnostics);
  }
  [[nodiscard]] std::string error() const { return diagnostics.ok() ? "" : diagnostics.errors()[0]; }
  [[nodiscard]] const machine::Link& nvlink() const { return experiment->machine.network.links[0]; }
  /// Of 10^12 FLOP: 10 ms at peak.
  [[nodiscard]] Time gemm() const {
    return experiment->cost->time(workload::gemm("gemm", 1, 10240, 10240, 10240, "fp16"), experiment->machine.device);
  }
};

}  // namespace

TEST_CASE("a machine's calibration gives topology, cost and collectives what the experiment does not say") {
  const Loaded it(std::string(machine_text) + calibration + job);
  REQUIRE(it.error() == "");
  CHECK(it.nvlink().bandwidth.value() == 150'000'000'000);
  CHECK(it.nvlink().latency.value() == 1'500 * nanosecond);  // half of it in front of the switch
  CHECK(it.experiment->collectives.reduction == "free");
  CHECK(it.experiment->plan.program.channels == 8);
  CHECK(it.experiment->calibration == "calibrated; no measured jobs of this stack");
  // The same of the resolved text.
  const Loaded again(config::to_toml(*it.source.table));
  REQUIRE(again.error() == "");
  CHECK(again.gemm() == it.gemm());
  CHECK(again.experiment->calibration == "calibrated; no measured jobs of this stack");
}

TEST_CASE("the experiment's own keys win over the calibration, and the text says which") {
  const Loaded own(
      std::string(machine_text) + calibration + job,
      {"cost.matrix_efficiency=1", "machine.topology.nvlink_latency=1 us", "collectives.reduction=memory"});
  REQUIRE(own.error() == "");
  CHECK(own.nvlink().latency.value() == 500 * nanosecond);
  CHECK(own.experiment->collectives.reduction == "memory");
  CHECK(own.experiment->calibration ==
        "calibrated, the experiment's own topology.nvlink_latency, cost.matrix_efficiency, collectives.reduction");
  const Loaded plain(std::string(machine_text) + calibration + job);
  CHECK(plain.gemm() > own.gemm());
}

TEST_CASE("without a calibration rates are those of the data sheet, and it is said") {
  const std::string latencies = "nvlink_latency = \"1 us\"\nnic_latency = \"1 us\"\n";
  const Loaded peak(machine_text + latencies + job);
  REQUIRE(peak.error() == "");
  CHECK(peak.nvlink().bandwidth.value() == 300'000'000'000);
  CHECK(peak.gemm() == duration_at_rate(Flop{2LL * 10240 * 10240 * 10240}, FlopPerSecond{100'000'000'000'000}));
  CHECK(peak.experiment->calibration == "uncalibrated: peak rates");
  const Loaded own(machine_text + latencies + job, {"cost.launch_overhead=1 us"});
  CHECK(own.experiment->calibration == "uncalibrated, the experiment's own cost.launch_overhead");
  // Latencies are no rates: somebody has to say them.
  CHECK(Loaded(machine_text + std::string(job)).error().find("missing key \"nvlink_latency\"") != std::string::npos);
}

TEST_CASE("a calibration for another cost model is left aside") {
  const Loaded other(std::string(machine_text) + calibration + job, {"cost.model=roofline"});
  REQUIRE(other.error() == "");
  CHECK(other.gemm() == duration_at_rate(Flop{2LL * 10240 * 10240 * 10240}, FlopPerSecond{100'000'000'000'000}));
  CHECK(other.experiment->calibration == "uncalibrated: the machine's calibration is for another cost model");
  std::string typed = std::string(machine_text) + calibration + job;
  typed.replace(typed.find("matrix_efficiency"), 17, "matrix_eficiency");
  CHECK(Loaded(typed, {"cost.model=roofline"}).error().find("unknown key \"matrix_eficiency\"") != std::string::npos);
}

TEST_CASE("a calibration without costs calibrates nothing that computes") {
  std::string text = std::string(machine_text) + calibration + job;
  const std::size_t from = text.find("[machine.calibration.cost]"), to = text.find("[machine.calibration.collectives]");
  text.erase(from, to - from);
  CHECK(Loaded(text).experiment->calibration == "uncalibrated: peak rates");
}

TEST_CASE("of a stack and kind that were measured, the text says how far jobs were off") {
  const test::Folder folder;
  const auto text = [&](const std::string& device, const std::vector<std::string>& settings = {}) {
    folder.write("measured/accuracy.toml",
                 "[[measured]]\nrecipe = \"other\"\ndevice = \"gpu\"\nexperts = false\njobs = 9\nmean = 9.0\n"
                 "greatest = 9.0\n[[measured]]\nrecipe = \"stack\"\ndevice = \"" +
                     device + "\"\nexperts = false\njobs = 4\nmean = 1.5\ngreatest = 3.2\n");
    folder.write("recipes/stack.toml", "source = \"a stack\"\n[workload]\ndatatype = \"fp16\"\n");
    folder.write("x.toml", "recipe = \"stack\"\n" + std::string(machine_text) + calibration + job);
    config::Diagnostics diagnostics;
    std::vector<Setting> parsed;
    for (const std::string& setting : settings) parsed.push_back(parse_setting(setting));
    const Source source = load(folder.path("x.toml"), parsed, {folder.path("")}, diagnostics);
    const auto experiment = build(*source.table, diagnostics);
    REQUIRE(diagnostics.errors() == std::vector<std::string>{});
    // The resolved text says it without the files.
    CHECK(Loaded(config::to_toml(*source.table)).experiment->calibration == experiment->calibration);
    return experiment->calibration;
  };
  CHECK(text("gpu") == "calibrated; jobs of this kind were within 3.2 % of 4 measured, 1.5 % in the mean");
  CHECK(text("another gpu") == "calibrated; no measured jobs of this kind");
  CHECK(text("gpu", {"workload.datatype=fp8"}).ends_with("no measured jobs of this kind"));  // measured in 16 bits
  // None of those had a state in the place of attention.
  CHECK(text("gpu", {"model.name=m", "model.layers=2", "model.hidden=64", "model.heads=4", "model.vocabulary=100",
                     "model.position=none", "model.mixer=mamba2", "model.state_size=16", "model.state_groups=1",
                     "model.conv_width=4", "model.scan_chunk=64"}) == "calibrated; no measured jobs of this kind");
  // Whoever says a rate himself is told that alone.
  CHECK(text("gpu", {"cost.matrix_efficiency=1"}) == "calibrated, the experiment's own cost.matrix_efficiency");
}

TEST_CASE("keys of the experiment that the calibration does not have are named too") {
  const Loaded own(std::string(machine_text) + calibration + job,
                   {"cost.attention_ramp=100", "cost.memory_efficiency=0.5"});
  REQUIRE(own.error() == "");
  CHECK(own.experiment->calibration == "calibrated, the experiment's own cost.attention_ramp");
}

TEST_CASE("mistakes in a calibration are reported where they stand") {
  const auto error = [](const std::string& from, const std::string& to) {
    std::string text = std::string(machine_text) + calibration + job;
    text.replace(text.find(from), from.size(), to);
    const std::string line = Loaded(text).error();
    return line.substr(line.find(".toml:") + 6);
  };
  CHECK(
      error("matrix_efficiency = 0.75", "matrix_eficiency = 0.75").rfind("25:1: unknown key \"matrix_eficiency\"", 0) ==
      0);
  CHECK(error("model = \"tile\"\n", "").rfind("23:1: a calibration's costs are those of one cost model", 0) == 0);
  CHECK(error("\"tile\"", "\"tiel\"").rfind("24:9: a calibration's costs are those of one cost model", 0) == 0);
  CHECK(error("channels = 8", "channels = 0").rfind("29:12: \"channels\": 0 is out of range", 0) == 0);
  CHECK(error("nvlink_efficiency = 0.5", "nvlink_efficiency = 5").rfind("20:21: \"nvlink_efficiency\": 5", 0) == 0);
  CHECK(error("source = \"made up\"", "sources = \"made up\"").find("unknown key \"sources\"") != std::string::npos);
}

}  // namespace tessera::experiment
