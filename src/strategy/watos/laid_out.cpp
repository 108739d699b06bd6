#include "laid_out.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "places.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/together.hpp"

namespace tessera::strategy::watos {
namespace {

using config::Array;
using config::Table;
using config::Value;

std::int64_t number_of(const Table& table, const char* key, const Attachment& plan) {
  const Value* value = table.find(key);
  const auto* number = value == nullptr ? nullptr : std::get_if<std::int64_t>(&value->content());
  if (number == nullptr || *number < 1)
    throw InputError(fmt::format("{}: no plan of strategy watos: [strategy] has no number \"{}\"", plan.path, key));
  return *number;
}

/// The plan's [strategy] table.
TablePointer strategy_in(const Attachment& plan) {
  config::Diagnostics problems;
  const TablePointer whole = config::parse_toml(plan.content, plan.path, problems);
  problems.throw_if_errors();
  const Value* strategy = whole->find("strategy");
  if (strategy == nullptr || strategy->table() == nullptr || !is_closed(*strategy->table()))
    throw InputError(plan.path + ": no plan of strategy watos: tessera plan writes such files");
  return config::clone(*strategy->table());
}

Value devices_of(const Place& place) {
  Array devices;
  for (const machine::NodeId device : place.devices) devices.push_back({std::int64_t{device}, {}});
  return {devices, {}};
}

/// Its stages at those places, one after another; the first ones where there are fewer places.
Value stages_at(const Table& strategy, const std::vector<Place>& places, std::size_t count) {
  Array stages;
  const Array* before = strategy.find("stages")->array();
  for (std::size_t stage = 0; stage < count; ++stage) {
    auto one = std::make_shared<Table>();
    one->set("devices", devices_of(places[stage]));
    const Table* was = before == nullptr || stage >= before->size() ? nullptr : (*before)[stage].table();
    const Value* again = was == nullptr ? nullptr : was->find("recomputation");
    if (again != nullptr) one->set("recomputation", *again);
    stages.push_back({one, {}});
  }
  return {stages, {}};
}

TablePointer keys_for(const Question& question, const Table& strategy, const Attachment& plan) {
  Cut cut{number_of(strategy, "tensor", plan), number_of(strategy, "pipeline", plan), 1};
  const std::vector<Place> places = snake(question.job.machine, question.health, static_cast<int>(cut.tensor)).places;
  const auto most = static_cast<std::int64_t>(places.size());
  if (most == 0) throw InfeasibleError(fmt::format("no {} dies in a row live", cut.tensor));
  const bool is_whole = cut.pipeline <= most;
  cut.pipeline = std::min(cut.pipeline, most);
  TablePointer keys = with_cut(Table(), cut, {});
  keys->set("routes", {std::string("machine"), {}});
  keys->set("stages", stages_at(strategy, places, static_cast<std::size_t>(cut.pipeline)));
  keys->set("uneven_layers", {std::string(is_whole ? "error" : "spread"), {}});
  for (const char* key : {"stage_layers", "loans"})
    if (const Value* value = strategy.find(key); value != nullptr && is_whole) keys->set(key, *value);
  return keys;
}

/// All of it on all stages: what a shorter pipeline cannot keep otherwise.
void run_all_again(Table& keys) {
  Array stages = *keys.find("stages")->array();
  for (Value& stage : stages) stage.table()->set("recomputation", {Array{Value(std::string("full"), {})}, {}});
  keys.set("stages", {stages, {}});
}

bool fits(const Question& question, const Table& keys) {
  const TablePointer table = without_search(question.table);
  config::merge(*table, keys);
  return question.job.evaluations.outlook(question.cut.program(*table, question.job).program).fits;
}

}  // namespace

Searched laid_out(const Question& question, const Attachment& plan) {
  Searched searched;
  together(question.job.evaluations.comm(), [&] {
    const TablePointer strategy = strategy_in(plan);
    searched.found = keys_for(question, *strategy, plan);
    if (!fits(question, *searched.found)) run_all_again(*searched.found);
  });
  if (!question.health.is_sound()) searched.tables = {health_table(question.health, question.job.machine)};
  return searched;
}

}  // namespace tessera::strategy::watos
