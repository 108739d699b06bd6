#include "rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tessera/base/error.hpp"
#include "tessera/machine/template.hpp"
#include "tessera/machine/topology.hpp"

namespace tessera::experiment::sweep {
namespace {

using config::Diagnostics;
using config::Table;
using config::Value;

constexpr const char* devices_name = "devices";

/// 1 B, 1 s, 1 mm, 1 W: what plain numbers are multiplied by to be of a dimension.
std::optional<Amount> base_unit(const std::string& name) {
  if (name == "B") return Amount{1, config::Unit::bytes};
  if (name == "s") return Amount{1, config::Unit::time};
  if (name == "mm") return Amount{1, config::Unit::length};
  if (name == "W") return Amount{1, config::Unit::power};
  return std::nullopt;
}

const Value* find_path(const Table& table, const std::vector<std::string>& parts, std::size_t from) {
  const Table* at = &table;
  for (std::size_t i = from; at != nullptr; ++i) {
    const Value* value = at->find(parts[i]);
    if (value == nullptr || i + 1 == parts.size()) return value;
    at = value->table();
  }
  return nullptr;
}

/// What an axis says of a key, if anything.
const Value* said_by(const Axis& axis, std::size_t index, const std::string& key) {
  const Value& value = axis.values[index].value;
  if (axis.key == key) return &value;
  if (value.table() == nullptr || !key.starts_with(axis.key + ".")) return nullptr;
  return find_path(*value.table(), parts_of(key), parts_of(axis.key).size());
}

bool is_of_machine(const std::string& key) { return key == "machine" || key.starts_with("machine."); }

std::string line(const config::Location& where, const std::string& what) { return to_string(where) + ": " + what; }

}  // namespace

Rules::Rules(const Table& sweep, const Axes& axes, const Bases& bases, const Parts& parts, Diagnostics& diagnostics)
    : axes_(&axes), bases_(&bases), topologies_(parts.topologies) {
  read_set(sweep, diagnostics);
  read_where(sweep, diagnostics);
  if (!diagnostics.ok()) return;
  sort_rules(diagnostics);
  for (SetRule& rule : rules_) {
    const Table& resolved = *bases.all().front().completed;
    const auto parameter = find_parameter(resolved, rule.key, parts, rule.where, diagnostics);
    if (!parameter) continue;
    rule.parameter = *parameter;
    if (parameter->sort == Parameter::Sort::other)
      diagnostics.error(rule.where, fmt::format("\"{}\" is no number, quantity or boolean: set computes with numbers, "
                                                "texts are the values of axes",
                                                rule.key));
    check_names(*rule.expression, parts, diagnostics);
  }
  if (where_ != nullptr) check_names(*where_, parts, diagnostics);
}

void Rules::read_set(const Table& sweep, Diagnostics& diagnostics) {
  const Value* set = sweep.find("set");
  if (set == nullptr) return;
  if (set->table() == nullptr) {
    diagnostics.error(set->where(), "\"set\" is " + set->type_name() +
                                        ", allowed: set.\"strategy.data\" = \"devices / strategy.tensor\"");
    return;
  }
  for (const auto& [key, value] : set->table()->entries()) {
    const bool is_axis = std::ranges::count(axes_->axes, key, &Axis::key) > 0;
    if (is_axis) diagnostics.error(value.key_where(), fmt::format("\"{}\" is an axis, and set would change it", key));
    if (!is_key(key)) diagnostics.error(value.key_where(), fmt::format("\"{}\" is not a key", key));
    if (value.string() == nullptr) {
      diagnostics.error(value.where(),
                        fmt::format("set.\"{}\" is {}, expected an expression in quotes", key, value.type_name()));
    } else if (auto expression = Expression::parse(*value.string(), value.where(), diagnostics)) {
      rules_.push_back({key, value.key_where(), std::move(expression), {}});
    }
  }
}

void Rules::read_where(const Table& sweep, Diagnostics& diagnostics) {
  const Value* where = sweep.find("where");
  if (where == nullptr) return;
  if (where->string() == nullptr)
    diagnostics.error(where->where(), "\"where\" is " + where->type_name() + ", expected an expression in quotes");
  else
    where_ = Expression::parse(*where->string(), where->where(), diagnostics);
}

void Rules::sort_rules(Diagnostics& diagnostics) {
  const Choice first(axes_->axes.size(), 0);
  const auto needs_machine = [&](const std::string& name) { return name == devices_name || is_generated(name, first); };
  const auto needs = [&](const SetRule& rule, const SetRule& other) {
    const auto& names = rule.expression->variables();
    return std::ranges::binary_search(names, other.key) ||
           (is_of_machine(other.key) && std::ranges::any_of(names, needs_machine));
  };
  std::vector<SetRule> sorted;
  while (!rules_.empty()) {
    const auto ready = std::ranges::find_if(rules_, [&](const SetRule& rule) {
      return std::ranges::none_of(rules_, [&](const SetRule& other) { return needs(rule, other); });
    });
    if (ready == rules_.end()) {
      diagnostics.error(rules_.front().where,
                        fmt::format("set.\"{}\" needs itself, directly or through others", rules_.front().key));
      return;
    }
    sorted.push_back(std::move(*ready));
    rules_.erase(ready);
  }
  rules_ = std::move(sorted);
}

void Rules::check_names(const Expression& expression, const Parts& parts, Diagnostics& diagnostics) const {
  const Choice first(axes_->axes.size(), 0);
  const Table& resolved = *bases_->all().front().completed;
  for (const std::string& name : expression.variables()) {
    if (name == devices_name || std::ranges::count(rules_, name, &SetRule::key) > 0) continue;
    if (is_generated(name, first)) continue;  // each point has its own, or is forbidden
    if (amount(name, first, Amounts(rules_.size()))) continue;
    if (!find_parameter(resolved, name, parts, expression.where(), diagnostics)) continue;
    diagnostics.error(expression.where(), fmt::format("\"{}\" has no value that is a number or a quantity, allowed: "
                                                      "keys that have one, devices, B, s, mm",
                                                      name));
  }
}

std::optional<Amount> Rules::amount(const std::string& name, const Choice& choice, const Amounts& set) const {
  for (std::size_t i = 0; i < rules_.size(); ++i)
    if (rules_[i].key == name) return set[i];
  if (name == devices_name) return Amount{devices(choice, set)};
  if (const auto unit = base_unit(name)) return unit;
  for (std::size_t i = axes_->axes.size(); i-- > 0;) {
    if (bases_->has(i)) continue;
    if (const Value* value = said_by(axes_->axes[i], choice[i], name)) return amount_of(*value);
  }
  const bool generated = is_generated(name, choice);
  const Table& whole = generated ? machine_of(choice, set) : *bases_->at(choice).completed;
  const Value* value = find_path(whole, parts_of(name), generated ? 1 : 0);
  return value == nullptr ? std::nullopt : amount_of(*value);
}

std::string Rules::makers_of_machine(const Choice& choice, const Amounts& set) const {
  std::string made_of = std::to_string(bases_->index_of(choice));
  for (std::size_t i = 0; i < choice.size(); ++i)
    if (is_of_machine(axes_->axes[i].key)) made_of += fmt::format(" {}", choice[i]);
  for (std::size_t i = 0; i < rules_.size(); ++i)
    if (is_of_machine(rules_[i].key) && set[i]) made_of += fmt::format(" {}", set[i]->value);
  return made_of;
}

const Table& Rules::machine_of(const Choice& choice, const Amounts& set) const {
  std::string made_of = makers_of_machine(choice, set);
  if (machine_ != nullptr && made_of == machine_made_of_) return *machine_;
  Diagnostics diagnostics;
  Table root;
  const Value* machine = bases_->at(choice).inlined->find("machine");
  if (machine != nullptr && machine->table() != nullptr)
    root.set("machine", {config::clone(*machine->table()), machine->where()});
  for (std::size_t i = 0; i < choice.size(); ++i) {
    const Axis& axis = axes_->axes[i];
    if (is_of_machine(axis.key) && !bases_->has(i))
      put_value(root, axis.key, axis.values[choice[i]].value, diagnostics);
  }
  for (std::size_t i = 0; i < rules_.size(); ++i)
    if (is_of_machine(rules_[i].key) && set[i]) apply(rules_[i], set[i]->value, root);
  Table* table = root.find("machine") == nullptr ? nullptr : root.find("machine")->table();
  if (table == nullptr) throw InputError("there is no machine whose devices could be counted");
  machine::expand_template(*table, diagnostics);
  diagnostics.throw_if_errors();
  machine::complete_machine(*table, topologies_);
  machine_ = config::clone(*table);
  machine_made_of_ = std::move(made_of);
  return *machine_;
}

double Rules::devices(const Choice& choice, const Amounts& set) const {
  const std::string made_of = makers_of_machine(choice, set);
  if (const auto known = devices_.find(made_of); known != devices_.end()) return known->second;
  Diagnostics diagnostics;
  const machine::Machine built = machine::build_machine(machine_of(choice, set), diagnostics, topologies_);
  diagnostics.throw_if_errors();
  const auto working = std::ranges::count_if(built.speed, [](double speed) { return speed > 0; });
  return devices_[made_of] = static_cast<double>(working);
}

bool Rules::is_generated(const std::string& name, const Choice& choice) const {
  const Value* machine = bases_->at(choice).inlined->find("machine");
  const bool is_template =
      machine != nullptr && machine->table() != nullptr && machine->table()->find("template") != nullptr;
  return is_template && (name.starts_with("machine.device.") || name.starts_with("machine.topology."));
}

std::vector<Amount> Rules::amounts_of(const Expression& expression, const Choice& choice, const Amounts& set) const {
  std::vector<Amount> amounts;
  for (const std::string& name : expression.variables()) {
    const auto found = amount(name, choice, set);
    if (!found) throw InputError(line(expression.where(), fmt::format("\"{}\" is no number here", name)));
    amounts.push_back(*found);
  }
  return amounts;
}

namespace {

double evaluate(const Expression& expression, const std::vector<Amount>& amounts, const BaseUnits& units = {}) {
  std::vector<double> values;
  for (const Amount& amount : amounts) values.push_back(amount.value * units.scale(amount.unit));
  return expression.evaluate(values);
}

}  // namespace

Value Rules::value_of(const SetRule& rule, double value, std::string& problem) const {
  using Sort = Parameter::Sort;
  const Expression& expression = *rule.expression;
  const auto refuse = [&](const char* why) {
    problem =
        line(expression.where(), fmt::format("{} = {} is {:.6g} here, {}", rule.key, expression.text(), value, why));
    return Value{};
  };
  if (!std::isfinite(value)) return refuse("and has no value");
  const double nearest = std::round(value);
  const bool is_whole = std::abs(value - nearest) <= 1e-9 * std::max(1.0, std::abs(value)) && std::abs(nearest) < 9e18;
  switch (rule.parameter.sort) {
    case Sort::whole:
      if (!is_whole) return refuse("which is no whole number");
      return {static_cast<std::int64_t>(nearest), expression.where(), rule.where};
    case Sort::boolean:
      if (!is_whole || (nearest != 0 && nearest != 1)) return refuse("allowed: 0 and 1, for false and true");
      return {nearest == 1, expression.where(), rule.where};
    case Sort::quantity: {
      const auto count = to_count(value, rule.parameter.unit);
      if (!count) return refuse("which is beyond what is counted");
      return {config::format_quantity(*count, rule.parameter.unit), expression.where(), rule.where};
    }
    default:
      return {value, expression.where(), rule.where};
  }
}

void Rules::apply(const SetRule& rule, double value, Table& root) const {
  std::string problem;
  const Value computed = value_of(rule, value, problem);
  if (!problem.empty()) throw InputError(problem);
  Diagnostics diagnostics;
  put(root, rule.key, computed, diagnostics);
  diagnostics.throw_if_errors();
}

Derived Rules::derive(const Choice& choice) const {
  Derived derived;
  Amounts set(rules_.size());
  try {
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      const SetRule& rule = rules_[i];
      const double value = evaluate(*rule.expression, amounts_of(*rule.expression, choice, set));
      std::string problem;
      derived.values.push_back(value_of(rule, value, problem));
      if (derived.problem.empty()) derived.problem = problem;
      const bool is_quantity = rule.parameter.sort == Parameter::Sort::quantity;
      set[i] = Amount{value, is_quantity ? std::optional(rule.parameter.unit) : std::nullopt};
    }
    if (where_ != nullptr) derived.kept = evaluate(*where_, amounts_of(*where_, choice, set)) != 0;
  } catch (const InputError& error) {
    if (derived.problem.empty()) derived.problem = error.what();
  }
  return derived;
}

