// The wafer of WATOS (section II-A, figures 3 and 4) from its keys to a [machine] table.
#include <fmt/format.h>

#include <algorithm>

#include "../device.hpp"
#include "../reading.hpp"
#include "templates.hpp"

namespace tessera::machine {
namespace {

using Wafer = WaferTemplate::Wafer;
using Die = WaferTemplate::Die;
using Core = WaferTemplate::Core;
using Dram = WaferTemplate::Dram;

// Bounds that keep sums and products of all keys inside 64 bits.
constexpr const char *most_length = "10000 mm", *most_count = "65536", *most_chiplets = "1024";

template <class Level>
void add_columns_and_rows(config::Schema<Level>& s, const char* help) {
  for (const auto& [key, member] : {std::pair{"columns", &Level::columns}, {"rows", &Level::rows}})
    s.integer(key, member, help).at_least("0").at_most(most_count).otherwise("0");
}

const config::Schema<Wafer>& wafer_schema() {
  static const config::Schema<Wafer> schema = [] {
    config::Schema<Wafer> s("machine.template.wafer", "The wafer: sites, each a die and the DRAM beside it.");
    s.quantity("width", &Wafer::width, "usable").at_least("1 um").at_most(most_length);
    s.quantity("height", &Wafer::height, "usable").at_least("1 um").at_most(most_length);
    add_columns_and_rows(s, "of dies; 0: as many as fit");
    s.quantity("spacing", &Wafer::spacing, "between neighbours, dies and chiplets alike")
        .at_most(most_length)
        .otherwise("0 mm");
    s.quantity("latency", &Wafer::latency, "of a link between two dies").at_least("1 ps").at_most("1 s");
    return s;
  }();
  return schema;
}

const config::Schema<Die>& die_schema() {
  static const config::Schema<Die> schema = [] {
    config::Schema<Die> s("machine.template.die", "The compute die.");
    s.quantity("width", &Die::width, "in the direction of the wafer's rows").at_least("1 um").at_most(most_length);
    s.quantity("height", &Die::height, "along which the DRAM stands").at_least("1 um").at_most(most_length);
    s.quantity("edge_bandwidth", &Die::edge_bandwidth,
               "one way, over edge_length: what links and the DRAM beside the die share")
        .at_least("1 B/s")
        .at_most("1 PB/s");
    s.quantity("edge_length", &Die::edge_length, "of the edge that has edge_bandwidth")
        .at_least("1 um")
        .at_most(most_length);
    return s;
  }();
  return schema;
}

constexpr std::pair<const char*, std::int64_t Core::*> array_keys[] = {{"pe_columns", &Core::pe_columns},
                                                                       {"pe_rows", &Core::pe_rows},
                                                                       {"banks", &Core::banks},
                                                                       {"bank_bytes", &Core::bank_bytes},
                                                                       {"link_bytes", &Core::link_bytes}};

const config::Schema<Core>& core_schema() {
  static const config::Schema<Core> schema = [] {
    config::Schema<Core> s("machine.template.core", "A core; a die has columns x rows of them.");
    add_columns_and_rows(s, "of a die; 0: as many as fit");
    s.quantity("width", &Core::width, "of one with its share of the network and the edge; 0 mm: not said")
        .at_most(most_length)
        .otherwise("0 mm");
    s.quantity("height", &Core::height, "the same").at_most(most_length).otherwise("0 mm");
    s.table("peak", &Core::peak, peak_schema(), "peak compute of a core by datatype, at least one");
    s.quantity("sram", &Core::sram, "of a core").at_most("1 TB").otherwise("0 B");
    s.quantity("sram_bandwidth", &Core::sram_bandwidth, "of a core's SRAM: the memory of a die without DRAM")
        .at_most("1 PB/s")
        .otherwise("0 B/s");
    s.quantity("clock", &Core::clock, config::Unit::frequency, "0 Hz when unknown").otherwise("0 Hz");
    for (const auto& [key, member] : array_keys)
      s.integer(key, member, "as in machine.device.array, for cost model dataflow: all of them or none; 0: not said")
          .at_least("0")
          .at_most("100000")
          .otherwise("0");
    return s;
  }();
  return schema;
}

const config::Schema<Dram>& dram_schema() {
  static const config::Schema<Dram> schema = [] {
    config::Schema<Dram> s("machine.template.dram", "The DRAM of a die: chiplets of a data sheet.");
    s.choice<DramPlace>(
        "place", &Dram::place,
        {{"none", DramPlace::none},
         {"one-side", DramPlace::one_side},
         {"both-sides", DramPlace::both_sides},
         {"on-top", DramPlace::on_top}},
        "none: the cores' SRAM is the die's memory; one-side, both-sides: along the right edge of a die, "
        "or the left one too, where it takes area and edge; on-top: stacked, where it takes neither");
    s.integer("chiplets", &Dram::chiplets, "of a side, or on top of a die")
        .at_least("1")
        .at_most(most_chiplets)
        .otherwise("1");
    s.text("name", &Dram::name, "of the chiplet").otherwise("");
    s.text("source", &Dram::source, "its data sheet").otherwise("");
    s.quantity("width", &Dram::width, "of a chiplet, along the die's edge").at_most(most_length).otherwise("0 mm");
    s.quantity("depth", &Dram::depth, "of a chiplet, away from the die's edge").at_most(most_length).otherwise("0 mm");
    s.quantity("capacity", &Dram::capacity, "of a chiplet").at_most("10 TB").otherwise("0 B");
    s.quantity("bandwidth", &Dram::bandwidth, "of a chiplet").at_most("100 TB/s").otherwise("0 B/s");
    return s;
  }();
  return schema;
}

const config::Schema<WaferTemplate>& whole_schema() {
  static const config::Schema<WaferTemplate> schema = [] {
    config::Schema<WaferTemplate> s("machine.template.wafer-template",
                                    "A wafer of dies on a mesh, by area, edges and the bandwidth of edges.");
    s.also_accept("kind", "\"wafer-template\"");
    s.table("wafer", &WaferTemplate::wafer, wafer_schema(), "see machine.template.wafer");
    s.table("die", &WaferTemplate::die, die_schema(), "see machine.template.die");
    s.table("core", &WaferTemplate::core, core_schema(), "see machine.template.core");
    s.table("dram", &WaferTemplate::dram, dram_schema(), "see machine.template.dram");
    return s;
  }();
  return schema;
}

/// Where "wafer.rows" stands, or the table that it would stand in.
config::Location place_of(const config::Table& keys, const std::string& key) {
  const std::size_t dot = key.find('.');
  const config::Value* level = keys.find(key.substr(0, dot));
  if (level == nullptr || level->table() == nullptr) return keys.where();
  const config::Value* value = level->table()->find(key.substr(dot + 1));
  return value == nullptr ? level->table()->where() : value->where();
}

/// What a chiplet's data sheet has to say where there are chiplets.
bool check_chiplet(const config::Table& keys, const Dram& dram, config::Diagnostics& diagnostics) {
  if (dram.place == DramPlace::none) return true;
  const std::pair<const char*, bool> said[] = {{"width", dram.width > Length{0}},
                                               {"depth", dram.depth > Length{0}},
                                               {"capacity", dram.capacity > Bytes{0}},
                                               {"bandwidth", dram.bandwidth > BytesPerSecond{0}}};
  bool whole = true;
  for (const auto& [key, is_said] : said) {
    if (is_said) continue;
    diagnostics.error(
        place_of(keys, std::string("dram.") + key),
        fmt::format("\"{}\" of [machine.template.dram] is 0 or not said, expected that of the chiplet's data sheet",
                    key));
    whole = false;
  }
  return whole;
}

bool says_array(const Core& core) {
  return std::ranges::any_of(array_keys, [&](const auto& key) { return core.*key.second > 0; });
}

/// What a core is made of is said whole, or not at all.
bool check_array_keys(const config::Table& keys, const Core& core, config::Diagnostics& diagnostics) {
  if (!says_array(core)) return true;
  bool whole = true;
  for (const auto& [key, member] : array_keys) {
    if (core.*member > 0) continue;
    diagnostics.error(place_of(keys, std::string("core.") + key),
                      fmt::format("\"{}\" of [machine.template.core] is 0 or not said beside others of "
                                  "[machine.device.array], expected 1 or more",
                                  key));
    whole = false;
  }
  return whole;
}

/// One line that says where the figures of the machine come from.
std::string source_of(const WaferTemplate& of, const WaferLayout& layout) {
  std::string dram = "no DRAM";
  if (layout.chiplets > 0) {
    const char* where = of.dram.place == DramPlace::on_top       ? "on top of a die"
                        : of.dram.place == DramPlace::both_sides ? "on both sides of a die"
                                                                 : "on one side of a die";
    dram = fmt::format("{} chiplets{}{} {}{}{}", layout.chiplets, of.dram.name.empty() ? "" : " ", of.dram.name, where,
                       of.dram.source.empty() ? "" : " ", of.dram.source.empty() ? "" : "(" + of.dram.source + ")");
  }
  return fmt::format("wafer template: {} x {} dies of {} x {} on {} x {}, {} x {} cores a die, {}", layout.columns,
                     layout.rows, in_millimetres(of.die.width), in_millimetres(of.die.height),
                     in_millimetres(of.wafer.width), in_millimetres(of.wafer.height), layout.core_columns,
                     layout.core_rows, dram);
}

/// Fills in the tables of a machine, all at one place.
class Maker {
 public:
  explicit Maker(config::Location where)
      : where_(std::move(where)), machine_(std::make_shared<config::Table>(where_)) {}
  void put(config::Table& table, const std::string& key, config::Value::Content content) const {
    table.set(key, {std::move(content), where_});
  }
  template <class U>
  void put(config::Table& table, const std::string& key, Quantity<U> quantity) const {
    put(table, key, config::Value::Content(config::format_quantity(quantity)));
  }
  std::shared_ptr<config::Table> table(config::Table& in, const std::string& key) const {
    auto made = std::make_shared<config::Table>(where_);
    put(in, key, config::Value::Content(made));
    return made;
  }
  [[nodiscard]] const std::shared_ptr<config::Table>& machine() const { return machine_; }

