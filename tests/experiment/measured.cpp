// The machine files return the GEMMs that they were calibrated to (inputs/measured/).
#include <catch2/catch.hpp>

#include <cmath>
#include <fstream>
#include <sstream>

#include "support/source_folder.hpp"
#include "tessera/experiment/experiment.hpp"

namespace tessera::experiment {
namespace {

struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  double microseconds = 0;
  bool is_returned = false;
};

/// What a machine file is to return exactly, how many others its table has, and how far these may be off in the mean.
struct Calibrated {
  std::string machine, table, datatype;
  int returned = 0, others = 0;
  double mean = 0;
};

std::vector<Gemm> read_table(const std::string& name) {
  std::ifstream file(std::filesystem::path(test::source_folder()) / "inputs" / "measured" / name);
  std::vector<Gemm> gemms;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#' || line[0] == 'm') continue;
    Gemm gemm;
    char comma = 0;
    std::string use;
    std::istringstream(line) >> gemm.m >> comma >> gemm.n >> comma >> gemm.k >> comma >> gemm.microseconds >> comma >>
        use;
    gemm.is_returned = use == "point" || use == "return";
    gemms.push_back(gemm);
  }
  return gemms;
}

/// A job on that machine, for its rates.
std::unique_ptr<Experiment> experiment_on(const std::string& machine) {
  const std::string path = std::filesystem::temp_directory_path() / ("tessera-measured-" + machine + ".toml");
  std::ofstream(path) << "machine = \"" << machine
                      << "\"\n[strategy]\nname = \"script\"\n[[strategy.step]]\nop = \"compute\"\nread = \"1 MB\"\n"
                      << "[cost]\n"
                      << (machine == "v100-cluster" ? "" : "power_limit = \"1 MW\"\n");  // tables hold bursts
  config::Diagnostics diagnostics;
  const Source source = load(path, {}, {std::filesystem::path(test::source_folder()) / "inputs"}, diagnostics);
  std::filesystem::remove(path);
  auto experiment = build(*source.table, diagnostics);
  diagnostics.throw_if_errors();
  return experiment;
}

}  // namespace

TEST_CASE("machine files return the GEMMs that they hold, and their neighbours within a few percent") {
  for (const Calibrated& expected : {Calibrated{"a100-80g-cluster", "a100-gemms.csv", "bf16", 48, 452, 0.065},
                                     Calibrated{"h100-cluster", "h100-gemms.csv", "bf16", 48, 452, 0.065},
                                     Calibrated{"v100-cluster", "v100-gemms.csv", "fp16", 41, 13, 0.05}}) {
    CAPTURE(expected.machine);
    const auto on = experiment_on(expected.machine);
    CHECK(on->calibration.starts_with("calibrated"));
    double sum = 0;
    int returned = 0, others = 0;
    for (const Gemm& gemm : read_table(expected.table)) {
      const Time modelled =
          on->cost->time(workload::gemm("gemm", 1, gemm.m, gemm.n, gemm.k, expected.datatype), on->machine.device);
      const double deviation = static_cast<double>(modelled) * 1e-6 / gemm.microseconds - 1;
      if (gemm.is_returned) {
        // Ratios have four decimals.
        CHECK(std::abs(deviation) < 2e-4);
        ++returned;
      } else {
        sum += std::abs(deviation);
        ++others;
      }
    }
    CHECK(returned == expected.returned);
    CHECK(others == expected.others);
    CHECK(sum / others < expected.mean);
  }
}

}  // namespace tessera::experiment
