// What an experiment would take on more ranks than there are cores: all ranks in this process, window by window
// (sim::simulate_side_by_side), and from the events of the fullest rank in each window
//
//   seconds = sum over windows of the most events of a rank * seconds an event + windows * cost of an agreement
//
// for several such costs; an event's seconds are those of a run on one rank in this process. Run:
// scaling inputs/experiments/gpt3-175b.toml --ranks 4 16
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "support/bench_main.hpp"
#include "support/stopwatch.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/base/error.hpp"
#include "tessera/experiment/run.hpp"
#include "tessera/sim/simulate.hpp"

using namespace tessera;

namespace {

/// Events of the fullest rank below which a window counts as small.
constexpr std::uint64_t small_window = 20;

struct Options {
  std::string experiment = "inputs/experiments/gpt3-175b.toml";
  std::vector<std::string> settings;
  std::vector<int> ranks = {4, 16};
  std::vector<double> costs = {0, 2, 10, 25};  ///< us
};

/// Of all windows of a run on so many ranks.
struct Scaling {
  std::uint64_t windows = 0;
  std::uint64_t small = 0;    ///< of them
  std::uint64_t events = 0;   ///< of all ranks
  std::uint64_t longest = 0;  ///< sum of the fullest rank's
  std::uint64_t messages = 0;

  void add(const pdes::Window& window) {
    const std::uint64_t most = *std::max_element(window.events.begin(), window.events.end());
    ++windows;
    small += most < small_window ? 1 : 0;
    longest += most;
    events = std::accumulate(window.events.begin(), window.events.end(), events);
  }

  [[nodiscard]] double seconds(double event, double cost_us) const {
    return static_cast<double>(longest) * event + static_cast<double>(windows) * cost_us * 1e-6;
  }
};

std::unique_ptr<experiment::Experiment> load(const Options& options) {
  config::Diagnostics diagnostics;
  std::vector<experiment::Setting> settings;
  for (const std::string& text : options.settings) settings.push_back(experiment::parse_setting(text));
  auto source = experiment::load(options.experiment, settings, experiment::input_folders(), diagnostics);
  diagnostics.throw_if_errors();
  auto built = experiment::build(*source.table, diagnostics, {}, source.files);
  diagnostics.throw_if_errors();
  const auto comm = make_serial_communicator();
  experiment::search(*source.table, *built, *comm, {}, diagnostics);
  diagnostics.throw_if_errors();
  return built;
}

Scaling scale(const experiment::Experiment& experiment, int ranks) {
  Scaling scaling;
  sim::SimulationOptions options;
  options.laws = sim::laws_named(experiment.simulation.laws);
  options.partition = experiment.simulation.partition;
  options.allow_oversubscription = true;
  const auto done = sim::simulate_side_by_side(experiment.machine, experiment.plan.program, *experiment.cost, ranks,
                                               options, [&](const pdes::Window& window) { scaling.add(window); });
  for (const pdes::RunStatistics& rank : done.ranks) scaling.messages += rank.messages;
  return scaling;
}

void print_row(const Options& options, int ranks, const Scaling& scaling, double event) {
  fmt::print("{:>6}{:>12}{:>9.1f}{:>12}{:>12}{:>11}", ranks, scaling.windows,
             100.0 * static_cast<double>(scaling.small) / static_cast<double>(scaling.windows), scaling.events,
             scaling.longest, scaling.messages);
  for (const double cost : options.costs) fmt::print("{:>10.3f}", scaling.seconds(event, cost));
  fmt::print("\n");
}

void run(const Options& options) {
  const auto experiment = load(options);
  const auto comm = make_serial_communicator();
  const auto alone = experiment::run(*experiment, *comm).statistics;
  const double event = alone.wall_seconds / static_cast<double>(alone.events);
  fmt::print("one rank: {} events in {:.3f} s, {:.0f} ns an event\n", alone.events, alone.wall_seconds, event * 1e9);
  fmt::print("{:>6}{:>12}{:>9}{:>12}{:>12}{:>11}", "ranks", "windows", "small %", "events", "fullest", "messages");
  for (const double cost : options.costs) fmt::print("{:>10}", fmt::format("s, {} us", cost));
  fmt::print("\n");
  for (const int ranks : options.ranks) {
    const bench::Stopwatch watch;
    const Scaling scaling = scale(*experiment, ranks);
    print_row(options, ranks, scaling, event);
    fmt::print(
        "summary: bench=scaling ranks={} windows={} small={} events={} fullest={} messages={} event_ns={:.1f} "
        "seconds={:.3f}\n",
        ranks, scaling.windows, scaling.small, scaling.events, scaling.longest, scaling.messages, event * 1e9,
        watch.wall_seconds());
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  return bench::main_of("What an experiment would take on many ranks.",
                        {{"experiment", &options.experiment, "an experiment file"},
                         {"--set", &options.settings, "KEY=VALUE of the experiment, may be given several times"},
                         {"--ranks", &options.ranks, "how many ranks"},
                         {"--costs", &options.costs, "us of an agreement of all ranks"}},
                        argc, argv, [&] { run(options); });
}
