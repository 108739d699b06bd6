#include "tessera/experiment/run.hpp"

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
  for (const auto& [node, device, time, weights, name] : plan.placement.nodes)
    results.partition.push_back({node, device, time, weights, name});
  for (const auto& [from, to, bytes] : plan.placement.edges) results.graph_edges.push_back({from, to, bytes});
  results.search_is_timed = experiment.searched.is_timed;
  results.learning = learning_rows(experiment.searched.updates);
  results.model_flops = plan.model_flops;
  results.hardware_flops = plan.hardware_flops;
  results.parameters = plan.parameters;
  results.tokens = plan.tokens;
  results.peak_flops = peak_flops(experiment);
  results.memory_capacity = experiment.machine.device.memory_capacity.value();
  results.memory_reserve = experiment.machine.device.memory_reserve.value();
}

}  // namespace

std::vector<results::LearningRow> learning_rows(const std::vector<program::search::Update>& updates) {
  std::vector<results::LearningRow> rows;
  for (const program::search::Update& one : updates)
    rows.push_back({one.step, one.samples, one.subject, one.reward, one.best_reward, one.valid, one.entropy, one.value,
                    one.value_error, one.divergence, one.clipped, one.norm});
  return rows;
}

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
  sim::SimulationResult result =
      sim::simulate(experiment.machine, experiment.plan.program, *experiment.cost, comm, simulation);
  describe(experiment, result.results);
  return result;
}

}  // namespace tessera::experiment
