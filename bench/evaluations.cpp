// What a candidate of a search costs: three searches of one machine and model each, candidate by candidate, in parts.
// What all candidates share is made with the first one.
#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "experiment/job_of.hpp"
#include "sim/run/refuse.hpp"
#include "support/bench_main.hpp"
#include "support/stopwatch.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/base/error.hpp"
#include "tessera/experiment/run.hpp"
#include "tessera/program/search/evaluations.hpp"

using namespace tessera;

namespace {

/// A search by its experiment, and its candidates as settings over that.
struct Case {
  std::string name, experiment;
  std::vector<std::vector<std::string>> candidates;
};

/// Of one layer's operators on 16 dies, as the search finds them: temporal, another one, and two that it is compared
/// with.
std::vector<std::string> partitions(const std::vector<std::string>& texts) {
  const std::vector<std::string> operators{
      "attention_norm",     "qkv",      "scores", "softmax",    "context", "projection",
      "attention_residual", "mlp_norm", "fc1",    "activation", "fc2",     "mlp_residual"};
  std::vector<std::string> settings;
  for (std::size_t i = 0; i < operators.size(); ++i)
    settings.push_back(fmt::format("strategy.partitions.{}=\"{}\"", operators[i], texts[i]));
  return settings;
}

std::vector<Case> cases() {
  return {
      {"22b",
       "megatron/22b-selective",
       {{"strategy.tensor=4", "strategy.pipeline=2", "strategy.micro_batch=1"},
        {},
        {"strategy.recomputation=full"},
        {"strategy.recomputation=full", "strategy.sequence_parallel=false"}}},
      {"175b",
       "gpt3-175b",
       {{"strategy.recomputation=full"}, {}, {"strategy.interleave=2"}, {"strategy.interleave=4"}}},
      {"wafer",
       "primepar/wafer",
       {partitions({"{H, H, B, B}, 7 x {M, H, B, B}", "{K, K, B, B}", "{H, H, B, B}", "{H, H, B, B}", "{H, H, B, B}",
                    "{N, K, B, B}", "{M, H, B, B}", "{M, H, B, B}", "{K, K, B, B}", "{F, F, B, B}", "{N, N, B, B}",
                    "{M, H, B, B}"}),
        partitions({"{H, B, B, B}, 7 x {M, M, H, H}", "{P(4x4)}", "{B, B, H, B}", "{B, B, H, B}", "{B, B, H, B}",
                    "{P(4x4)}", "{M, M, H, H}", "{M, M, H, H}", "{P(4x4)}", "{M, M, F, F}", "{P(4x4)}",
                    "{M, M, H, H}"}),
        partitions({"{M, H, M, B}, 7 x {M, M, H, H}", "{P(2x2), P(2x2)}", "{B, H, B, H}", "{B, H, B, H}",
                    "{B, H, B, H}", "{P(4x4)}", "{M, M, H, H}", "{M, M, H, H}", "{P(4x4)}", "{M, M, F, F}", "{P(4x4)}",
                    "{M, M, H, H}"})}},
  };
}

struct Options {
  std::string folder = "inputs/experiments";
  std::vector<std::string> only;
  int repeats = 3;
};

experiment::Source source_of(const Options& options, const Case& what, std::size_t candidate) {
  config::Diagnostics diagnostics;
  std::vector<experiment::Setting> settings;
  for (const std::string& text : what.candidates[candidate]) settings.push_back(experiment::parse_setting(text));
  experiment::Source source = experiment::load(fmt::format("{}/{}.toml", options.folder, what.experiment), settings,
                                               experiment::input_folders(), diagnostics);
  diagnostics.throw_if_errors();
  return source;
}

/// Milliseconds of processor time of one candidate. An evaluation is checks, set-up and simulation; a search that looks
/// at its candidates before (outlook) has done the checks.
struct Parts {
  double build = 0, key = 0, check = 0, setup = 0, evaluation = 0, outlook = 0;
  std::uint64_t events = 0;
  [[nodiscard]] double simulation() const { return evaluation - setup - check; }
};

template <class Act>
double milliseconds(Act&& act) {
  const bench::Stopwatch watch;
  act();
  return 1e3 * watch.cpu_seconds();
}

Parts evaluate(const config::Table& table, const experiment::Experiment& experiment, const strategy::Job& job,
               program::Evaluator& evaluator) {
  Parts parts;
  const auto comm = make_serial_communicator();
  const machine::Machine& machine = experiment.machine;
  program::Program program;
  parts.build =
      milliseconds([&] { program = experiment.strategy.program(*table.find("strategy")->table(), job).program; });
  const auto simulated = program::Fidelity::simulated;
  parts.key = milliseconds([&] { static_cast<void>(program::search::key_of(program, simulated)); });
  parts.check = milliseconds([&] { static_cast<void>(sim::refuse(machine, program, *experiment.cost, false)); });
  program::Evaluation found;
  parts.evaluation = milliseconds([&] { found = evaluator.evaluate(program, simulated, *comm); });
  if (!found.feasible) throw InternalError(found.reason);
  parts.outlook = milliseconds([&] { static_cast<void>(evaluator.outlook(program)); });
  sim::SimulationOptions options;
  options.is_checked = true;
  parts.events = sim::simulate(machine, program, *experiment.cost, *comm, options).statistics.events;
  options.run.end = 1;
  parts.setup =
      milliseconds([&] { static_cast<void>(sim::simulate(machine, program, *experiment.cost, *comm, options)); });
  return parts;
}

/// Each part by itself.
void keep_least(Parts& least, const Parts& other) {
  for (double Parts::*part :
       {&Parts::build, &Parts::key, &Parts::check, &Parts::setup, &Parts::outlook, &Parts::evaluation})
    least.*part = std::min(least.*part, other.*part);
}

/// By candidate, in a process that has evaluated those before.
std::vector<Parts> search(const Options& options, const Case& what) {
  const experiment::Source first = source_of(options, what, 0);
  config::Diagnostics diagnostics;
  const auto experiment = experiment::build(*first.table, diagnostics, {}, first.files);
  diagnostics.throw_if_errors();
  const auto comm = make_serial_communicator();
  program::search::Memo memo;
  const experiment::JobOf job(*experiment, *comm, memo, {});
  const auto evaluator = sim::make_evaluator(experiment->machine, *experiment->cost);
  std::vector<Parts> all;
  for (std::size_t i = 0; i < what.candidates.size(); ++i) {
    const experiment::Source source = source_of(options, what, i);
    all.push_back(evaluate(*source.table, *experiment, job.job(), *evaluator));
  }
  return all;
}

void print(const Case& what, const std::vector<Parts>& all) {
  fmt::print("{:<12}{:>10}{:>10}{:>10}{:>10}{:>12}{:>12}{:>12}{:>12}\n", what.name, "build", "key", "checks", "set-up",
             "simulation", "evaluation", "outlook", "events");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Parts& one = all[i];
    fmt::print("{:<12}{:>10.2f}{:>10.2f}{:>10.2f}{:>10.2f}{:>12.2f}{:>12.2f}{:>12.2f}{:>12}\n",
               i == 0 ? "  first" : fmt::format("  {}", i + 1), one.build, one.key, one.check, one.setup,
               one.simulation(), one.evaluation, one.outlook, one.events);
  }
}

