#include "calibration.hpp"

#include <algorithm>
#include <vector>

#include "tessera/experiment/experiment.hpp"
#include "tessera/machine/topology.hpp"

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
  if (calibration == nullptr) return "uncalibrated: peak rates";
  std::vector<std::string> keys;
  for (const char* name : {"topology", "cost", "collectives"}) {
    const Table* own = table_in(std::string(name) == "topology" ? table_in(&resolved, "machine") : &resolved, name);
    const Table* defaults = table_in(calibration, name);
    if (defaults == nullptr) continue;
    if (std::string(name) == "cost" && own != nullptr && !is_for_model(*defaults, *own))
      return "uncalibrated: the machine's calibration is for another cost model";
    const std::vector<std::string> found = overridden(*defaults, own, name);
    keys.insert(keys.end(), found.begin(), found.end());
  }
  std::string text = "calibrated";
  for (std::size_t i = 0; i < keys.size(); ++i) text += (i == 0 ? ", the experiment's own " : ", ") + keys[i];
  return text;
}

}  // namespace tessera::experiment
