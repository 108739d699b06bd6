#include "hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "fault_fields.hpp"
#include "networks/host_network.hpp"
#include "node_finder.hpp"
#include "reading.hpp"

namespace tessera::machine {
namespace {

using config::Array;
using config::Location;
using config::Table;
using config::Value;

/// The node (DevicePlace) of whatever is linked to one alone; nothing for a switch between several.
std::optional<int> node_of(const Machine& machine, NodeId id) {
  if (id < machine.devices()) return machine.places[id].node;
  std::optional<int> found;
  for (const Link& link : machine.network.links) {
    if (link.to != id) continue;
    const auto node = link.from < machine.devices() ? std::optional(machine.places[link.from].node) : std::nullopt;
    if (!node || (found && *found != *node)) return std::nullopt;
    found = node;
  }
  return found;
}

/// Which hosts one table stands for.
class HostReader {
 public:
  HostReader(const Machine& machine, config::Diagnostics& diagnostics)
      : machine_(machine), diagnostics_(diagnostics), find_(machine, diagnostics) {
    for (const DevicePlace& place : machine.places) nodes_ = std::max(nodes_, place.node + 1);
  }

  /// Nothing after an error.
  std::vector<HostShape> read(const Table& table, const HostInput& input) {
    const std::size_t errors = diagnostics_.errors().size();
    check(table, input);
    std::vector<HostShape> hosts;
    const Value* links = table.find("links");
    if (links != nullptr && input.links.empty()) {
      diagnostics_.error(links->where(),
                         "\"links\": a host without a link, allowed: nodes such as [[0, 0], [1, 0]]; "
                         "without this key it is linked to every device");
    } else if (input.each == HostOf::machine) {
      hosts.push_back(of_machine(input, links != nullptr));
    } else {
      for (int node = 0; node < nodes_ && diagnostics_.errors().size() == errors; ++node)
        hosts.push_back(of_node(input, node, links != nullptr));
    }
    if (diagnostics_.errors().size() != errors) hosts.clear();
    return hosts;
  }

 private:
  void error(const Location& where, const char* key, const std::string& what) {
    diagnostics_.error(where, fmt::format("\"{}\": {}", key, what));
  }

  void check(const Table& table, const HostInput& input) {
    if (input.memory_reserve >= input.memory_capacity) {
      const Value* reserve = table.find("memory_reserve");
      error(reserve == nullptr ? table.where() : reserve->where(), "memory_reserve",
            fmt::format("{} leave nothing of memory_capacity = \"{}\", allowed: less",
                        config::format_quantity(input.memory_reserve), config::format_quantity(input.memory_capacity)));
    }
    if (input.bridge_bandwidth > BytesPerSecond{0} && input.latency < Duration{2})
      error(table.find("latency")->where(), "latency",
            fmt::format("{} are not enough for two links, one on either side of the bridge, allowed with "
                        "bridge_bandwidth: at least 2 ps",
                        config::format_quantity(input.latency)));
    const auto& switches = machine_.network.switch_names;
    const auto is_of_that_name = [&](const std::string& other) { return other.starts_with(input.name + ' '); };
    if (input.name.empty() || input.name == machine_.device_noun || std::ranges::any_of(switches, is_of_that_name)) {
      const Value* name = table.find("name");
      error(name == nullptr ? table.where() : name->where(), "name",
            input.name.empty() ? "allowed: a name such as \"host\""
                               : fmt::format("other nodes are called \"{}\" as well", input.name));
    }
  }

  [[nodiscard]] HostShape shape_of(const HostInput& input, std::optional<int> node) const {
    HostShape shape{static_cast<std::uint32_t>(machine_.host_kinds.size()), node, input.bandwidth, input.latency, {}};
    if (input.bridge_bandwidth > BytesPerSecond{0}) shape.bridge_bandwidth = input.bridge_bandwidth;
    return shape;
  }

  HostShape of_machine(const HostInput& input, bool has_links) {
    HostShape host = shape_of(input, std::nullopt);
    if (has_links) {
      for (const Value& end : input.links) add(host, end, find_.node(end, "links"));
    } else {
      for (NodeId device = 0; device < machine_.devices(); ++device) host.ends.push_back(device);
    }
    return host;
  }

  HostShape of_node(const HostInput& input, int node, bool has_links) {
    HostShape host = shape_of(input, node);
    if (has_links) {
      for (const Value& end : input.links) add(host, end, in_node(end, node));
      return host;
    }
    for (NodeId device = 0; device < machine_.devices(); ++device)
      if (machine_.places[device].node == node) host.ends.push_back(device);
    return host;
  }

  /// Coordinates are those of the node's own grid; a name without a number is that of its own switch.
  std::optional<NodeId> in_node(const Value& end, int node) {
    if (const Array* place = end.array()) {
      std::vector<std::int64_t> coordinates = coordinates_of(*place);
      if (machine_.grid.count > 1 && coordinates.size() == 2) coordinates.push_back(node);
      return inside(end, node, find_.at_place(coordinates, "links", end.where()));
    }
    const auto& switches = machine_.network.switch_names;
    for (NodeId id = 0; id < switches.size(); ++id) {
      const bool is_called_so = switches[id].substr(0, switches[id].rfind(' ')) == *end.string();
      if (is_called_so && node_of(machine_, machine_.devices() + id) == node) return machine_.devices() + id;
    }
    return inside(end, node, find_.node(end, "links"));
  }

