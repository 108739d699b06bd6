#include "calibration.hpp"

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

std::string calibration_text(const Table& resolved) {
  const Table* calibration = calibration_of(resolved);
  std::vector<std::string> keys;
  if (calibration == nullptr) {
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
    const std::vector<std::string> found = overridden(*defaults, own, name);
    keys.insert(keys.end(), found.begin(), found.end());
  }
  return with_own_keys("calibrated", keys);
}

}  // namespace tessera::experiment
