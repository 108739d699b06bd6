#include <algorithm>

#include "columns.hpp"

namespace tessera::results {
namespace {

using Cell = std::function<PointCell(const SweepRow&)>;

/// The kind that holds all cells: numbers as long as there is no text, whole ones as long as there is no other.
PointKind kind_of(const std::vector<SweepRow>& rows, const Cell& cell, PointKind of_none) {
  bool any = false, text = false, number = false;
  for (const SweepRow& row : rows) {
    const PointCell value = cell(row);
    any = any || !std::holds_alternative<std::monostate>(value);
    text = text || std::holds_alternative<std::string>(value);
    number = number || std::holds_alternative<double>(value);
  }
  return !any ? of_none : text ? PointKind::text : number ? PointKind::number : PointKind::integer;
}

/// Times end in _ps in all tables.
std::string with_unit(std::string name, const std::string& unit) {
  return unit == "ps" && !name.ends_with("_ps") ? name + "_ps" : name;
}

std::string last_part(const SweepAxis& axis) {
  const std::size_t dot = axis.key.rfind('.');
  return with_unit(identifier(dot == std::string::npos ? axis.key : axis.key.substr(dot + 1)), axis.unit);
}

std::string name_of(const SweepAxis& axis, const std::vector<SweepAxis>& axes, const std::set<std::string>& taken) {
  const std::string last = last_part(axis);
  const auto alike = std::ranges::count_if(axes, [&](const SweepAxis& other) { return last_part(other) == last; });
  if (alike == 1 && !taken.contains(last)) return last;
  std::string name = with_unit(identifier(axis.key), axis.unit);
  while (taken.contains(name)) name.insert(0, "axis_");
  return name;
}

PointColumn column_of(const SweepAxis& axis, std::string name, const std::vector<SweepRow>& rows, const Cell& cell) {
  const PointKind kind = kind_of(rows, cell, axis.unit == "name" ? PointKind::text : PointKind::integer);
  const bool plain = axis.unit.empty() || axis.unit == "name";
  return {std::move(name),
          kind == PointKind::text ? "text"
          : plain                 ? "1"
                                  : axis.unit,
          (axis.set ? "follows from other axes: " : "axis: ") + axis.key, kind};
}

}  // namespace

std::vector<Source> axis_columns(const SweepHead& head, const std::vector<SweepRow>& rows,
                                 std::set<std::string> taken) {
  std::vector<Source> sources;
  for (const SweepAxis& axis : head.axes) {
    const Cell cell = [key = axis.key](const SweepRow& row) { return value_in(row.values, key); };
    sources.push_back({column_of(axis, name_of(axis, head.axes, taken), rows, cell), cell});
    taken.insert(sources.back().column.name);
  }
  return sources;
}

}  // namespace tessera::results