  std::optional<NodeId> inside(const Value& end, int node, std::optional<NodeId> found) {
    if (!found || node_of(machine_, *found) == node) return found;
    error(end.where(), "links",
          fmt::format("{} is not in {} {}, and with each = \"node\" a host is linked to its own one alone",
                      machine_.node_name(*found), machine_.node_noun, node));
    return std::nullopt;
  }

  void add(HostShape& host, const Value& end, std::optional<NodeId> found) {
    if (!found) return;
    if (std::ranges::find(host.ends, *found) != host.ends.end())
      return error(end.where(), "links", machine_.node_name(*found) + " is listed more than once");
    host.ends.push_back(*found);
  }

  const Machine& machine_;
  config::Diagnostics& diagnostics_;
  NodeFinder find_;
  int nodes_ = 0;
};

/// What stands in [machine.device], and why not here.
void refuse_compute(Table& table, config::Diagnostics& diagnostics) {
  for (const char* key : {"peak", "cores", "clock", "cache", "transaction", "array"}) {
    const Value* value = table.find(key);
    if (value == nullptr) continue;
    diagnostics.error(value->key_where(), fmt::format("\"{}\": a host that computes is not allowed: hosts are memory "
                                                      "alone, devices that compute are those of [machine.device]",
                                                      key));
    table.erase(key);
  }
}

DeviceSpec spec_of(const HostInput& input) {
  DeviceSpec spec;
  spec.name = input.name;
  spec.memory_bandwidth = input.memory_bandwidth;
  spec.memory_capacity = input.memory_capacity;
  spec.memory_reserve = input.memory_reserve;
  return spec;
}

class HostSchema : public config::Schema<HostInput> {
 public:
  using Schema::Schema;
  using SchemaBase::add;
};

/// The tables of [[machine.host]]; null where there are none, and after an error.
const Array* tables_of(const Table& machine_table, config::Diagnostics& diagnostics) {
  const Value* value = machine_table.find("host");
  if (value == nullptr) return nullptr;
  const Array* list = value->array();
  if (list != nullptr && std::ranges::all_of(*list, [](const Value& one) { return one.table() != nullptr; }))
    return list;
  diagnostics.error(value->where(),
                    "\"host\": " + value->type_name() + " is not allowed here, expected tables [[machine.host]]");
  return nullptr;
}

}  // namespace

const config::Schema<HostInput>& host_schema() {
  static const HostSchema schema = [] {
    HostSchema s("machine.host",
                 "Memory without compute, [[machine.host]]: a host's DRAM, memory behind a switch. "
                 "A program's devices send to it and receive from it.");
    s.text("name", &HostInput::name, "what it is called in results, with a number over all hosts").otherwise("host");
    s.quantity("memory_bandwidth", &HostInput::memory_bandwidth, "of its memory").at_least("1 B/s");
    s.quantity("memory_capacity", &HostInput::memory_capacity, "of its memory").at_least("1 B");
    s.quantity("memory_reserve", &HostInput::memory_reserve, "of memory_capacity, what no job can have")
        .otherwise("0 B");
    s.quantity("bandwidth", &HostInput::bandwidth, "of each of its links, per direction").at_least("1 B/s");
    s.quantity("latency", &HostInput::latency,
               "of each of its links; with bridge_bandwidth half of it in front of the bridge and half behind")
        .at_least("1 ps")
        .at_most("1 s");
    s.quantity("bridge_bandwidth", &HostInput::bridge_bandwidth,
               "that all of its links share, per direction: they hang on a bridge, a switch with one link to the host; "
               "each link has all of its own when absent")
        .at_least("1 B/s")
        .optional();
    s.choice("each", &HostInput::each, {{"machine", HostOf::machine}, {"node", HostOf::node}},
             "one host for the machine, or one for each node (server, wafer, package)")
        .otherwise("machine");
    s.add(nodes_field("links",
                      "nodes that it is linked to, all devices of the machine or node when absent; with each = "
                      "\"node\" coordinates are the node's own, and \"nvswitch\" is its own switch",
                      config::detail::access<Array>(&HostInput::links)))
        .optional();
    return s;
  }();
  return schema;
}

void add_hosts(const Table& machine_table, Machine& machine, config::Diagnostics& diagnostics) {
  const Array* list = tables_of(machine_table, diagnostics);
  if (list == nullptr || list->empty()) return;
  const std::size_t errors = diagnostics.errors().size();
  HostReader reader(machine, diagnostics);
  std::vector<HostShape> hosts;
  for (const Value& one : *list) {
    const auto table = config::clone(*one.table());
    refuse_compute(*table, diagnostics);
    const auto input = read_whole(host_schema(), *table, diagnostics);
    if (!input) continue;
    const std::vector<HostShape> some = reader.read(*table, *input);
    hosts.insert(hosts.end(), some.begin(), some.end());
    machine.host_kinds.push_back(spec_of(*input));
  }
  const auto devices = static_cast<std::int64_t>(machine.devices() + hosts.size());
  if (diagnostics.errors().size() == errors &&
      check_device_count(devices, "accelerators and hosts", machine_table, diagnostics))
    link_hosts(hosts, machine);
}

void complete_hosts(Table& machine_table) {
  Value* hosts = machine_table.find("host");
  if (hosts == nullptr || hosts->array() == nullptr) return;
  for (const Value& one : *hosts->array())
    if (const auto* table = std::get_if<std::shared_ptr<Table>>(&one.content())) host_schema().complete(**table);
}

}  // namespace tessera::machine
