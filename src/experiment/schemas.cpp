// The tables that this layer owns, and all schemas together.
#include <algorithm>

#include "sweep/axes.hpp"
#include "tessera/machine/template.hpp"
#include "tessera/machine/topology.hpp"
#include "tessera/pdes/partition.hpp"
#include "tessera/sim/memory/arbitration.hpp"
#include "tessera/sim/network/arbitration.hpp"
#include "tessera/workload/network.hpp"
#include "tree.hpp"

namespace tessera::experiment {
namespace {

const config::Schema<MeasuredJobs>& measured_schema() {
  static const config::Schema<MeasuredJobs> schema = [] {
    config::Schema<MeasuredJobs> s("measured", "Measured jobs of one kind, beside what was simulated of them.");
    s.text("recipe", &MeasuredJobs::recipe, "name of their recipe");
    s.text("device", &MeasuredJobs::device, "name of their device");
    s.boolean("experts", &MeasuredJobs::experts, "of models with experts, or of models without");
    s.integer("jobs", &MeasuredJobs::jobs, "how many").at_least("1");
    s.number("mean", &MeasuredJobs::mean, "mean of the absolute deviations of the time, %").at_least("0");
    s.number("greatest", &MeasuredJobs::greatest, "greatest absolute deviation, %").at_least("0");
    return s;
  }();
  return schema;
}

}  // namespace

const config::Schema<Head>& head_schema() {
  static const config::Schema<Head> schema = [] {
    config::Schema<Head> s("experiment", "An experiment file: one job on one machine.");
    s.text("title", &Head::title, "one line, shown above the summary; empty: the name of the file").otherwise("");
    s.also_accept("machine",
                  "name of a machine, or a table [machine]: include = \"name\" and values of your own over it");
    s.also_accept(
        "model",
        "name of a model, or a table [model]: include = \"name\", hugging_face = \"config.json\" or all fields; "
        "beside a file of ONNX datatype and dimensions = { N = 1 } (docs/graphs.md)");
    s.also_accept("recipe", "name of a recipe: what a software stack does, as defaults of the tables below");
    s.also_accept("attachments", "of a resolved experiment: hashes of the files that its strategy and cost model name");
    s.tables("measured", &Head::measured, measured_schema(),
             "of a resolved experiment: measured jobs of its recipe, which the summary tells of")
        .optional();
    s.also_accept("workload", "what is run, see workload");
    s.also_accept("strategy", "how it is cut and scheduled: name and that strategy's own keys, see strategy.NAME");
    s.also_accept("cost", "how long an operator takes: model and that cost model's own keys, see cost.NAME");
    s.also_accept("collectives", "which algorithm each kind of collective uses, see collectives");
    s.also_accept("record", "what is kept beside the summary, see record");
    s.also_accept("simulation", "how the simulation runs, see simulation");
    s.also_accept("training", "what `tessera train` learns from, see training");
    return s;
  }();
  return schema;
}

const config::Schema<Recipe>& recipe_schema() {
  static const config::Schema<Recipe> schema = [] {
    config::Schema<Recipe> s("recipe",
                             "A recipe file: what a software stack does, as defaults of an experiment's tables.");
    s.text("source", &Recipe::source, "which stack, of which year, and where that is written").otherwise("");
    s.also_accept("include", "another recipe, whose keys these win over");
    s.also_accept("workload", "defaults of the experiment's [workload]");
    s.also_accept("strategy",
                  "defaults of the experiment's [strategy]; with a name, or a list of them, for those alone");
    s.also_accept("cost", "defaults of the experiment's [cost]");
    s.also_accept("collectives", "defaults of the experiment's [collectives]");
    return s;
  }();
  return schema;
}

const config::Schema<Record>& record_schema() {
  static const config::Schema<Record> schema = [] {
    config::Schema<Record> s("record", "What is kept beside the summary; both grow with the length of the run.");
    s.boolean("timeline", &Record::timeline, "every interval of every stream, for `tessera timeline`")
        .otherwise("false");
    s.boolean("memory_timeline", &Record::memory_timeline, "every change of every device's memory").otherwise("false");
    s.quantity("traffic_interval", &Record::traffic_interval, config::Unit::time,
               "the traffic of memories at transaction level in intervals of this length; 0 ns: none")
        .otherwise("0 ns");
    return s;
  }();
  return schema;
}

const config::Schema<SimulationSettings>& simulation_schema() {
  static const config::Schema<SimulationSettings> schema = [] {
    config::Schema<SimulationSettings> s("simulation", "How the simulation itself runs.");
    s.integer("seed", &SimulationSettings::seed, "of all random draws").at_least("0").otherwise("1");
    s.choice("partition", &SimulationSettings::partition, pdes::partition_kinds(),
             "which rank simulates what; no result depends on it")
        .otherwise("auto");
    s.boolean("allow_oversubscription", &SimulationSettings::allow_oversubscription,
              "a job that does not fit into memory only warns")
        .otherwise("false");
    s.text(
         "laws", &SimulationSettings::laws,
         "what may be simulated without an event for each packet and message: all, none, or laws by name, with commas "
         "between (see the list of choices in tessera help). No result depends on it")
        .otherwise("all");
    s.choice<sim::Folding>(
         "fold", &SimulationSettings::fold,
         {{"auto", sim::Folding::automatic}, {"none", sim::Folding::none}, {"replicas", sim::Folding::replicas}},
         "which devices are simulated. auto: of what is alike (data-parallel replicas, tensor "
         "ranks, nodes) one part for all, and everything where nothing is; none: everything; "
         "replicas: of replicas one for all, refused where they are not alike. No result depends "
         "on it")
        .otherwise("auto");
    return s;
  }();
  return schema;
}

const config::Schema<TrainingSettings>& training_schema() {
  static const config::Schema<TrainingSettings> schema = [] {
    config::Schema<TrainingSettings> s("training", "What `tessera train` learns from, and for how long.");
    s.choice<Learns>("learns", &TrainingSettings::learns, {{"policy", Learns::policy}, {"products", Learns::products}},
                     "what: a policy that the strategy's searches begin with, or how long products take by the "
                     "experiment's cost model, for cost model predictor")
        .otherwise("policy");
    s.text("split", &TrainingSettings::split,
           "a file of inputs/graphs/splits by name, or a path: lists `training`, `validation` and `test` of networks")
        .otherwise("random");
    s.integer("samples", &TrainingSettings::samples,
              "partitions that are judged, over all graphs of the training; or products that are learnt from")
        .at_least("1")
        .at_most("1000000000")
        .otherwise("20000");
    s.integer("checkpoints", &TrainingSettings::checkpoints, "at which the policy is kept, and validated as it is")
        .at_least("1")
        .at_most("100000")
        .otherwise("200");
    s.integer("together", &TrainingSettings::together, "graphs whose rollouts an update learns from")
        .at_least("1")
        .at_most("1000")
        .otherwise("5");
    s.integer("finalists", &TrainingSettings::finalists, "checkpoints that learn on with each graph of the validation")
        .at_least("1")
        .at_most("1000")
        .otherwise("10");
    s.integer("validation_samples", &TrainingSettings::validation_samples,
              "partitions of each graph of the validation at a checkpoint")
        .at_least("1")
        .at_most("100000")
        .otherwise("20");
    s.integer("fine_tuning_samples", &TrainingSettings::fine_tuning_samples,
              "and of each with which a finalist learns on")
        .at_least("1")
        .at_most("100000")
        .otherwise("100");
    s.integer("held_out", &TrainingSettings::held_out, "products by which what was learnt is judged")
        .at_least("1")
        .at_most("1000000")
        .otherwise("2000");
    s.integer("epochs", &TrainingSettings::epochs, "how often all products are learnt from")
        .at_least("1")
        .at_most("100000")
        .otherwise("200");
    return s;
  }();
  return schema;
}

std::vector<config::SchemaPointer> schemas(const Parts& parts) {
  std::vector<config::SchemaPointer> all = machine::schemas(parts.topologies);
  all.push_back(std::make_shared<config::Schema<program::CollectiveChoices>>(
      program::collective_choices_schema(parts.collectives)));
  const auto add = [&](const config::SchemaBase& schema) { all.push_back(config::lasting(schema)); };
  add(head_schema());
  add(recipe_schema());
  add(record_schema());
  add(simulation_schema());
  add(training_schema());
  add(sweep::sweep_schema());
  add(sweep::range_schema());
  add(strategy::workload_schema());
  add(workload::operation_schema());
  for (const auto* schema : workload::schemas()) add(*schema);
  for (const auto& kind : parts.strategies) {
    // A schema lives as long as a copy of its strategy.
    const auto held = std::make_shared<const strategy::StrategyKind>(kind);
    all.emplace_back(held, &held->schema());
    if (!kind.inner_schemas) continue;
    for (const auto* schema : kind.inner_schemas()) add(*schema);
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->path() < b->path(); });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<Choice> choices(const Parts& parts) {
  std::vector<Choice> all;
  for (const auto& kind : parts.strategies) all.push_back({"strategy", kind.name, kind.help});
  for (const auto& kind : parts.topologies) all.push_back({"machine.topology", kind.name, kind.help});
  for (const auto& kind : machine::built_in_templates()) all.push_back({"machine.template", kind.name, kind.help});
  for (const auto& kind : workload::cost_model_kinds()) all.push_back({"cost", kind.name, kind.help});
  for (const auto& kind : workload::network_families()) all.push_back({"network", kind.name, kind.help});
  for (const auto& law : sim::laws()) all.push_back({"simulation.laws", law.name, law.help});
  for (const auto& kind : sim::port_arbitration_kinds())
    all.push_back({"machine.topology.arbitration", kind.name, kind.help});
  for (const auto& kind : sim::arbitration_kinds())
    all.push_back({"machine.device.transaction.arbitration", kind.name, kind.help});
  for (const auto& algorithm : parts.collectives.all())
    all.push_back({"collectives", algorithm->name(), algorithm->help()});
  return all;
}

}  // namespace tessera::experiment
