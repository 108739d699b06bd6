#include "faults.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "detour_router.hpp"
#include "fault_fields.hpp"
#include "node_finder.hpp"
#include "reading.hpp"
#include "tessera/base/random.hpp"

namespace tessera::machine {
namespace {

using config::Array;
using config::Location;
using config::Table;
using config::Value;

/// Applies one fault after the other; what concerns routes is settled at the end.
class Faults {
 public:
  Faults(Machine& machine, config::Diagnostics& diagnostics)
      : machine_(machine),
        network_(machine.network),
        diagnostics_(diagnostics),
        find_(machine, diagnostics),
        dead_(machine.network.nodes(), false) {}

  void apply(const Table& table) {
    const auto spec = read_whole(fault_schema(), table, diagnostics_);
    if (!spec || !check_keys(*spec, table)) return;
    if (const Value* device = table.find("device"))
      apply_to_node(*spec, find_.device(spec->device, device->where()), table);
    if (const Value* die = table.find("die"))
      apply_to_node(*spec, find_.at_place(spec->die, "die", die->where()), table);
    if (const Value* name = table.find("host")) apply_to_node(*spec, find_.host(spec->host, name->where()), table);
    if (const Value* name = table.find("switch"))
      apply_to_node(*spec, find_.switch_called(spec->switch_name, name->where()), table);
    if (const Value* link = table.find("link")) apply_to_links(*spec, link->where(), table);
    if (spec->among == "devices") apply_to_some_devices(*spec, table);
    if (spec->among == "links") apply_to_some_links(*spec, table);
  }

  /// After all faults: everything at a dead node is dead, and routes lead around it.
  void finish() {
    for (NodeId device = 0; device < network_.devices; ++device)
      if (dead_[device]) machine_.speed[device] = 0;
    for (Link& link : network_.links) link.dead = link.dead || dead_[link.from] || dead_[link.to];
    if (first_dead_ == nullptr) return;
    const auto first_host = machine_.speed.begin() + machine_.accelerators();
    if (std::all_of(machine_.speed.begin(), first_host, [](double speed) { return !(speed > 0); })) {
      diagnostics_.error(first_dead_->where(), "the faults leave no " + machine_.device_noun + " alive");
      return;
    }
    auto router = std::make_shared<DetourRouter>(network_, dead_);
    if (const auto pair = router->disconnected()) {
      diagnostics_.error(first_dead_->where(), "no route from " + machine_.node_name(pair->first) + " to " +
                                                   machine_.node_name(pair->second) +
                                                   ": every way leads over a dead link or a dead node");
    }
    network_.router = std::move(router);
  }

 private:
  void error(const Location& where, const std::string& key, const std::string& what) {
    diagnostics_.error(where, quoted(key) + ": " + what);
  }

  bool check_keys(const FaultSpec& spec, const Table& table) {
    const auto has = [&](const char* key) { return table.find(key) != nullptr; };
    const bool some_links = spec.among == "links", link = has("link") || some_links;
    const bool node = has("device") || has("die") || has("host") || spec.among == "devices";
    if (has("device") + has("die") + has("host") + has("link") + has("switch") + has("among") != 1) {
      diagnostics_.error(
          table.where(),
          "a fault concerns exactly one of \"device\", \"die\", \"host\", \"link\", \"switch\", \"among\"");
      return false;
    }
    if (has("among") != has("rate")) {
      diagnostics_.error(table.where(), "\"among\" and \"rate\" are given together: among = \"links\", rate = 0.2");
      return false;
    }
    const auto refuse = [&](const char* key, bool allowed, const char* owners) {
      if (!has(key) || allowed) return true;
      error(table.find(key)->where(), key, std::string("only ") + owners + " have one");
      return false;
    };
    if (!refuse("bandwidth", link, "links") || !refuse("one_way", has("link"), "single links") ||
        !refuse("speed", node, "devices") || !refuse("draw", has("among"), "faults among many"))
      return false;
    const bool slower = has("bandwidth") || has("speed");
    if (spec.dead != slower) return true;
    const char* share = link ? ", or bandwidth = \"50 %\"" : node ? ", or speed = \"50 %\"" : "";
    diagnostics_.error(table.where(), std::string("a fault is dead = true") + share + (slower ? ", not both" : ""));
    return false;
  }

  void apply_to_node(const FaultSpec& spec, std::optional<NodeId> node, const Table& table) {
    if (!node) return;
    if (spec.dead) {
      dead_[*node] = true;
      note_dead(table);
    } else {
      machine_.speed[*node] *= spec.speed;
      if (machine_.speed[*node] < least_share && !dead_[*node])
        error(table.find("speed")->where(), "speed",
              "the faults of " + machine_.node_name(*node) + " together leave less than 0.000001 of it");
    }
  }

  /// Whether the part of this number fails.
  static bool fails(const FaultSpec& spec, std::uint64_t part) {
    const KeyedRandom random(static_cast<std::uint64_t>(spec.draw), random_stream("faults among " + spec.among));
    return random.real(part) < spec.rate;
  }

  void apply_to_some_devices(const FaultSpec& spec, const Table& table) {
    for (NodeId device = 0; device < machine_.accelerators(); ++device)
      if (fails(spec, device)) apply_to_node(spec, device, table);
  }

