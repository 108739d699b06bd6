#include "plan_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <string_view>
#include <tuple>

#include "differences.hpp"
#include "fingerprint.hpp"
#include "foreign_files.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/experiment/candidates.hpp"
#include "tree.hpp"

namespace tessera::experiment {
namespace {

using config::Diagnostics;
using config::Table;
using config::Value;

/// [plan] of a plan file.
struct PlanHead {
  std::string version, machine, model;
};

const config::Schema<PlanHead>& plan_head_schema() {
  static const config::Schema<PlanHead> schema = [] {
    config::Schema<PlanHead> s("plan", "What a plan was made for.");
    s.text("version", &PlanHead::version, "of Tessera");
    s.text("machine", &PlanHead::machine, "fingerprint of the [machine] table");
    s.text("model", &PlanHead::model, "fingerprint of the [model] table").optional();
    s.also_accept("predicted", "times that the search predicted");
    s.also_accept("proven", "how much faster another cut might be");
    s.also_accept("struck_out", "choices that the search left out, since others cost less beside any others");
    s.also_accept("candidates", "what the search tried, at most 20");
    return s;
  }();
  return schema;
}

const Table* table_in(const Table& plan, const std::string& key, Diagnostics& diagnostics) {
  const Value* value = plan.find(key);
  if (value != nullptr && value->table() != nullptr) return value->table();
  diagnostics.error(value == nullptr ? plan.where() : value->where(),
                    "a plan file needs a table [" + key + "]: tessera plan writes such files");
  return nullptr;
}

std::string shown(Time time) { return config::format_rounded(time, config::Unit::time); }

/// "0.056 % slower" than the one that is taken, where rounded times do not show it; empty: they do, or there is none.
std::string beside_taken(const program::search::Tried& one, const program::search::Tried* taken) {
  if (taken == nullptr || one.fidelity != taken->fidelity || one.cost == 0 || taken->cost == 0) return {};
  if (one.cost == taken->cost || shown(one.cost) != shown(taken->cost)) return {};
  const double over = 100.0 * static_cast<double>(one.cost - taken->cost) / static_cast<double>(taken->cost);
  return fmt::format("{:.2g} % {}", std::abs(over), over > 0 ? "slower" : "faster");
}

/// "223.9 ms predicted, 211.7 ms simulated, taken, search, layouts kept: fc1 {K, P(2x2)}; ..."
std::string candidate_text(const program::search::Tried& one, const std::string& candidate,
                           const program::search::Tried* taken) {
  const bool is_struck_out = one.reason == name_of(program::search::Fate::beaten);
  std::vector<std::string> said;
  if (one.predicted > 0) said.push_back(shown(one.predicted) + " predicted");
  said.push_back(one.cost > 0 ? shown(one.cost) + " " + program::name_of(one.fidelity)
                 : one.at_least > 0
                     ? fmt::format("{}, at least {}", is_struck_out ? one.reason : "not finished", shown(one.at_least))
                     : "cannot run");
  if (&one == taken) said.emplace_back("taken");
  if (const std::string beside = beside_taken(one, taken); !beside.empty()) said.push_back(beside);
  if (!one.origin.empty()) said.push_back(one.origin);
  return fmt::format("{}: {}", fmt::join(said, ", "), candidate);
}

constexpr std::size_t most_candidates = 20;

/// What was simulated before what was estimated, of each the fastest first; what cannot run comes last.
auto rank_of(const program::search::Tried& one) {
  return std::tuple(one.cost == 0, -static_cast<int>(one.fidelity), one.cost);
}

/// The candidates of a plan file, in their order there.
struct Candidates {
  std::vector<std::size_t> rows;  ///< of the search's table
  std::size_t taken = 0;          ///< which of them; as many as there are: none
};

/// The one that is taken is the best of those that the search accepted, the first of equals: a search may have gone
/// over to others from it, and may have met it again.
Candidates listed(const std::vector<program::search::Tried>& tried) {
  std::size_t taken = tried.size();
  for (std::size_t i = 0; i < tried.size(); ++i)
    if (tried[i].accepted && (taken == tried.size() || rank_of(tried[i]) < rank_of(tried[taken]))) taken = i;
  std::vector<std::size_t> order(tried.size());
  std::iota(order.begin(), order.end(), 0);
  if (tried.size() > most_candidates) {
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return rank_of(tried[i]); });
    // It is among them where a search takes what is not the fastest, too.
    const auto place = std::ranges::find(order, taken);
    if (place - order.begin() >= static_cast<std::ptrdiff_t>(most_candidates) && place != order.end())
      std::rotate(order.begin() + most_candidates - 1, place, place + 1);
    order.resize(most_candidates);
  } else {
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return tried[i].fidelity; });
  }
  Candidates found;
  found.rows = order;
  found.taken = static_cast<std::size_t>(std::ranges::find(order, taken) - order.begin());
  return found;
}

