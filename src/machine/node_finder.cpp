#include "node_finder.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::machine {
namespace {

using config::Array;
using config::Location;
using config::Value;

}  // namespace

std::string quoted(const std::string& text) { return '"' + text + '"'; }

std::string ranges_of(const std::vector<std::string>& names) {
  std::string result;
  for (std::size_t i = 0; i < names.size();) {
    const auto family = [&](std::size_t k) { return names[k].substr(0, names[k].rfind(' ') + 1); };
    std::size_t last = i;
    while (last + 1 < names.size() && !family(i).empty() && family(last + 1) == family(i)) ++last;
    result += (result.empty() ? "" : ", ") + quoted(names[i]) + (last > i ? " to " + quoted(names[last]) : "");
    i = last + 1;
  }
  return result;
}

std::vector<std::int64_t> coordinates_of(const Array& place) {
  std::vector<std::int64_t> coordinates;
  for (const Value& one : place) coordinates.push_back(std::get<std::int64_t>(one.content()));
  return coordinates;
}

std::nullopt_t NodeFinder::error(const Location& where, const std::string& key, const std::string& what) {
  diagnostics_.error(where, quoted(key) + ": " + what);
  return std::nullopt;
}

std::optional<NodeId> NodeFinder::device(std::int64_t number, const Location& where) {
  if (number < machine_.devices()) return static_cast<NodeId>(number);
  return error(
      where, "device",
      fmt::format("there is no {} {}, allowed: 0 to {}", machine_.device_noun, number, machine_.devices() - 1));
}

std::optional<NodeId> NodeFinder::at_place(const std::vector<std::int64_t>& place, const char* key,
                                           const Location& where) {
  const Grid& grid = machine_.grid;
  if (grid.columns == 0) {
    return error(
        where, key,
        fmt::format("a {} has no columns and rows, use device = 0 to {}", machine_.topology, machine_.devices() - 1));
  }
  const bool is_one = grid.count == 1 && !grid.stacked;
  if (is_one && place.size() != 2) return error(where, key, "expected two coordinates such as [2, 5]");
  if (!is_one && place.size() != 3)
    return error(where, key,
                 fmt::format("expected three numbers such as [0, 1, 0]: column, row and {}", machine_.node_noun));
  const auto is_inside = [](std::int64_t at, int size) { return at >= 0 && at < size; };
  if (!is_inside(place[0], grid.columns) || !is_inside(place[1], grid.rows) ||
      (!is_one && !is_inside(place[2], grid.count)))
    return off_the_grid(place, key, where);
  return grid.device(static_cast<int>(place[0]), static_cast<int>(place[1]), is_one ? 0 : static_cast<int>(place[2]));
}

std::nullopt_t NodeFinder::off_the_grid(const std::vector<std::int64_t>& place, const char* key,
                                        const Location& where) {
  const Grid& grid = machine_.grid;
  if (grid.stacked) {
    return error(
        where, key,
        fmt::format("{} ({},{},{}) is off the {}, allowed: (0,0,0) to ({},{},{})", machine_.device_noun, place[0],
                    place[1], place[2], machine_.topology, grid.columns - 1, grid.rows - 1, grid.count - 1));
  }
  if (grid.count > 1) {
    return error(where, key,
                 fmt::format("there is no {0} ({1},{2}) of {3} {4}, allowed: (0,0) to ({5},{6}) of {3} 0 to {7}",
                             machine_.device_noun, place[0], place[1], machine_.node_noun, place[2], grid.columns - 1,
                             grid.rows - 1, grid.count - 1));
  }
  return error(
      where, key,
      fmt::format("{} ({},{}) is off the {}, allowed: (0,0) to ({},{})", machine_.device_noun, place[0], place[1],
                  machine_.topology == "mesh" ? "wafer" : machine_.topology, grid.columns - 1, grid.rows - 1));
}

std::string NodeFinder::hosts() const {
  std::vector<std::string> names;
  for (NodeId host = machine_.accelerators(); host < machine_.devices(); ++host)
    names.push_back(machine_.node_name(host));
  return ranges_of(names);
}

std::optional<NodeId> NodeFinder::host(const std::string& name, const Location& where) {
  for (NodeId host = machine_.accelerators(); host < machine_.devices(); ++host)
    if (machine_.node_name(host) == name) return host;
  return error(
      where, "host",
      machine_.hosts() == 0 ? "this machine has no hosts" : "there is no " + quoted(name) + ", allowed: " + hosts());
}

std::optional<NodeId> NodeFinder::switch_called(const std::string& name, const Location& where) {
  const auto& names = machine_.network.switch_names;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return machine_.devices() + static_cast<NodeId>(found - names.begin());
  return error(where, "switch",
               names.empty() ? "this machine has no switches"
                             : "there is no " + quoted(name) + ", allowed: " + ranges_of(names));
}

std::optional<NodeId> NodeFinder::node(const Value& value, const char* key) {
  if (const Array* place = value.array()) return at_place(coordinates_of(*place), key, value.where());
  if (by_name_.empty())
    for (NodeId node = 0; node < machine_.network.nodes(); ++node) by_name_[machine_.node_name(node)] = node;
  const auto found = by_name_.find(*value.string());
  if (found != by_name_.end()) return found->second;
  std::string allowed =
      quoted(machine_.node_name(0)) + " to " + quoted(machine_.node_name(machine_.accelerators() - 1));
  for (const std::string& others : {hosts(), ranges_of(machine_.network.switch_names)})
    if (!others.empty()) allowed += ", " + others;
  return error(value.where(), key, "there is no " + quoted(*value.string()) + ", allowed: " + allowed);
}

}  // namespace tessera::machine
