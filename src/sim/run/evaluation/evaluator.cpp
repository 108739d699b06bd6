// The simulator as searches and profilers see it.
#include <algorithm>
#include <limits>
#include <unordered_set>

#include "../refuse.hpp"
#include "closed_forms.hpp"
#include "known.hpp"
#include "outlook.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/messages.hpp"
#include "tessera/program/search/evaluations.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::sim {
namespace {

constexpr std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();

/// What the team's ranks know of their own devices and links, put together.
program::Evaluation gathered(const machine::Machine& machine, const results::RunResults& results, Communicator& team) {
  const std::size_t activities = results.activities.size();
  program::Evaluation own{true, {}, results.iteration_time};
  own.interval = results.interval;
  own.peak_memory.resize(machine.devices(), 0);
  own.accelerators = machine.accelerators();
  own.busy.resize(machine.devices() * activities, 0);
  own.link_bytes.resize(machine.network.links.size(), 0);
  for (const results::DeviceRow& row : results.device_rows) {
    own.peak_memory[row.device] = row.peak_memory;
    std::ranges::copy(row.activity, own.busy.begin() + static_cast<std::ptrdiff_t>(row.device * activities));
  }
  for (const results::LinkRow& row : results.link_rows)
    own.link_bytes[row.link] = row.bytes > most_bytes ? most_bytes : static_cast<std::int64_t>(row.bytes);
  if (team.size() == 1) return own;
  // Each device and link is one rank's: the others have 0.
  const auto add = [&team](std::vector<std::int64_t>& mine) {
    const std::vector<std::vector<std::int64_t>> all = all_gather(team, mine);
    std::ranges::fill(mine, 0);
    for (const std::vector<std::int64_t>& part : all) {
      for (std::size_t i = 0; i < mine.size(); ++i) mine[i] += part[i];
    }
  };
  add(own.peak_memory);
  add(own.busy);
  add(own.link_bytes);
  return own;
}

class SimulatorEvaluator final : public program::Evaluator {
 public:
  SimulatorEvaluator(const machine::Machine& machine, const workload::CostModel& cost, Watch watch)
      : machine_(machine), cost_(cost), least_(machine) {
    options_.run.interrupted = std::move(watch.interrupted);
    options_.run.is_over = std::move(watch.is_over);
    simulated_ = std::move(watch.simulated);
    if (watch.progress)
      options_.run.progress = [report = std::move(watch.progress)](const pdes::ProgressReport& now) {
        report(now.now);
      };
  }

  program::Evaluation evaluate(const program::Program& program, program::Fidelity fidelity,
                               Communicator& team) override {
    return evaluated(program, fidelity, team, {});
  }

  program::Evaluation evaluate_candidate(const program::Program& program, program::Fidelity fidelity,
                                         Communicator& team) override {
    return evaluated(program, fidelity, team, simulated_);
  }

  program::Outlook outlook(const program::Program& program) override {
    program::Outlook found;
    const Need need = largest_need(machine_, program);
    found.reason = need_problem(machine_, program, need);
    if (!found.reason.empty()) {
      found.need = need.peak.total;
      return found;
    }
    try {
      refuse_unrepresentable(machine_, program, cost_);
      refuse_program(machine_, program);
    } catch (const KeyError& error) {
      return {false, true, error.what(), 0, 0, 0, true, error.key};
    } catch (const InputError& error) {
      return {false, true, error.what(), 0, 0, 0, true};
    } catch (const InfeasibleError& error) {
      return {false, true, error.what()};
    }
    found.fits = true;
    CostTables costs(program, machine_, cost_);
    found.feasible = true;
    checked_.insert(program::search::key_of(program, program::Fidelity::simulated));
    found.least = least_of(machine_, program, costs, least_);
    found.estimate = std::max(found.least, estimate_of(machine_, program, costs));
    return found;
  }

  [[nodiscard]] int most_ranks() const override { return static_cast<int>(machine_.devices()); }

 private:
  using Listener = std::function<void(const program::Program&, SimulationResult)>;

  program::Evaluation evaluated(const program::Program& program, program::Fidelity fidelity, Communicator& team,
                                const Listener& simulated) {
    try {
      if (fidelity == program::Fidelity::simulated) {
        options_.is_checked = is_checked(program);
        SimulationResult found = simulate(machine_, program, cost_, team, options_);
        if (found.statistics.cut_off) return program::cut_off_at(found.results.iteration_time);
        program::Evaluation all = gathered(machine_, found.results, team);
        if (simulated && team.size() == 1) simulated(program, std::move(found));
        return all;
      }
      static_cast<void>(refuse(machine_, program, cost_, false));
      return fidelity == program::Fidelity::estimate ? estimate(machine_, program, cost_)
                                                     : lower_bound(machine_, program, cost_, least_);
    } catch (const InfeasibleError& error) {
      return {false, error.what()};
    }
  }

  /// Whether outlook() has found nothing to refuse.
  [[nodiscard]] bool is_checked(const program::Program& program) const {
    return !checked_.empty() && checked_.contains(program::search::key_of(program, program::Fidelity::simulated));
  }

  const machine::Machine& machine_;
  KnownTimes cost_;
  LeastTimes least_;
  std::unordered_set<std::uint64_t> checked_;  // by key_of()
  SimulationOptions options_;
  Listener simulated_;  // may be empty
};

}  // namespace

std::unique_ptr<program::Evaluator> make_evaluator(const machine::Machine& machine, const workload::CostModel& cost,
                                                   Watch watch) {
  return std::make_unique<SimulatorEvaluator>(machine, cost, std::move(watch));
}

}  // namespace tessera::sim
