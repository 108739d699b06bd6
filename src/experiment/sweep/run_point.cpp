#include "run_point.hpp"

#include <fmt/format.h>

#include <new>

#include "tessera/base/error.hpp"
#include "tessera/base/together.hpp"
#include "tessera/experiment/estimate.hpp"
#include "tessera/experiment/fits_computer.hpp"
#include "tessera/results/digest.hpp"

namespace tessera::experiment::sweep {
namespace {

/// The first line of a message, and how many there are.
std::string first_line(const std::string& message) {
  const std::size_t end = message.find('\n');
  if (end == std::string::npos) return message;
  const auto more = std::count(message.begin(), message.end(), '\n') - (message.back() == '\n' ? 1 : 0);
  return more == 0 ? message.substr(0, end) : fmt::format("{} (and {} more)", message.substr(0, end), more);
}

int usable_ranks(const Experiment& experiment, int ranks) {
  for (; ranks > 1; --ranks) {
    try {
      sim::refuse_ranks(experiment.machine, ranks, experiment.simulation.partition);
      break;
    } catch (const InputError&) {
      continue;
    }
  }
  return ranks;
}

/// The ranks that carry out the point, and what they know of it.
class Carried {
 public:
  Carried(const Sweep& sweep, const Point& point, const std::string& result, const SweepRunOptions& options,
          const std::function<void()>& on_the_way)
      : sweep_(sweep), point_(point), result_(result), options_(options), on_the_way_(on_the_way) {}

  void prepare(Communicator& team);
  [[nodiscard]] int ranks(int of) const { return usable_ranks(*experiment_, of); }
  void simulate(Communicator& ranks, results::SweepRow& row);

 private:
  const Sweep& sweep_;
  const Point& point_;
  const std::string& result_;
  const SweepRunOptions& options_;
  const std::function<void()>& on_the_way_;
  Source source_;
  std::unique_ptr<Experiment> experiment_;
};

void Carried::prepare(Communicator& team) {
  config::Diagnostics diagnostics;
  together(team, [&] {
    source_ = sweep_.source(point_, diagnostics);
    diagnostics.throw_if_errors();
  });
  const KeptCosts costs = read_costs({options_.cache, options_.record.version}, *source_.table, team, diagnostics);
  together(team, [&] {
    experiment_ = build(*source_.table, diagnostics, {}, source_.files, false, costs);
    diagnostics.throw_if_errors();
  });
}

void Carried::simulate(Communicator& ranks, results::SweepRow& row) {
  const RunRecord record{options_.record.command, options_.record.version, utc_now()};
  config::Diagnostics diagnostics;
  search(*source_.table, *experiment_, ranks, {{options_.cache, record.version}, {options_.interrupted, {}}},
         diagnostics);
  diagnostics.throw_if_errors();
  const Estimate expected = estimate_where_it_can_run(*experiment_, ranks);
  RunOptions how;
  how.synchroniser = options_.synchroniser;
  how.interrupted = options_.interrupted;
  how.progress = [this](const auto&, const auto&) { on_the_way_(); };
  how.ranks_used = sim::RanksUsed::automatic;
  how.all_work = work_of(expected);
  const sim::SimulationResult run_result = run(*experiment_, ranks, how);
  if (!result_.empty()) {
    const auto written = provenance(*experiment_, source_.given, config::to_toml(*source_.table), options_.synchroniser,
                                    record, run_result, ranks);
    results::write(result_, run_result.results, written, ranks);
  }
  row.digest = results::digest(run_result.results, static_cast<std::uint64_t>(experiment_->simulation.seed), ranks);
}

}  // namespace

results::SweepRow run_point(const Sweep& sweep, const Point& point, const std::string& result, Communicator& team,
                            const SweepRunOptions& options, const std::function<void()>& on_the_way) {
  results::SweepRow row;
  row.point = point.number;
  row.name = point.name;
  row.identity = point.identity;
  row.version = options.record.version;
  row.results_schema = results::file_schema_version();
  for (std::size_t i = 0; i < point.cells.size(); ++i) row.values.emplace_back(sweep.axes()[i].key, point.cells[i]);
  const auto end_with = [&](ExitCode code, const std::string& message) {
    row.code = static_cast<int>(code);
    row.message = first_line(message);
    row.digest.reset();
  };
  try {
    Carried carried(sweep, point, result, options, on_the_way);
    carried.prepare(team);
    if (team.size() == 1) {
      carried.simulate(team, row);
    } else {
      const int used = carried.ranks(team.size());
      const auto part = team.split(team.rank() < used ? 0 : 1);
      together(team, [&] {
        if (team.rank() < used) carried.simulate(*part, row);
      });
    }
  } catch (const Error& error) {
    if (options.interrupted && options.interrupted()) throw;
    if (error.code() == ExitCode::internal && team.size() > 1) throw;
    end_with(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    if (team.size() > 1) throw;
    end_with(ExitCode::io, out_of_memory);
  } catch (const std::exception& error) {
    if (team.size() > 1) throw;
    end_with(ExitCode::internal, error.what());
  }
  return row;
}

}  // namespace tessera::experiment::sweep
