#include "tables.hpp"

#include <fmt/format.h>

#include "die_loans.hpp"
#include "tessera/base/error.hpp"

namespace tessera::strategy::watos {
namespace {

using config::Array;
using config::Table;
using config::Value;

void set_number(Table& table, const char* key, std::int64_t number) { table.set(key, {number, {}}); }

Value stages_of(const NamedProblem& named, const Solution& solution) {
  Array stages;
  for (std::size_t stage = 0; stage < named.problem.count(); ++stage) {
    std::vector<std::int64_t> devices;
    for (std::uint32_t replica = 0; replica < named.problem.replicas; ++replica)
      for (const machine::NodeId device : named.problem.places[solution.place(named.problem, stage, replica)].devices)
        devices.push_back(device);
    auto one = std::make_shared<Table>();
    one->set("devices", list_of(devices));
    one->set("recomputation", list_of(named.sets[solution.sets[stage]]));
    stages.push_back({one, {}});
  }
  return {stages, {}};
}

std::shared_ptr<Table> loan_of(const Pair& pair, std::int64_t bytes) {
  auto one = std::make_shared<Table>();
  set_number(*one, "from", pair.sender);
  set_number(*one, "to", pair.helper);
  one->set("bytes", {config::format_quantity(bytes, config::Unit::bytes), {}});
  return one;
}

Value numbers_of(const std::vector<machine::NodeId>& dies) {
  return list_of(std::vector<std::int64_t>(dies.begin(), dies.end()));
}

/// Die by die where there is a wafer and bytes come out even there.
Array loans_of(const NamedProblem& named, const Solution& solution, const machine::Machine* wafer) {
  const std::vector<PairedBytes> loans = lend(named.problem, solution).loans;
  std::vector<DieLoan> by_die;
  if (wafer != nullptr) by_die = die_loans(named.problem, solution, loans, *wafer);
  Array all;
  for (const DieLoan& loan : by_die) {
    const std::shared_ptr<Table> one = loan_of(loan.pair, loan.bytes);
    one->set("lenders", numbers_of(loan.lenders));
    one->set("helpers", numbers_of(loan.helpers));
    all.push_back({one, {}});
  }
  if (!by_die.empty()) return all;
  for (const PairedBytes& loan : loans) all.push_back({loan_of(loan.pair, loan.bytes), {}});
  return all;
}

}  // namespace

std::vector<std::int64_t> numbers_in(const Table& table, const char* key) {
  const Value* value = table.find(key);
  std::vector<std::int64_t> found;
  if (value == nullptr) return found;
  if (const auto* number = std::get_if<std::int64_t>(&value->content())) found.push_back(*number);
  if (const Array* array = value->array())
    for (const Value& one : *array)
      if (const auto* number = std::get_if<std::int64_t>(&one.content())) found.push_back(*number);
  return found;
}

std::string text_of(const Cut& cut) {
  std::string text = fmt::format("TP {}, PP {}", cut.tensor, cut.pipeline);
  if (cut.data > 1) text += fmt::format(", DP {}", cut.data);
  if (cut.carrier != Carrier::cut_tokens) text += ", " + split_by(cut.carrier).name;
  if (cut.carrier == Carrier::both_sides) text += fmt::format(" {}x{}", cut.tensor / cut.rows, cut.rows);
  return text;
}

TablePointer without_search(const Table& table) {
  TablePointer found = config::clone(table);
  for (const char* key : {"name", "search", "healthy_plan"}) found->erase(key);
  return found;
}

TablePointer with_cut(const Table& table, const Cut& cut, const std::vector<std::int64_t>& layers) {
  TablePointer found = without_search(table);
  set_number(*found, "tensor", cut.tensor);
  set_number(*found, "pipeline", cut.pipeline);
  set_number(*found, "data", cut.data);
  if (cut.tensor > 1) found->set("sequence_parallel", {cut.carrier != Carrier::whole_tokens, {}});
  set_number(*found, "tensor_rows", cut.rows);
  found->set("spare_devices", {std::string("idle"), {}});
  if (!layers.empty()) {
    found->set("uneven_layers", {std::string("error"), {}});  // all of them are dealt out
    found->set("stage_layers", list_of(layers));
  }
  return found;
}

TablePointer keys_of(const NamedProblem& named, const Solution& solution, const machine::Machine* wafer) {
  auto found = std::make_shared<Table>();
  found->set("routes", {std::string(wafer != nullptr ? "unused-first" : "machine"), {}});
  found->set("stages", stages_of(named, solution));
  Array loans = loans_of(named, solution, wafer);
  if (!loans.empty()) found->set("loans", {std::move(loans), {}});
  return found;
}

bool is_closed(const Table& table) {
  const Value* stages = table.find("stages");
  return stages != nullptr && table.find("tensor") != nullptr && table.find("pipeline") != nullptr;
}

PipelineProfile profile_with(const StrategyKind& cut, const Table& table, const Job& job) {
  PipelineProfile profile = cut.profile(table, job);
  if (table.find("recomputation") != nullptr || table.find("recomputed_sections") != nullptr)
    std::erase_if(profile.sets, [&](const SetProfile& set) { return set.recomputed != profile.given; });
  return profile;
}

std::string problem_with(const StrategyKind& cut, const Table& table, const Job& job) {
  config::Diagnostics own;
  try {
    static_cast<void>(cut.check(table, job, own));
  } catch (const InputError& error) {
    return error.what();
  }
  if (own.ok()) return {};
  // Without the place, "file:line:column" or "--set key": keys that the search has set have none.
  const std::string& line = own.errors().front();
  const std::size_t end = line.find(": ");
  const bool has_place =
      end != std::string::npos && (line.starts_with("--set ") || (line[end - 1] >= '0' && line[end - 1] <= '9'));
  return has_place ? line.substr(end + 2) : line;
}

}  // namespace tessera::strategy::watos
