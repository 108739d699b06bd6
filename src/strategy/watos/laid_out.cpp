#include "laid_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

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

/// How products are cut goes by what the plan says of rows and tokens.
Cut cut_of(const Table& strategy, const Attachment& plan) {
  const auto given = [&](const char* key) {
    return strategy.find(key) == nullptr ? std::int64_t{1} : number_of(strategy, key, plan);
  };
  Cut cut{number_of(strategy, "tensor", plan), number_of(strategy, "pipeline", plan), given("data"),
          given("tensor_rows")};
  const Value* tokens = strategy.find("sequence_parallel");
  const auto* are_cut = tokens == nullptr ? nullptr : std::get_if<bool>(&tokens->content());
  if (cut.rows > 1)
    cut.carrier = Carrier::both_sides;
  else if (are_cut == nullptr || !*are_cut)
    cut.carrier = Carrier::whole_tokens;
  return cut;
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

using Devices = std::vector<std::int64_t>;

/// Of each stage, those of one replica after another.
using DevicesOfStages = std::vector<Devices>;

DevicesOfStages stages_in(const Table& strategy) {
  DevicesOfStages stages;
  const Array* before = strategy.find("stages")->array();
  if (before == nullptr) return stages;
  for (const Value& stage : *before) stages.push_back(numbers_in(*stage.table(), "devices"));
  return stages;
}

/// Replica after replica along the places.
DevicesOfStages stages_along(const std::vector<Place>& places, const Cut& cut) {
  DevicesOfStages stages(static_cast<std::size_t>(cut.pipeline));
  for (std::size_t place = 0; place < static_cast<std::size_t>(cut.pipeline * cut.data); ++place)
    std::ranges::copy(places[place].devices, std::back_inserter(stages[place % stages.size()]));
  return stages;
}

Value stages_at(const Table& strategy, const DevicesOfStages& devices) {
  Array stages;
  const Array* before = strategy.find("stages")->array();
  for (std::size_t stage = 0; stage < devices.size(); ++stage) {
    auto one = std::make_shared<Table>();
    one->set("devices", list_of(devices[stage]));
    const Table* was = before == nullptr || stage >= before->size() ? nullptr : (*before)[stage].table();
    const Value* again = was == nullptr ? nullptr : was->find("recomputation");
    if (again != nullptr) one->set("recomputation", *again);
    stages.push_back({one, {}});
  }
  return {stages, {}};
}

/// Of the devices of a stage whoever stands where they stood; replicas that are no more lend nothing.
Devices moved(const Devices& some, const Devices& before, const Devices& now, const Attachment& plan) {
  Devices found;
  for (const std::int64_t device : some) {
    const auto place = static_cast<std::size_t>(std::ranges::find(before, device) - before.begin());
    if (place == before.size())
      throw InputError(fmt::format("{}: device {} of a loan is none of its stage", plan.path, device));
    if (place < now.size()) found.push_back(now[place]);
  }
  return found;
}

/// Pairs that the plan lists by device lend from and to the same places of the same stages.
Value loans_at(const Value& loans, const DevicesOfStages& before, const DevicesOfStages& now, const Attachment& plan) {
  Array all;
  for (const Value& value : *loans.array()) {
    const TablePointer loan = config::clone(*value.table());
    for (const auto& [ends, stage] : {std::pair{"lenders", "from"}, std::pair{"helpers", "to"}}) {
      const Devices listed = numbers_in(*loan, ends);
      if (listed.empty()) continue;
      const Value* of = loan->find(stage);
      const auto* number = of == nullptr ? nullptr : std::get_if<std::int64_t>(&of->content());
      if (number == nullptr || *number < 0 || *number >= static_cast<std::int64_t>(before.size()))
        throw InputError(fmt::format("{}: a loan lists {} of no stage", plan.path, ends));
      const auto of_stage = static_cast<std::size_t>(*number);
      loan->set(ends, list_of(moved(listed, before[of_stage], now[of_stage], plan)));
    }
    const bool is_empty = loan->find("lenders") != nullptr && numbers_in(*loan, "lenders").empty();
    if (!is_empty) all.push_back({loan, {}});
  }
  return {all, {}};
}

/// Of the plan's replicas as many as have places and share out the batch as evenly, or one with fewer stages.
Cut shortened(Cut cut, std::int64_t places) {
  const std::int64_t replicas = cut.data;
  cut.pipeline = std::min(cut.pipeline, places);
  while (cut.data > 1 && (replicas % cut.data != 0 || cut.data * cut.pipeline > places)) --cut.data;
  return cut;
}

TablePointer keys_for(const Question& question, const Table& strategy, const Attachment& plan) {
  const Cut whole = cut_of(strategy, plan);
  const std::vector<Place> places = snake(question.job.machine, question.health, static_cast<int>(whole.tensor)).places;
  if (places.empty()) throw InfeasibleError(fmt::format("no {} dies in a row live", whole.tensor));
  const Cut cut = shortened(whole, static_cast<std::int64_t>(places.size()));
  const bool is_whole = cut.pipeline == whole.pipeline;
  const DevicesOfStages before = stages_in(strategy), now = stages_along(places, cut);
  TablePointer keys = with_cut(Table(), cut, {});
  keys->set("routes", {std::string("machine"), {}});
  keys->set("stages", stages_at(strategy, now));
  keys->set("uneven_layers", {std::string(is_whole ? "error" : "spread"), {}});
  if (!is_whole) return keys;
  if (const Value* layers = strategy.find("stage_layers"); layers != nullptr) keys->set("stage_layers", *layers);
  if (const Value* loans = strategy.find("loans"); loans != nullptr)
    keys->set("loans", loans_at(*loans, before, now, plan));
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
