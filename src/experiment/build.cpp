// From one resolved table to the typed experiment.
#include <fmt/format.h>

#include <algorithm>

#include "accuracy.hpp"
#include "calibration.hpp"
#include "check_workload.hpp"
#include "planning.hpp"
#include "tessera/base/error.hpp"
#include "tessera/machine/topology.hpp"
#include "tessera/sim/memory/arbitration.hpp"
#include "tessera/sim/network/arbitration.hpp"
#include "tessera/sim/simulate.hpp"
#include "tessera/workload/graph_file.hpp"
#include "tree.hpp"

namespace tessera::experiment {
namespace {

using config::Diagnostics;
using config::Table;
using config::Value;

/// The table under `key`; reports and returns null when it is missing or no table.
const Table* find_table(const Table& root, const std::string& key, const std::string& expectation,
                        Diagnostics& diagnostics) {
  const Value* value = root.find(key);
  if (value == nullptr) {
    diagnostics.error(root.where(), "missing key \"" + key + "\", expected " + expectation);
  } else if (value->table() == nullptr) {
    diagnostics.error(value->where(), "\"" + key + "\": " + value->type_name() +
                                          " is not allowed here, expected a table [" + key + "]");
  } else {
    return value->table();
  }
  return nullptr;
}

template <class T>
void read_table(const Table& root, const std::string& key, const config::Schema<T>& schema, T& object,
                Diagnostics& diagnostics) {
  if (const Table* table = find_table(root, key, "a table [" + key + "]", diagnostics))
    object = schema.read(*table, diagnostics);
}

/// The strategy that the table names; null after an error.
const strategy::StrategyKind* find_strategy(const Table& table, const strategy::Strategies& strategies,
                                            Diagnostics& diagnostics) {
  const Value* name = table.find("name");
  if (name != nullptr && name->string() != nullptr)
    return config::find(strategies, "strategy", *name->string(), name->where(), diagnostics);
  diagnostics.error(name == nullptr ? table.where() : name->where(),
                    "[strategy] needs a name, one of " + config::listed(config::names_of(strategies)));
  return nullptr;
}

void check_laws(const Table& root, const SimulationSettings& settings, Diagnostics& diagnostics) {
  const Value* simulation = root.find("simulation");
  const Value* laws =
      simulation == nullptr || simulation->table() == nullptr ? nullptr : simulation->table()->find("laws");
  try {
    static_cast<void>(sim::laws_named(settings.laws));
  } catch (const InputError& error) {
    diagnostics.error(laws == nullptr ? root.where() : laws->where(), error.what());
  }
}

/// The machine names how its links arbitrate, the simulator knows what that is.
void check_arbitration(const Table& table, const machine::Machine& machine, Diagnostics& diagnostics) {
  if (!diagnostics.ok()) return;
  const Value* value = table.find("topology")->table()->find("arbitration");
  static_cast<void>(config::find(sim::port_arbitration_kinds(), "arbitration", machine.network.arbitration,
                                 value == nullptr ? table.where() : value->where(), diagnostics));
}

/// What a GPU's values mean is the simulator's, the table that holds them is the machine's.
void check_transaction(const Table& table, const machine::Machine& machine, Diagnostics& diagnostics) {
  if (!machine.device.transaction || !diagnostics.ok()) return;
  const Table& transaction = *table.find("device")->table()->find("transaction")->table();
  const Value* value = transaction.find("arbitration");
  static_cast<void>(config::find(sim::arbitration_kinds(), "arbitration", machine.device.transaction->arbitration,
                                 value == nullptr ? table.where() : value->where(), diagnostics));
  try {
    sim::refuse_gpu(*machine.device.transaction);
  } catch (const InputError& error) {
    report_each_line(transaction.where(), error.what(), diagnostics);
  }
}

/// A transformer by its dimensions, or a graph and nothing else.
void read_model(const Table& table, Experiment& experiment, Diagnostics& diagnostics) {
  const Value* graph = table.find("graph");
  if (graph == nullptr) {
    experiment.model = workload::read_model(table, diagnostics);
  } else if (graph->table() == nullptr) {
    diagnostics.error(graph->where(), "\"graph\": " + graph->type_name() + " is not allowed here, expected a table");
  } else {
    for (const auto& [key, value] : table.entries())
      if (key != "graph")
        diagnostics.error(value.key_where(), "\"" + key + "\" of a model that is a graph, allowed: graph");
    experiment.graph = workload::read_graph(*graph->table(), diagnostics);
  }
}

/// The library's protocols, each of an algorithm that has steps of its own.
void read_library(const Table& root, program::CollectiveChoices& choices, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const program::AlgorithmPointer& algorithm : choices.known.all())
    if (algorithm->name() != "auto") names.push_back(algorithm->name());
  for (std::size_t i = 0; i < choices.protocols.size(); ++i) {
    const std::string& name = choices.protocols[i].algorithm;
    if (name.empty() || std::ranges::find(names, name) != names.end()) continue;
    const Table& table = *root.find("collectives")->table()->find("protocols")->array()->at(i).table();
    diagnostics.error(table.find("algorithm")->where(), "\"algorithm\": " + config::unknown("choice", name, names));
  }
  if (!choices.protocols.empty()) choices.library = std::make_shared<const program::Protocols>(choices.protocols);
}

void read_tables(const Table& root, const Parts& parts, Experiment& experiment, Diagnostics& diagnostics) {
  const Head head = head_schema().read(root, diagnostics);
  experiment.title = head.title;
  check_calibration(root, diagnostics);
  // An included machine or model that could not be read has been reported, and its key is gone.
  const bool complete = diagnostics.ok();
  if (complete || root.find("machine") != nullptr) {
    const Table* table = find_table(root, "machine", "the name of a machine or a table [machine]", diagnostics);
    if (table != nullptr) experiment.machine = machine::build_machine(*table, diagnostics, parts.topologies);
    if (table != nullptr) check_arbitration(*table, experiment.machine, diagnostics);
    if (table != nullptr) check_transaction(*table, experiment.machine, diagnostics);
  }
  if (root.find("model") != nullptr) {
    const Table* table = find_table(root, "model", "", diagnostics);
    if (table != nullptr) read_model(*table, experiment, diagnostics);
  }
  read_table(root, "workload", strategy::workload_schema(), experiment.workload, diagnostics);
  experiment.calibration = calibration_text(root);
  if (experiment.calibration == "calibrated") experiment.calibration += "; " + accuracy_text(head.measured, experiment);
  if (const Table* table = find_table(root, "cost", "a table [cost]", diagnostics)) {
    experiment.cost = workload::make_cost_model(*table, diagnostics, {experiment.files, tensors_of});
  }
  read_table(root, "collectives", program::collective_choices_schema(parts.collectives), experiment.collectives,
             diagnostics);
  experiment.collectives.known = parts.collectives;
  read_library(root, experiment.collectives, diagnostics);
  read_table(root, "record", record_schema(), experiment.record, diagnostics);
  read_table(root, "simulation", simulation_schema(), experiment.simulation, diagnostics);
  check_laws(root, experiment.simulation, diagnostics);
  if (root.find("training") != nullptr)
    read_table(root, "training", training_schema(), experiment.training, diagnostics);
}

void check_cost(const Table& root, const Experiment& experiment, Diagnostics& diagnostics) {
  if (!diagnostics.ok()) return;
  try {
    experiment.cost->check(experiment.machine.device, experiment.workload.datatype);
  } catch (const KeyError& error) {
    diagnostics.error(place_of(root, error.key), error.what());
  }
}

}  // namespace