 private:
  config::Location where_;
  std::shared_ptr<config::Table> machine_;
};

/// The core level of [machine.device]: what is inside of a die goes here.
void put_cores(const Maker& maker, const WaferTemplate& of, const WaferLayout& layout, config::Table& device) {
  peak_schema().write(layout.peak, *maker.table(device, "peak"));
  maker.put(device, "cores", config::Value::Content(layout.cores()));
  maker.put(device, "cache", layout.sram);
  maker.put(device, "clock", config::Value::Content(config::format_quantity(of.core.clock, config::Unit::frequency)));
  if (!says_array(of.core)) return;
  const auto array = maker.table(device, "array");
  maker.put(*array, "columns", config::Value::Content(layout.core_columns));
  maker.put(*array, "rows", config::Value::Content(layout.core_rows));
  maker.put(*array, "sram", of.core.sram);
  for (const auto& [key, member] : array_keys) maker.put(*array, key, config::Value::Content(of.core.*member));
}

std::shared_ptr<config::Table> machine_of(const WaferTemplate& of, const WaferLayout& layout,
                                          const config::Location& where) {
  const Maker maker(where);
  using Content = config::Value::Content;
  maker.put(*maker.machine(), "name", Content(std::string("wafer-template")));
  maker.put(*maker.machine(), "source", Content(source_of(of, layout)));
  const auto device = maker.table(*maker.machine(), "device");
  maker.put(*device, "name", Content(fmt::format("die of {} x {} cores", layout.core_columns, layout.core_rows)));
  maker.put(*device, "memory_bandwidth", layout.memory_bandwidth);
  maker.put(*device, "memory_capacity", layout.memory_capacity);
  put_cores(maker, of, layout, *device);
  const auto topology = maker.table(*maker.machine(), "topology");
  maker.put(*topology, "kind", Content(std::string("mesh")));
  maker.put(*topology, "columns", Content(layout.columns));
  maker.put(*topology, "rows", Content(layout.rows));
  maker.put(*topology, "bandwidth", layout.link_bandwidth);
  maker.put(*topology, "latency", of.wafer.latency);
  return maker.machine();
}

std::shared_ptr<config::Table> make(const config::Table& keys, config::Diagnostics& diagnostics) {
  const auto of = read_whole(whole_schema(), keys, diagnostics);
  if (!of || !check_chiplet(keys, of->dram, diagnostics) || !check_array_keys(keys, of->core, diagnostics))
    return nullptr;
  const WaferLayout layout = layout_of(*of);
  for (const Conflict& conflict : layout.conflicts)
    diagnostics.error(place_of(keys, conflict.key),
                      fmt::format("wafer template, {}: {}", conflict.constraint, conflict.what));
  if (!layout.conflicts.empty()) return nullptr;
  return machine_of(*of, layout, keys.where());
}

}  // namespace

TemplateKind wafer_template() {
  return {"wafer-template",
          "a wafer of dies on a mesh, by area, edges and the bandwidth of edges",
          []() -> const config::SchemaBase& { return whole_schema(); },
          {&wafer_schema(), &die_schema(), &core_schema(), &dram_schema()},
          make};
}

}  // namespace tessera::machine
