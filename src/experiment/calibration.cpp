#include "calibration.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "tessera/experiment/experiment.hpp"
#include "tessera/machine/topology.hpp"
#include "tessera/workload/operator.hpp"

namespace tessera::experiment {
namespace {

using config::Table;
using config::Value;

const Table* table_in(const Table* parent, const char* key) {
  const Value* value = parent == nullptr ? nullptr : parent->find(key);
  return value == nullptr ? nullptr : value->table();
}

const Table* calibration_of(const Table& root) { return table_in(table_in(&root, "machine"), "calibration"); }

const std::string* text_in(const Table& table, const char* key) {
  const Value* value = table.find(key);
  return value == nullptr ? nullptr : value->string();
}

/// Whether the calibration is for the cost model that the experiment names, if it names one.
bool is_for_model(const Table& calibration, const Table& cost) {
  const std::string* named = text_in(cost, "model");
  const std::string* calibrated = text_in(calibration, "model");
  return cost.find("model") == nullptr || (named != nullptr && calibrated != nullptr && *named == *calibrated);
}

/// Keys of the calibration whose value the experiment does not take.
std::vector<std::string> overridden(const Table& calibration, const Table* own, const std::string& name) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : calibration.entries()) {
    const Value* taken = own == nullptr ? nullptr : own->find(key);
    Table one, other;
    one.set(key, value);
    if (taken != nullptr) other.set(key, *taken);
    if (!config::same_content(one, other)) keys.push_back(name + "." + key);
  }
  return keys;
}

/// The defaults of the cost model that a [cost] table names.
std::shared_ptr<Table> default_cost(const Table& cost) {
  auto defaults = std::make_shared<Table>(cost.where());
  const std::string* model = text_in(cost, "model");
  for (const auto& kind : workload::cost_model_kinds()) {
    if (model == nullptr || kind.name != *model) continue;
    defaults->set("model", *cost.find("model"));
    kind.schema().complete(*defaults);
  }
  return defaults;
}

/// All keys of the model, also those that the calibration leaves at their defaults.
std::shared_ptr<Table> calibrated_cost(const Table& calibration, const Table& cost) {
  std::shared_ptr<Table> all = default_cost(cost);
  for (const auto& [key, value] : calibration.entries()) all->set(key, value);
  return all;
}

std::string with_own_keys(std::string text, const std::vector<std::string>& keys) {
  for (std::size_t i = 0; i < keys.size(); ++i) text += (i == 0 ? ", the experiment's own " : ", ") + keys[i];
  return text;
}

}  // namespace

void apply_calibration(Table& root) {
  const Table* calibration = calibration_of(root);
  for (const char* name : {"cost", "collectives"}) {
    const Table* defaults = table_in(calibration, name);
    if (defaults == nullptr) continue;
    if (root.find(name) == nullptr) root.set(name, {std::make_shared<Table>(root.where()), root.where()});
    Table* own = root.find(name)->table();
    if (own == nullptr || (std::string(name) == "cost" && !is_for_model(*defaults, *own))) continue;
    machine::add_missing(*own, *defaults);
  }
}

void check_calibration(const Table& root, config::Diagnostics& diagnostics) {
  const Table* calibrated = table_in(calibration_of(root), "cost");
  if (calibrated == nullptr) return;
  const std::string* model = text_in(*calibrated, "model");
  const auto& kinds = workload::cost_model_kinds();
  const auto kind =
      std::ranges::find_if(kinds, [&](const auto& one) { return model != nullptr && one.name == *model; });
  if (kind == kinds.end()) {
    std::string names;
    for (const auto& one : kinds) names += (names.empty() ? "\"" : ", \"") + one.name + "\"";
    const Value* value = calibrated->find("model");
    diagnostics.error(value == nullptr ? calibrated->where() : value->where(),
                      "a calibration's costs are those of one cost model: \"model\" has to be one of " + names);
    return;
  }
  const Table* own = table_in(&root, "cost");
  if (own != nullptr && !is_for_model(*calibrated, *own)) kind->schema().check(*calibrated, diagnostics);
}

std::string calibration_text(const Table& resolved) {
  const Table* calibration = calibration_of(resolved);
  std::vector<std::string> keys;
  if (table_in(calibration, "cost") == nullptr) {
    const Table* cost = table_in(&resolved, "cost");
    if (cost != nullptr) keys = overridden(*default_cost(*cost), cost, "cost");
    return keys.empty() ? "uncalibrated: peak rates" : with_own_keys("uncalibrated", keys);
  }
  for (const char* name : {"topology", "cost", "collectives"}) {
    const Table* own = table_in(std::string(name) == "topology" ? table_in(&resolved, "machine") : &resolved, name);
    const Table* defaults = table_in(calibration, name);
    if (defaults == nullptr) continue;
    if (std::string(name) == "cost" && own != nullptr && !is_for_model(*defaults, *own))
      return "uncalibrated: the machine's calibration is for another cost model";
    const std::vector<std::string> found = own != nullptr && std::string(name) == "cost"
                                               ? overridden(*calibrated_cost(*defaults, *own), own, name)
                                               : overridden(*defaults, own, name);
    keys.insert(keys.end(), found.begin(), found.end());
  }
  return with_own_keys("calibrated", keys);
}

std::string calibrated_parts(const Table& machine) {
  const Table* calibration = table_in(&machine, "calibration");
  const auto has = [](const Table* table, const char* key) { return table != nullptr && table->find(key) != nullptr; };
  const Table* cost = table_in(calibration, "cost");
  std::string parts;
  const auto add = [&](bool is_there, const char* part) {
    if (is_there) parts += (parts.empty() ? "" : " ") + std::string(part);
  };
  add(has(cost, "matrix_efficiency"), "kernels");
  add(table_in(calibration, "topology") != nullptr, "links");
  add(has(cost, "power_limit"), "power");
  return parts.empty() ? "no" : parts;
}

}  // namespace tessera::experiment