std::unique_ptr<Experiment> build(const Table& root, Diagnostics& diagnostics, const Parts& parts,
                                  std::vector<Attachment> files, bool is_searched_next, const KeptCosts& costs) {
  auto experiment = std::make_unique<Experiment>();
  experiment->files = std::move(files);
  read_tables(root, parts, *experiment, diagnostics);
  check_cost(root, *experiment, diagnostics);
  if (experiment->cost != nullptr && !experiment->cost->learn(costs.text))
    diagnostics.warn({costs.file, 0, 0}, "damaged, or of another version of Tessera: everything is worked out anew");
  const Table* table = find_table(root, "strategy", "a table [strategy]", diagnostics);
  const strategy::StrategyKind* kind =
      table == nullptr ? nullptr : find_strategy(*table, parts.strategies, diagnostics);
  if (kind == nullptr) return experiment;
  experiment->strategy = *kind;
  if (kind->needs_model && root.find("model") == nullptr && diagnostics.ok()) {
    diagnostics.error(root.where(), "missing key \"model\": strategy \"" + kind->name +
                                        "\" needs one, expected the name of a model or a table [model]");
  }
  if (kind->needs_model && experiment->graph && diagnostics.ok()) {
    diagnostics.error(root.find("model")->where(),
                      "strategy \"" + kind->name + "\" cuts transformers, and this model is a computation graph");
  }
  if (diagnostics.ok()) check_workload(root, *experiment, diagnostics);
  if (!diagnostics.ok()) {
    kind->schema().check(*table, diagnostics);  // what can be said without a machine and a model
    return experiment;
  }
  check_strategy(root, *experiment, is_searched_next, diagnostics);
  return experiment;
}

}  // namespace tessera::experiment