  /// Both directions of a link fail together.
  void apply_to_some_links(const FaultSpec& spec, const Table& table) {
    std::uint64_t part = 0;
    for (NodeId from = 0; from < machine_.accelerators(); ++from) {
      for (LinkId link = network_.first_link[from]; link < network_.first_link[from + 1]; ++link) {
        const NodeId to = network_.links[link].to;
        if (to < from || !machine_.computes(to) || !fails(spec, part++)) continue;
        const bool there = apply_one_way(spec, from, to, table), back = apply_one_way(spec, to, from, table);
        if (spec.dead && (there || back)) note_dead(table);
      }
    }
  }

  void apply_to_links(const FaultSpec& spec, const Location& where, const Table& table) {
    const auto from = find_.node(spec.link[0], "link");
    const auto to = find_.node(spec.link[1], "link");
    if (!from || !to) return;
    const bool there = apply_one_way(spec, *from, *to, table);
    const bool back = !spec.one_way && apply_one_way(spec, *to, *from, table);
    if (there || back) {
      if (spec.dead) note_dead(table);
      return;
    }
    std::string neighbours;
    for (LinkId link = network_.first_link[*from]; link < network_.first_link[*from + 1]; ++link)
      if (link < network_.first_link[*from] + 8)
        neighbours += (neighbours.empty() ? "" : ", ") + quoted(machine_.node_name(network_.links[link].to));
    error(where, "link",
          "no link leads from " + quoted(machine_.node_name(*from)) + " to " + quoted(machine_.node_name(*to)) +
              ", its links lead to " + (neighbours.empty() ? "nowhere" : neighbours));
  }

  bool apply_one_way(const FaultSpec& spec, NodeId from, NodeId to, const Table& table) {
    bool found = false;
    for (LinkId index = network_.first_link[from]; index < network_.first_link[from + 1]; ++index) {
      Link& link = network_.links[index];
      if (link.to != to) continue;
      found = true;
      link.dead = link.dead || spec.dead;
      if (spec.dead) continue;
      const double bandwidth = static_cast<double>(link.bandwidth.value()) * spec.bandwidth;
      if (bandwidth < 1) {
        error(table.find("bandwidth")->where(), "bandwidth",
              "it leaves less than 1 B/s of the link's " + config::format_quantity(link.bandwidth));
        return true;
      }
      link.bandwidth = BytesPerSecond{std::llround(bandwidth)};
    }
    return found;
  }

  void note_dead(const Table& table) {
    if (first_dead_ == nullptr) first_dead_ = &table;
  }

  Machine& machine_;
  Network& network_;
  config::Diagnostics& diagnostics_;
  NodeFinder find_;
  std::vector<bool> dead_;
  const Table* first_dead_ = nullptr;
};

class FaultSchema : public config::Schema<FaultSpec> {
 public:
  using Schema::Schema;
  using SchemaBase::add;
};

}  // namespace

const config::Schema<FaultSpec>& fault_schema() {
  using config::detail::access;
  static const FaultSchema schema = [] {
    FaultSchema s("machine.fault",
                  "One fault of the machine, [[machine.fault]]: of a device, a die, a host, a link or a switch, or "
                  "drawn among many. "
                  "Routes avoid what is dead.");
    s.integer("device", &FaultSpec::device, "the device with this number").at_least("0").optional();
    s.integers("die", &FaultSpec::die,
               "the die (or chip) at these coordinates, [x, y]; of several wafers or meshes [x, y, which]")
        .optional();
    s.text("host", &FaultSpec::host, "the host of this name").optional();
    s.add(ends_field("link", "the link between two nodes, in both directions", access<Array>(&FaultSpec::link)))
        .optional();
    s.text("switch", &FaultSpec::switch_name, "the switch of this name").optional();
    s.choice("among", &FaultSpec::among, {"devices", "links"},
             "devices that compute, or links between two of them, each of which fails with probability `rate`")
        .optional();
    s.number("rate", &FaultSpec::rate, "with `among`: share of them that fails, on average")
        .at_least("0")
        .at_most("1")
        .optional();
    s.integer("draw", &FaultSpec::draw,
              "with `among`: which of many draws; what fails at a rate fails at every higher one of the same draw")
        .at_least("1")
        .optional();
    s.boolean("dead", &FaultSpec::dead, "gone altogether").otherwise("false");
    s.boolean("one_way", &FaultSpec::one_way, "only the link from the first end to the second").optional();
    s.add(share_field("bandwidth", "what is left of the link's bandwidth", access<double>(&FaultSpec::bandwidth)))
        .optional();
    s.add(share_field("speed", "what is left of the device's compute rate and memory bandwidth",
                      access<double>(&FaultSpec::speed)))
        .optional();
    return s;
  }();
  return schema;
}

void apply_faults(const Table& machine_table, Machine& machine, config::Diagnostics& diagnostics) {
  const Value* value = machine_table.find("fault");
  if (value == nullptr) return;
  const Array* list = value->array();
  const auto is_table = [](const Value& element) { return element.table() != nullptr; };
  if (list == nullptr || !std::all_of(list->begin(), list->end(), is_table)) {
    diagnostics.error(value->where(),
                      "\"fault\": " + value->type_name() + " is not allowed here, expected tables [[machine.fault]]");
    return;
  }
  Faults faults(machine, diagnostics);
  for (const Value& fault : *list) faults.apply(*fault.table());
  faults.finish();
}

}  // namespace tessera::machine