/// What a search tried, the fastest first where it is much; /search of a result has all of it. What all that are listed
/// have in common is said once.
std::shared_ptr<Table> candidates_of(const strategy::Searched& searched) {
  const Candidates candidates = listed(searched.table);
  auto table = std::make_shared<Table>();
  program::search::ListedKeys keys;
  const auto number = [&](std::size_t row) { return searched.report->found.tried[row]; };  // among all candidates
  if (searched.report && !candidates.rows.empty()) {
    std::vector<std::size_t> shown;
    for (const std::size_t row : candidates.rows) shown.push_back(number(row));
    keys = program::search::listed_keys(*searched.report, shown);
  }
  const program::search::Tried* taken =
      candidates.taken < candidates.rows.size() ? &searched.table[candidates.rows[candidates.taken]] : nullptr;
  if (!keys.common.empty()) table->set("all", {searched.report->part(number(candidates.rows[0]), keys.common), {}});
  for (std::size_t i = 0; i < candidates.rows.size(); ++i) {
    const std::size_t row = candidates.rows[i];
    const program::search::Tried& one = searched.table[row];
    const std::string text = keys.common.empty() ? one.candidate : searched.report->part(number(row), keys.differing);
    table->set(fmt::format("{:03}", i + 1), {candidate_text(one, text, taken), {}});
  }
  return table;
}

/// What decides how fast a plan is, beside itself.
constexpr std::array made_for_keys{"machine", "model", "workload", "cost", "collectives"};

constexpr const char* kept_text = "; its cut is carried out as it stands, and another may be faster here";

const Table* table_under(const Table* root, const std::string& key) {
  const Value* value = root == nullptr ? nullptr : root->find(key);
  return value == nullptr ? nullptr : value->table();
}

/// By its fingerprint.
bool is_for_another(const Table& head, const Table& resolved, const std::string& key) {
  const Value* made_for = head.find(key);
  return (made_for == nullptr ? "" : *made_for->string()) != fingerprint(resolved, key);
}

/// Whether the plan's layers are those of this model, whatever their sizes. Of a graph that is not known.
bool has_as_many_layers(const Table* was, const Table& resolved) {
  const Table* before = table_under(was, "model");
  const Table* now = table_under(&resolved, "model");
  if (before == nullptr || now == nullptr) return false;
  const Value* layers = before->find("layers");
  const Value* layers_now = now->find("layers");
  if (layers == nullptr || layers_now == nullptr) return false;
  const auto* count = std::get_if<std::int64_t>(&layers->content());
  const auto* count_now = std::get_if<std::int64_t>(&layers_now->content());
  return count != nullptr && count_now != nullptr && *count == *count_now;
}

/// What --plan compares an experiment with. A graph may be large, and no other takes its plan anyway.
std::shared_ptr<Table> made_for(const Table& resolved) {
  auto found = std::make_shared<Table>();
  for (const char* key : made_for_keys) {
    const Table* table = table_under(&resolved, key);
    if (table != nullptr && table->find("graph") == nullptr) found->set(key, {config::clone(*table), {}});
  }
  return found;
}

}  // namespace

std::shared_ptr<Table> read_plan(const std::string& path, Diagnostics& diagnostics) {
  const auto text = read_file(path);
  if (!text) throw InputError(one_line(path) + ": there is no such file");
  if (refuse_foreign_file(*text, path, "a plan", diagnostics)) return nullptr;
  Diagnostics own;
  auto plan = config::parse_toml(*text, path, own);
  if (own.ok()) {
    const Table* head = table_in(*plan, "plan", own);
    if (head != nullptr) plan_head_schema().check(*head, own);
    static_cast<void>(table_in(*plan, "strategy", own));
    for (const auto& [key, value] : plan->entries()) {
      if (key != "plan" && key != "strategy" && key != "made_for")
        own.error(value.key_where(), "unknown key \"" + key + "\" in a plan file, allowed: plan, strategy, made_for");
    }
  }
  diagnostics.add(own);
  return own.ok() ? plan : nullptr;
}

