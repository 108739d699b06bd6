#include "axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "../tree.hpp"
#include "amounts.hpp"
#include "tessera/base/text.hpp"
#include "tessera/machine/template.hpp"

namespace tessera::experiment::sweep {
namespace {

using config::Diagnostics;
using config::Table;
using config::Value;

const char* allowed =
    "allowed: a list, { from = ..., to = ..., steps = ... }, or tables by name { small = { ... }, large = { ... } }";

bool is_scalar(const Value& value) { return value.table() == nullptr && value.array() == nullptr; }

/// Points whose values are the same would be the same.
void refuse_repeats(const Axis& axis, Diagnostics& diagnostics) {
  std::set<std::string> seen;
  for (const AxisValue& value : axis.values)
    if (!seen.insert(value.text).second)
      diagnostics.error(value.value.where(), fmt::format("axis \"{}\" has the value {} twice", axis.key, value.text));
}

void read_list(Axis& axis, const config::Array& list, Diagnostics& diagnostics) {
  for (const Value& value : list) {
    if (value.table() != nullptr) {
      diagnostics.error(value.where(), fmt::format("a table in the list of axis \"{}\" has no name, allowed: tables by "
                                                   "name {{ small = {{ ... }}, large = {{ ... }} }}",
                                                   axis.key));
    } else {
      axis.values.push_back({text_of(value), value, cell_of(value)});
    }
  }
}

void read_named_tables(Axis& axis, const Table& tables, Diagnostics& diagnostics) {
  for (const auto& [name, value] : tables.entries()) {
    if (value.table() == nullptr)
      diagnostics.error(value.key_where(),
                        fmt::format("axis \"{}\": \"{}\" is {}, {}", axis.key, name, value.type_name(), allowed));
    else
      axis.values.push_back({name, value, name});
  }
}

/// One unit where all values have it; otherwise they are names.
std::string unit_of(const Axis& axis) {
  std::set<std::string> units;
  for (const AxisValue& value : axis.values) {
    const auto amount = is_scalar(value.value) && !std::holds_alternative<bool>(value.value.content())
                            ? amount_of(value.value)
                            : std::nullopt;
    units.insert(!amount ? "name" : amount->unit ? name_of(*amount->unit) : "");
  }
  return units.size() == 1 ? *units.begin() : "name";
}

/// Values of different kinds stand in a table as texts.
void settle_cells(Axis& axis) {
  axis.unit = unit_of(axis);
  if (axis.unit == "name")
    for (AxisValue& value : axis.values) value.cell = value.text;
}

/// With `most` values at most.
Axis read_axis(const std::string& key, const Value& value, std::int64_t most, Diagnostics& diagnostics) {
  Axis axis{key, value.key_where(), {}, {}};
  const std::size_t before = diagnostics.errors().size();
  if (value.array() != nullptr && std::ssize(*value.array()) > most)
    diagnostics.error(value.where(), too_many_values(key, std::ssize(*value.array())));
  else if (value.array() != nullptr)
    read_list(axis, *value.array(), diagnostics);
  else if (is_range(value))
    read_list(axis, range_of(key, value, most, diagnostics), diagnostics);
  else if (value.table() != nullptr)
    read_named_tables(axis, *value.table(), diagnostics);
  else
    diagnostics.error(value.where(), fmt::format("axis \"{}\" is {}, {}", key, value.type_name(), allowed));
  if (axis.values.empty() && diagnostics.errors().size() == before)
    diagnostics.error(value.where(), fmt::format("axis \"{}\" is empty, {}", key, allowed));
  refuse_repeats(axis, diagnostics);
  settle_cells(axis);
  return axis;
}

std::string lengths_text(const Axes& axes, const std::vector<std::size_t>& group) {
  std::string text;
  for (const std::size_t i : group)
    text += fmt::format("{}{} has {}", text.empty() ? "" : ", ", axes.axes[i].key, axes.axes[i].values.size());
  return text;
}

/// The axes of one list in `zip`; empty after an error.
std::vector<std::size_t> read_group(const Value& keys, const Axes& axes, std::set<std::size_t>& taken,
                                    Diagnostics& diagnostics) {
  std::vector<std::size_t> group;
  std::vector<std::string> names;
  for (const Axis& axis : axes.axes) names.push_back(axis.key);
  for (const Value& key : *keys.array()) {
    const std::string name = key.string() == nullptr ? text_of(key) : *key.string();
    const auto found = std::ranges::find(names, name);
    const auto index = static_cast<std::size_t>(found - names.begin());
    if (found == names.end()) {
      diagnostics.error(key.where(), config::unknown("axis in zip", name, names));
      return {};
    }
    if (!taken.insert(index).second) {
      diagnostics.error(key.where(), fmt::format("axis \"{}\" stands in zip twice", name));
      return {};
    }
    group.push_back(index);
  }
  const auto length = [&](std::size_t i) { return axes.axes[i].values.size(); };
  if (std::ranges::adjacent_find(group, std::ranges::not_equal_to(), length) == group.end()) return group;
  diagnostics.error(keys.where(),
                    "axes that move together need values of the same number: " + lengths_text(axes, group));
  return {};
}

void read_groups(const Value* zip, Axes& axes, Diagnostics& diagnostics) {
  std::set<std::size_t> taken;
  std::vector<std::vector<std::size_t>> zipped;
  const bool is_list = zip == nullptr || zip->array() != nullptr;
  if (!is_list || (zip != nullptr && std::ranges::any_of(*zip->array(), [](const Value& v) { return !v.array(); }))) {
    diagnostics.error(zip->where(),
                      "zip: allowed is a list of lists of axes that move together, such as "
                      "[[\"machine.device.peak.fp16\", \"machine.device.memory_bandwidth\"]]");
    return;
  }
  if (zip != nullptr)
    for (const Value& keys : *zip->array()) zipped.push_back(read_group(keys, axes, taken, diagnostics));
  for (std::size_t i = 0; i < axes.axes.size(); ++i) {
    const auto group = std::ranges::find_if(zipped, [&](const auto& one) { return std::ranges::count(one, i) > 0; });
    if (group == zipped.end())
      axes.groups.push_back({i});
    else if (i == std::ranges::min(*group))  // a group stands where its first axis does
      axes.groups.push_back(*group);
  }
}

}  // namespace

std::string too_many_values(const std::string& key, std::int64_t count) {
  return fmt::format("axis \"{}\" has {} values, allowed: at most {} of all axes together", key, count,
                     most_axis_values);
}

const config::SchemaBase& sweep_schema() {
  struct Nothing {};
  static const config::Schema<Nothing> schema = [] {
    config::Schema<Nothing> s("sweep", "Many points of one experiment, for `tessera sweep`.");
    s.also_accept("generate",
                  "name of a machine template: [sweep.NAME] has its keys, those with several values as axes");
    for (const auto& kind : machine::built_in_templates())
      s.also_accept(kind.name, "keys of " + kind.schema().path() + ": single values, or what an axis may have");
    s.also_accept("axes",
                  "axes.\"strategy.tensor\" = [1, 2, 4]: what is varied; a list, a range (see sweep.range), or "
                  "tables by name { small = { ... }, large = { ... } }");
    s.also_accept("zip", "[[\"a.b\", \"c.d\"]]: axes that move together");
    s.also_accept("set", "set.\"strategy.data\" = \"devices / strategy.tensor\": values that follow from others");
    s.also_accept("where", "\"strategy.tensor <= 8\": which combinations are points");
    return s;
  }();
  return schema;
}

Axes read_axes(const Table& sweep, Diagnostics& diagnostics) {
  sweep_schema().check(sweep, diagnostics);
  Axes axes;
  const Value* table = sweep.find("axes");
  if (table == nullptr || table->table() == nullptr) {
    diagnostics.error(table == nullptr ? sweep.where() : table->where(),
                      "[sweep] needs axes, such as axes.\"strategy.tensor\" = [1, 2, 4, 8]");
    return axes;
  }
  std::int64_t room = most_axis_values;
  for (const auto& [key, value] : table->table()->entries()) {
    if (is_key(key)) {
      axes.axes.push_back(read_axis(key, value, room, diagnostics));
      room -= std::ssize(axes.axes.back().values);
    } else {
      diagnostics.error(value.key_where(), fmt::format("\"{}\" is not a key such as strategy.tensor", one_line(key)));
    }
  }
  if (axes.axes.empty()) diagnostics.error(table->where(), "[sweep] has no axes");
  if (diagnostics.ok()) read_groups(sweep.find("zip"), axes, diagnostics);
  return axes;
}

}  // namespace tessera::experiment::sweep