void run(const Options& options) {
  fmt::print("milliseconds of processor time, each the least of {}\n", options.repeats);
  std::string summary;
  double seconds = 0, events = 0;
  for (const Case& what : cases()) {
    if (!options.only.empty() && std::ranges::count(options.only, what.name) == 0) continue;
    std::vector<Parts> all = search(options, what);
    for (int i = 1; i < options.repeats; ++i) {
      const std::vector<Parts> again = search(options, what);
      for (std::size_t k = 0; k < all.size(); ++k) keep_least(all[k], again[k]);
    }
    print(what, all);
    for (const Parts& one : all) {
      seconds += one.evaluation / 1e3;
      events += static_cast<double>(one.events);
    }
    summary +=
        fmt::format(" build_{0}_ms={1:.3f} evaluation_{0}_ms={2:.3f}", what.name, all[1].build, all[1].evaluation);
  }
  fmt::print("summary: bench=evaluations events={:.0f} seconds={:.3f} events_per_second={:.4g}{}\n", events, seconds,
             events / seconds, summary);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  return bench::main_of("What a candidate of a search costs.",
                        {{"--inputs", &options.folder, "folder of the experiments"},
                         {"--case", &options.only, "22b, 175b, wafer: these alone"},
                         {"--repeats", &options.repeats, "of each case; the least counts"}},
                        argc, argv, [&] { run(options); });
}