void Rules::check_dimensions(const Choice& choice, Diagnostics& diagnostics) const {
  // Other sizes of a byte, a second, a FLOP, a millimetre and a watt: what mixes dimensions does not scale as it should
  // in one of them. They are far from one, so that no comparison of different dimensions stays as it is.
  static constexpr double large = 1e15;
  static const std::vector<BaseUnits> others = [] {
    std::vector<BaseUnits> all;
    for (double BaseUnits::*unit :
         {&BaseUnits::byte, &BaseUnits::second, &BaseUnits::flop, &BaseUnits::millimetre, &BaseUnits::watt}) {
      for (const double size : {large, 1 / large}) all.emplace_back().*unit = size;
    }
    return all;
  }();
  Amounts set(rules_.size());
  try {
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      const SetRule& rule = rules_[i];
      const auto amounts = amounts_of(*rule.expression, choice, set);
      const double value = evaluate(*rule.expression, amounts);
      const bool is_quantity = rule.parameter.sort == Parameter::Sort::quantity;
      const auto unit = is_quantity ? std::optional(rule.parameter.unit) : std::nullopt;
      set[i] = Amount{value, unit};
      for (const BaseUnits& units : others) {
        const double expected = value * units.scale(unit);
        if (!std::isfinite(value) ||
            std::abs(evaluate(*rule.expression, amounts, units) - expected) <= 1e-9 * std::abs(expected))
          continue;
        diagnostics.error(rule.expression->where(),
                          fmt::format("{} = {} is not {}: it mixes dimensions; B, s, mm and W stand for a byte, a "
                                      "second, a millimetre and a watt",
                                      rule.key, rule.expression->text(),
                                      unit ? "a quantity in " + name_of(*unit) : "a plain number"));
        return;
      }
    }
    if (where_ == nullptr) return;
    const auto amounts = amounts_of(*where_, choice, set);
    const bool kept = evaluate(*where_, amounts) != 0;
    for (const BaseUnits& units : others) {
      if ((evaluate(*where_, amounts, units) != 0) == kept) continue;
      diagnostics.error(where_->where(), "\"" + where_->text() +
                                             "\" compares different dimensions; B, s, mm and W stand for "
                                             "a byte, a second, a millimetre and a watt");
      return;
    }
  } catch (const InputError&) {
    // A combination that is no experiment tells nothing.
  }
}

}  // namespace tessera::experiment::sweep
