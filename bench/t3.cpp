// T-NLG's FC-2 at TP 8 in T3's five configurations: wall time, events a second.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "support/bench_main.hpp"
#include "support/on_ranks.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/base/error.hpp"
#include "tessera/experiment/experiment.hpp"
#include "tessera/sim/simulate.hpp"

using namespace tessera;

namespace {

struct Figures {
  double seconds = 0;
  std::uint64_t events = 0;
  Time simulated = 0;
};

std::unique_ptr<experiment::Experiment> build(const std::string& file, const std::string& configuration) {
  config::Diagnostics diagnostics;
  const auto source = experiment::load(file, {experiment::parse_setting("strategy.configuration=" + configuration)},
                                       experiment::input_folders(), diagnostics);
  diagnostics.throw_if_errors();
  auto built = experiment::build(*source.table, diagnostics);
  diagnostics.throw_if_errors();
  return built;
}

Figures measure(const experiment::Experiment& experiment, Communicator& comm) {
  const auto begin = std::chrono::steady_clock::now();
  const auto result = sim::simulate(experiment.machine, experiment.plan.program, *experiment.cost, comm, {});
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  Figures figures;
  figures.seconds = 1e-9 * static_cast<double>(comm.max(static_cast<std::int64_t>(wall.count() * 1e9)));
  figures.events = static_cast<std::uint64_t>(comm.sum(static_cast<std::int64_t>(result.statistics.events)));
  figures.simulated = result.results.iteration_time;
  return figures;
}

/// Largest resident set of a rank so far, in MB.
std::int64_t peak_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::int64_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes / 1000;
  }
  return 0;
}

void run(const std::string& file, Communicator& comm) {
  Figures sum;
  for (const char* name : {"sequential", "t3", "t3-mca", "ideal-gemm-rs-overlap", "ideal-rs-nmc"}) {
    const auto experiment = build(file, name);
    const Figures one = measure(*experiment, comm);
    sum.seconds += one.seconds;
    sum.events += one.events;
    if (comm.rank() == 0) {
      fmt::print("{:<24}{:>10.3f} ms{:>10.2f} s{:>10.2f} M events{:>8.2f} M/s\n", name,
                 1e-9 * static_cast<double>(one.simulated), one.seconds, 1e-6 * static_cast<double>(one.events),
                 1e-6 * static_cast<double>(one.events) / one.seconds);
    }
  }
  const std::int64_t memory = comm.max(peak_megabytes());
  if (comm.rank() == 0) {
    fmt::print("summary: bench=t3 events={} seconds={:.3f} events_per_second={:.0f} ranks={} peak_mb={}\n", sum.events,
               sum.seconds, static_cast<double>(sum.events) / sum.seconds, comm.size(), memory);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string file = "inputs/experiments/t3/sublayer.toml";
  return bench::main_of("T3's five configurations of one sub-layer.",
                        {{"experiment", &file, "an experiment of strategy t3"}}, argc, argv,
                        [&] { return on_ranks(argc, argv, [&](Communicator& world) { run(file, world); }); });
}
