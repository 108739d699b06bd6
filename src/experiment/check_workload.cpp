#include "check_workload.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tessera::experiment {
namespace {

using config::Diagnostics;
using config::Location;
using config::Table;
using config::Value;

/// Where the key stands, or its table.
const Location& where_in(const Table& root, const char* table, const std::string& key) {
  const Value* value = root.find(table)->table()->find(key);
  return value == nullptr ? root.find(table)->where() : value->where();
}

bool looks_at(const strategy::StrategyKind& kind, const std::string& key) {
  return std::ranges::find(kind.workload_keys, key) != kind.workload_keys.end();
}

void refuse_passed_over(const Table& root, const Experiment& experiment, Diagnostics& diagnostics) {
  const strategy::StrategyKind& kind = experiment.strategy;
  for (const std::string& key : strategy::changed_keys(experiment.workload)) {
    if (looks_at(kind, key)) continue;
    diagnostics.error(where_in(root, "workload", key),
                      strategy::only_default(key, "strategy \"" + kind.name + "\" does not read it"));
  }
}

bool is_of_one_byte(const std::string& datatype) { return workload::bytes_per_element(datatype) == 1; }

/// Programs whose datatype is that of the workload, in a phase that the strategy knows; a script says itself what each
/// of its steps computes in.
bool computes_in_datatype(const Experiment& experiment) {
  return looks_at(experiment.strategy, "phase") && looks_at(experiment.strategy, "datatype") && !experiment.graph;
}

/// Training in one byte keeps most of its bytes in two: taken as FP8 throughout, public jobs come out 40 to 120 % too
/// fast and with a third too little memory.
void refuse_training_of_one_byte(const Table& root, const Experiment& experiment, Diagnostics& diagnostics) {
  const strategy::Workload& workload = experiment.workload;
  if (workload.phase != workload::Phase::training || !is_of_one_byte(workload.datatype)) return;
  if (!computes_in_datatype(experiment)) return;
  std::vector<std::string> allowed;
  for (const std::string& name : workload::datatype_names()) {
    if (!is_of_one_byte(name)) allowed.push_back(name);
  }
  diagnostics.error(where_in(root, "workload", "datatype"),
                    fmt::format("training in \"{}\" is not modelled: stacks that train in it keep weights, activations "
                                "between layers, attention, logits and messages in 16 bits, and here all of them would "
                                "be of 8, allowed in training: {}",
                                workload.datatype, fmt::join(allowed, ", ")));
}

void check_generated(const Table& root, const Experiment& experiment, Diagnostics& diagnostics) {
  const strategy::Workload& workload = experiment.workload;
  if (!looks_at(experiment.strategy, "generated")) return;
  if (workload.phase == workload::Phase::prompt_and_generation && workload.generated < 2)
    diagnostics.error(
        where_in(root, "workload", "generated"),
        "prompts make the first token of each sequence, allowed in phase \"prompt-and-generation\": at least 2");
  if (workload.generates() || workload.generated == strategy::Workload{}.generated) return;
  diagnostics.warn(where_in(root, "workload", "generated"), "generated has no effect outside generation");
}

void check_loss(const Table& root, const Experiment& experiment, Diagnostics& diagnostics) {
  const strategy::Workload& workload = experiment.workload;
  if (workload.phase == workload::Phase::training || workload.loss == strategy::Workload{}.loss) return;
  if (looks_at(experiment.strategy, "loss"))
    diagnostics.warn(where_in(root, "workload", "loss"), "loss has no effect outside training");
}

void check_cache(const Table& root, const Experiment& experiment, Diagnostics& diagnostics) {
  const strategy::Workload& workload = experiment.workload;
  if (workload.phase != workload::Phase::training || workload.kv_cache_datatype.empty()) return;
  if (looks_at(experiment.strategy, "kv_cache_datatype"))
    diagnostics.warn(where_in(root, "workload", "kv_cache_datatype"), "kv_cache_datatype has no effect in training");
}

void check_precision(const Table& root, const Experiment& experiment, Diagnostics& diagnostics) {
  const strategy::Workload& workload = experiment.workload;
  if (workload.has_low_products(workload.datatype) || !looks_at(experiment.strategy, "operand_scaling")) return;
  const auto warn = [&](const char* key) {
    diagnostics.warn(where_in(root, "workload", key),
                     std::string(key) + " has no effect where products have the datatype: product_datatype");
  };
  if (workload.scaling != strategy::Workload{}.scaling && !workload.has_own_weights()) warn("operand_scaling");
  if (workload.gathers_operands) warn("gather_operands");
}

void check_operations(const Table& root, const Experiment& experiment, Diagnostics& diagnostics) {
  const std::vector<workload::AddedOperation>& operations = experiment.workload.operations;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const std::string problem = workload::problem_of(operations[i]);
    if (problem.empty()) continue;
    const Value& at = root.find("workload")->table()->find("operations")->array()->at(i);
    diagnostics.error(at.where(), "\"operations\": " + problem);
  }
}

}  // namespace

void check_workload(const Table& root, const Experiment& experiment, Diagnostics& diagnostics) {
  refuse_passed_over(root, experiment, diagnostics);
  refuse_training_of_one_byte(root, experiment, diagnostics);
  check_generated(root, experiment, diagnostics);
  check_loss(root, experiment, diagnostics);
  check_precision(root, experiment, diagnostics);
  check_cache(root, experiment, diagnostics);
  check_operations(root, experiment, diagnostics);
}

std::string bytes_of_one(const Experiment& experiment) {
  const strategy::Workload& workload = experiment.workload;
  if (!is_of_one_byte(workload.datatype) || !computes_in_datatype(experiment)) return {};
  if (workload.kv_cache_datatype.empty() || workload.kv_cache_datatype == workload.datatype)
    return "all of it: weights, KV cache, activations, attention, logits and messages";
  return "weights, activations, attention, logits and messages; KV cache in " + workload.kv_cache_datatype;
}

std::string products_of_their_own(const Experiment& experiment) {
  const strategy::Workload& workload = experiment.workload;
  if (!looks_at(experiment.strategy, "product_datatype") || experiment.graph) return {};
  const bool is_low = workload.has_low_products(workload.datatype);
  const std::string products =
      is_low ? workload.operand_datatype() + ", utilisations of the peak of " + workload.datatype : workload.datatype;
  const std::string kept =
      workload.kept_weight_datatype(workload.datatype, workload.phase == workload::Phase::training);
  if (kept != workload.datatype) return products + "; weights in " + kept;
  return is_low ? products : "";
}

}  // namespace tessera::experiment
