#include "tessera/experiment/run.hpp"

#include "planning.hpp"
#include "tessera/base/error.hpp"

namespace tessera::experiment {
namespace {

/// What the simulation does not know: names, and what the strategy says of its plan.
void describe(const Experiment& experiment, results::RunResults& results) {
  const strategy::Plan& plan = experiment.plan;
  results.title = experiment.title;
  results.machine = experiment.machine.name;
  results.calibration = experiment.calibration;
  results.model = experiment.model ? experiment.model->name : experiment.graph ? experiment.graph->name : "";
  results.strategy = experiment.strategy.name;
  results.plan = plan.description;
  for (const auto& [what, time] : experiment.searched.predicted) results.predicted.push_back({what, time});
  for (const program::search::Tried& one : experiment.searched.table)
    results.search.push_back({one.step, one.candidate, program::name_of(one.fidelity), one.cost, one.accepted,
                              one.reason, one.best, one.origin, one.predicted, one.interval, one.reward,
                              one.most_memory,
                              std::chrono::duration<double>(one.known - experiment.search_began).count()});
  results.search_is_timed = experiment.searched.is_timed;
  results.tables = experiment.searched.tables;
  results.model_flops = plan.model_flops;
  results.hardware_flops = plan.hardware_flops;
  results.parameters = plan.parameters;
  results.tokens = plan.tokens;
  results.peak_flops = peak_flops(experiment);
  results.memory_capacity = experiment.machine.device.memory_capacity.value();
  results.memory_reserve = experiment.machine.device.memory_reserve.value();
}

Time rounded_share(Time whole, std::int64_t parts) { return parts > 0 ? (whole + parts / 2) / parts : 0; }

/// What the search has simulated, where that is the plan, and the experiment says nothing of how to simulate it. Null:
/// it has not.
const sim::SimulationResult* known(const Experiment& experiment, const Communicator& comm) {
  const sim::SimulationOptions own = simulation_options(experiment), of_searches;
  const bool is_alike = own.laws == of_searches.laws && own.fold == of_searches.fold && !own.record_timeline &&
                        !own.record_memory && own.traffic_interval == 0 && !own.allow_oversubscription;
  const bool is_plan = experiment.fastest && experiment.fastest->program == experiment.plan.program;
  return is_alike && is_plan && comm.size() == 1 ? &experiment.fastest->result : nullptr;
}

/// When the first token is there, and how far apart the others are: the pass over prompts makes the first one.
results::ServedRow served(const strategy::Served& plan, const results::RunResults& results) {
  using workload::Phase;
  results::ServedRow row{
      strategy::name_of(plan.phase), plan.sequences, plan.prompt, plan.generated, 0, 0, plan.largest_batch};
  if (plan.phase == Phase::prompt) row.first_token = results.iteration_time;
  if (plan.phase == Phase::generation) row.token = rounded_share(results.iteration_time, plan.generated);
  if (plan.phase != Phase::prompt_and_generation) return row;
  if (results.phases.empty()) throw InternalError("a program with prompts and generation names no phase");
  row.first_token = results.phases.front().end;
  row.token = rounded_share(results.iteration_time - row.first_token, plan.generated - 1);
  return row;
}

}  // namespace

results::RunResults search_results(const Experiment& experiment) {
  results::RunResults results;
  describe(experiment, results);
  return results;
}

std::int64_t peak_flops(const Experiment& experiment) {
  const std::string datatype = experiment.graph ? experiment.graph->product_datatype() : experiment.workload.datatype;
  const auto peak = experiment.machine.device.peak.find(datatype);
  return peak == experiment.machine.device.peak.end() ? 0 : peak->second.value();
}

sim::SimulationOptions simulation_options(const Experiment& experiment) {
  sim::SimulationOptions options;
  options.partition = experiment.simulation.partition;
  options.laws = sim::laws_named(experiment.simulation.laws);
  options.fold = experiment.simulation.fold;
  options.record_timeline = experiment.record.timeline;
  options.record_memory = experiment.record.memory_timeline;
  options.traffic_interval = experiment.record.traffic_interval;
  options.allow_oversubscription = experiment.simulation.allow_oversubscription;
  return options;
}

sim::SimulationResult run(const Experiment& experiment, Communicator& comm, const RunOptions& options) {
  sim::SimulationOptions simulation = simulation_options(experiment);
  simulation.run.synchroniser = options.synchroniser;
  simulation.run.interrupted = options.interrupted;
  simulation.progress = options.progress;
  simulation.warn = options.warn;
  simulation.ranks_used = options.ranks_used;
  simulation.all_work = options.all_work;
  const sim::SimulationResult* found = known(experiment, comm);
  sim::SimulationResult result =
      found != nullptr ? *found
                       : sim::simulate(experiment.machine, experiment.plan.program, *experiment.cost, comm, simulation);
  describe(experiment, result.results);
  if (experiment.plan.served) result.results.served = served(*experiment.plan.served, result.results);
  result.results.tables = tables_of(experiment);
  if (auto table = experiment.cost->table(experiment.plan.program.operators, experiment.machine.device))
    result.results.tables.push_back(std::move(*table));
  return result;
}

}  // namespace tessera::experiment
