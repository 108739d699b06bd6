// What of a run depends on who carried it out.
#include <unistd.h>

#include <array>
#include <ctime>

#include "tessera/experiment/candidates.hpp"
#include "tessera/experiment/run.hpp"

namespace tessera::experiment {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

namespace {

/// With what was found out on the way.
std::vector<results::LawUse> laws_of(const Experiment& experiment, const sim::SimulationResult& result, int ranks) {
  const sim::SimulationOptions options = simulation_options(experiment);
  return sim::uses_of_laws(experiment.machine, experiment.plan.program, options,
                           result.fold.empty() && result.ranks_used == 0 ? ranks : 1, result.not_folded);
}

}  // namespace

results::Provenance provenance(const Experiment& experiment, const std::string& given, const std::string& resolved,
                               const std::string& synchroniser, const RunRecord& record,
                               const sim::SimulationResult& result, Communicator& comm) {
  results::Provenance p;
  const pdes::RunStatistics& own = result.statistics;
  p.experiment_given = given;
  p.experiment_resolved = resolved;
  p.command = record.command;
  p.calibration = experiment.calibration;
  p.kernels = experiment.searched.kernels;
  p.fold = result.fold;
  p.laws = laws_of(experiment, result, comm.size());
  if (const auto& report = experiment.searched.report; report && report->found.is_cut_off)
    p.cut_off = proven_text(*report);
  p.version = record.version;
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  p.host = host.data();
  p.started = record.started;
  p.seed = static_cast<std::uint64_t>(experiment.simulation.seed);
  p.ranks = comm.size();
  p.ranks_used = result.ranks_used > 0 ? result.ranks_used : comm.size();
  p.synchroniser = synchroniser;
  p.partition = experiment.simulation.partition;
  const auto total = [&](std::uint64_t value) {
    return static_cast<std::uint64_t>(comm.sum(static_cast<std::int64_t>(value)));
  };
  const auto longest = [&](double seconds) {
    return 1e-9 * static_cast<double>(comm.max(static_cast<std::int64_t>(seconds * 1e9)));
  };
  p.wall_seconds = longest(own.wall_seconds);
  p.waiting_seconds = longest(own.waiting_seconds);
  p.events = total(own.events);
  p.rounds = static_cast<std::uint64_t>(comm.max(static_cast<std::int64_t>(own.rounds)));
  p.messages = total(own.messages);
  p.events_by_kind = result.events;
  for (results::NamedCount& kind : p.events_by_kind) kind.count = comm.sum(kind.count);
  return p;
}

}  // namespace tessera::experiment