void apply_plan(Table& root, const Table& plan) { root.set("strategy", *config::clone(plan)->find("strategy")); }

void check_plan_is_closed(const Table& resolved, const strategy::Strategies& strategies, Diagnostics& diagnostics) {
  const Value* strategy = resolved.find("strategy");
  if (strategy == nullptr || strategy->table() == nullptr) return;
  const Value* name = strategy->table()->find("name");
  if (name == nullptr || name->string() == nullptr) return;
  const auto kind = std::ranges::find(strategies, *name->string(), &strategy::StrategyKind::name);
  if (kind == strategies.end()) return;
  for (const config::OpenKey& open : kind->schema().open_keys(*strategy->table()))
    diagnostics.error(open.where, "\"" + open.key +
                                      "\" is open together with --plan, allowed: one value; without "
                                      "--plan, plan and run search");
}

void check_plan_fits(const Table& resolved, const Table& plan, Diagnostics& diagnostics) {
  const Table& head = *plan.find("plan")->table();
  const Value* value = plan.find("made_for");
  const Table* was = value == nullptr ? nullptr : value->table();
  const std::string what_else = ": for this one, tessera plan makes a new plan";
  const Value* model = head.find("model");
  if (model == nullptr && !fingerprint(resolved, "model").empty()) {
    diagnostics.error(head.where(), "the plan names no model, and the experiment has one" + what_else);
    return;
  }
  if (is_for_another(head, resolved, "model") && !has_as_many_layers(was, resolved)) {
    diagnostics.error(model->where(), "the plan was made for another model than the experiment's" + what_else);
    return;
  }
  std::vector<Difference> found;
  for (const char* key : made_for_keys) {
    const Table* before = table_under(was, key);
    const Table* now = table_under(&resolved, key);
    // Of machine and model the order of keys does not count, nor how an earlier Tessera filled in others.
    const bool has_fingerprint = std::string_view(key) == "machine" || std::string_view(key) == "model";
    if (before == nullptr || now == nullptr || (has_fingerprint && !is_for_another(head, resolved, key))) continue;
    for (Difference& one : differences(*before, *now, key)) found.push_back(std::move(one));
  }
  if (!found.empty()) {
    diagnostics.warn(head.where(), "the plan was made for another experiment: " + text_of(found) + kept_text);
  } else if (is_for_another(head, resolved, "machine")) {
    diagnostics.warn(head.find("machine")->where(),
                     std::string("the plan was made for another machine than the experiment's") + kept_text);
  }
}

std::string plan_text(const Experiment& experiment, const Table& resolved, const std::string& version) {
  Table plan;
  const auto put = [](Table& table, const std::string& key, const std::string& value) { table.set(key, {value, {}}); };
  const auto head = std::make_shared<Table>();
  put(*head, "version", version);
  put(*head, "machine", fingerprint(resolved, "machine"));
  if (const std::string made_for = fingerprint(resolved, "model"); !made_for.empty()) put(*head, "model", made_for);
  const auto predicted = std::make_shared<Table>();
  for (const auto& [name, time] : experiment.searched.predicted)
    put(*predicted, name, config::format_rounded(time, config::Unit::time));
  if (!predicted->entries().empty()) head->set("predicted", {predicted, {}});
  if (experiment.searched.report) put(*head, "proven", proven_text(*experiment.searched.report));
  if (const strategy::Searched& searched = experiment.searched; searched.choices > 0)
    put(*head, "struck_out", fmt::format("{} of {} choices", searched.struck_out, searched.choices));
  const auto candidates = candidates_of(experiment.searched);
  if (!candidates->entries().empty()) head->set("candidates", {candidates, {}});
  plan.set("plan", {head, {}});
  const std::shared_ptr<Table> strategy = config::clone(*resolved.find("strategy")->table());
  if (experiment.searched.found != nullptr) config::merge(*strategy, *experiment.searched.found);
  plan.set("strategy", {strategy, {}});
  plan.set("made_for", {made_for(resolved), {}});
  const std::string model = experiment.model ? experiment.model->name : experiment.graph ? experiment.graph->name : "";
  std::string text = fmt::format(
      "# Strategy {} for {}{}. Run it: tessera run EXPERIMENT.toml --plan THIS.toml -o OUT.h5\n",
      experiment.strategy.name, model.empty() ? "" : one_line(model) + " on ", one_line(experiment.machine.name));
  return text + config::to_toml(plan);
}

}  // namespace tessera::experiment
