// From a [machine] table to a machine.
#include "tessera/machine/topology.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "device.hpp"
#include "faults.hpp"
#include "hosts.hpp"
#include "reading.hpp"
#include "template/templates.hpp"
#include "topologies/topologies.hpp"

namespace tessera::machine {
namespace {

struct MachineSpec {
  std::string name, source;
  Bytes packet;
  DeviceInput device;
};

const config::Schema<MachineSpec>& machine_schema() {
  static const config::Schema<MachineSpec> schema = [] {
    config::Schema<MachineSpec> s("machine", "The hardware: one kind of accelerator, a topology, hosts, and faults.");
    s.text("name", &MachineSpec::name, "what the machine is called in results");
    s.text("source", &MachineSpec::source, "where its figures come from").otherwise("");
    s.quantity("packet", &MachineSpec::packet,
               "messages are cut into packets of this size, which switches and devices store and forward")
        .at_least("1 B")
        .at_most("1 GiB")
        .otherwise("64 KiB");
    s.table("device", &MachineSpec::device, device_schema(), "the accelerator, see machine.device");
    s.also_accept("template", "in the place of device and topology: what they are computed from, see machine.template");
    s.also_accept("topology", "how devices are linked, see machine.topology");
    s.also_accept("host", "list of memories without compute, see machine.host");
    s.also_accept("fault", "list of faults, see machine.fault");
    s.also_accept("calibration", "what the machine does beyond its data sheet, see machine.calibration");
    return s;
  }();
  return schema;
}

struct TopologyHead {
  std::string kind, arbitration;
};

config::Schema<TopologyHead> topology_schema(const Topologies& topologies) {
  config::Schema<TopologyHead> s("machine.topology", "How devices are linked; the other keys depend on the kind.");
  std::vector<std::string> names;
  std::string help = "see machine.topology.KIND:";
  for (const TopologyKind& kind : topologies) {
    names.push_back(kind.name);
    help += (names.size() == 1 ? " " : "; ") + kind.name + ": " + kind.help;
  }
  s.choice("kind", &TopologyHead::kind, names, help);
  s.text("arbitration", &TopologyHead::arbitration,
         "which waiting packet a link sends next, see the list of choices in tessera help")
      .otherwise("fifo");
  return s;
}

/// [machine.calibration]: its tables are read as those that they are defaults of.
struct Calibration {
  std::string source;
};

const config::Schema<Calibration>& calibration_schema() {
  static const config::Schema<Calibration> schema = [] {
    config::Schema<Calibration> s("machine.calibration",
                                  "What the machine does and a data sheet does not say: defaults for tables of the "
                                  "experiment, whose own keys win. Without it a machine is simulated with peak rates.");
    s.text("source", &Calibration::source, "where its figures come from, and which of them were fitted").otherwise("");
    s.also_accept("topology", "defaults for [machine.topology]: links as the communication library drives them");
    s.also_accept("cost", "defaults for [cost], of the cost model that it names: rates of GEMMs and of memory");
    s.also_accept("collectives", "defaults for [collectives]");
    return s;
  }();
  return schema;
}

/// What a [machine.topology] table says of all kinds alike; nothing after an error.
std::optional<TopologyHead> read_head(const config::Table& topology, const Topologies& kinds,
                                      config::Diagnostics& diagnostics) {
  config::Table head(topology.where());
  for (const char* key : {"kind", "arbitration"})
    if (const config::Value* value = topology.find(key)) head.set(key, *value);
  return read_whole(topology_schema(kinds), head, diagnostics);
}

const TopologyKind& kind_of(const TopologyHead& head, const Topologies& kinds) {
  return *std::find_if(kinds.begin(), kinds.end(), [&](const TopologyKind& kind) { return kind.name == head.kind; });
}

/// There is one memory bandwidth: the clock follows from it, or agrees with it but for rounding.
void settle_memory_clock(const config::Table& device, const config::Table& transaction, BytesPerSecond bandwidth,
                         GpuSpec& spec, config::Diagnostics& diagnostics) {
  constexpr double rounding = 0.03;
  constexpr double burst = 32;  // B, of one channel in `ccds` clocks
  const double bytes_per_clock = burst * static_cast<double>(spec.channels) / static_cast<double>(spec.ccds);
  const config::Location& where = device.find("memory_bandwidth")->where();
  const std::string stated = config::format_quantity(bandwidth);
  if (transaction.find("memory_clock") == nullptr) {
    const double clock = static_cast<double>(bandwidth.value()) / bytes_per_clock;
    if (clock < 1e6 || clock > 1e12)
      diagnostics.error(where, "\"memory_bandwidth\": " + stated + " would need a memory_clock of " +
                                   std::to_string(clock / 1e6) + " MHz, allowed: 1 MHz to 1 THz");
    spec.memory_clock = std::llround(std::clamp(clock, 1e6, 1e12));
    return;
  }
  const double meant = bytes_per_clock * static_cast<double>(spec.memory_clock);
  if (std::abs(meant / static_cast<double>(bandwidth.value()) - 1) <= rounding) return;
  diagnostics.error(where, "\"memory_bandwidth\": " + stated + " contradicts [machine.device.transaction], whose " +
                               std::to_string(spec.channels) + " channels move " +
                               config::format_rounded(std::llround(meant), config::Unit::bandwidth) + " at " +
                               config::format_quantity(spec.memory_clock, config::Unit::frequency) +
                               ": change one of them, or leave out memory_clock, which then follows");
}

void refuse(const config::Table& transaction, const char* key, const std::string& problem,
            config::Diagnostics& diagnostics) {
  const config::Value* value = transaction.find(key);
  diagnostics.error(value == nullptr ? transaction.where() : value->where(), fmt::format("\"{}\": {}", key, problem));
}

void check_intensity_levels(const config::Table& transaction, const GpuSpec& spec, config::Diagnostics& diagnostics) {
  const std::vector<std::int64_t>& levels = spec.intensity_levels;
  if (levels.size() == 3 && levels[0] >= levels[1] && levels[1] >= levels[2] && levels[2] >= 0 &&
      levels[0] <= 1'000'000)
    return;
  refuse(transaction, "intensity_levels",
         "allowed are three numbers of bursts from 1000000 to 0, none above the one before", diagnostics);
}

/// What the keys say together, each of which is allowed alone.
void check_memory(const config::Table& transaction, const GpuSpec& spec, config::Diagnostics& diagnostics) {
  check_intensity_levels(transaction, spec, diagnostics);
  if (spec.l2_banks % spec.channels != 0 && spec.channels % spec.l2_banks != 0) {
    refuse(transaction, "l2_banks",
           fmt::format("{} banks of the L2 and {} channels, allowed: one number is a multiple of the other",
                       spec.l2_banks, spec.channels),
           diagnostics);
  }
  if (spec.dram_row % spec.granularity != 0) {
    refuse(transaction, "dram_row",
           fmt::format("{} B, allowed: whole transactions of {} B (granularity)", spec.dram_row, spec.granularity),
           diagnostics);
  }
}

/// What a device has at transaction level follows from its table and from its own keys.
void read_transaction(const config::Table& table, const DeviceInput& input, DeviceSpec& device,
                      config::Diagnostics& diagnostics) {
  const config::Value* value = table.find("transaction");
  if (value == nullptr) return;
  if (input.clock == 0 || input.cache == Bytes{0}) {
    diagnostics.error(value->key_where(), "[machine.device.transaction] needs the device's clock and cache as well");
    return;
  }
  device.transaction = input.transaction;
  device.transaction->cus = input.cores;
  device.transaction->clock = input.clock;
  device.transaction->l2_capacity = input.cache.value();
  if (value->table() != nullptr) check_memory(*value->table(), *device.transaction, diagnostics);
  if (value->table() != nullptr && table.find("memory_bandwidth") != nullptr &&
      input.memory_bandwidth > BytesPerSecond{0})
    settle_memory_clock(table, *value->table(), input.memory_bandwidth, *device.transaction, diagnostics);
}

/// The table under `name` in [machine.calibration]; null where there is none.
const config::Table* find_calibration(const config::Table& machine, const char* name) {
  const config::Value* calibration = machine.find("calibration");
  if (calibration == nullptr || calibration->table() == nullptr) return nullptr;
  const config::Value* found = calibration->table()->find(name);
  return found == nullptr ? nullptr : found->table();
}

void check_calibration(const config::Table& machine, config::Diagnostics& diagnostics) {
  const config::Value* calibration = machine.find("calibration");
  if (calibration == nullptr) return;
  const auto refuse = [&](const std::string& name, const config::Value& value) {
    diagnostics.error(value.where(),
                      "\"" + name + "\": " + value.type_name() + " is not allowed here, expected a table");
  };
  if (calibration->table() == nullptr) return refuse("calibration", *calibration);
  calibration_schema().check(*calibration->table(), diagnostics);
  for (const char* name : {"topology", "cost", "collectives"}) {
    const config::Value* value = calibration->table()->find(name);
    if (value != nullptr && value->table() == nullptr) refuse(name, *value);
  }
}

const config::Table* find_topology(const config::Table& machine, config::Diagnostics& diagnostics) {
  const config::Value* topology = machine.find("topology");
  if (topology == nullptr) {
    diagnostics.error(machine.where(), "missing table [machine.topology]");
  } else if (topology->table() == nullptr) {
    diagnostics.error(topology->where(),
                      "\"topology\": " + topology->type_name() + " is not allowed here, expected a table");
  } else {
    return topology->table();
  }
  return nullptr;
}

}  // namespace

Topologies built_in_topologies() {
  return {cluster_topology(), ring_topology(),   mesh_topology(),        torus_topology(),    torus_3d_topology(),
          package_topology(), wafers_topology(), mesh_switch_topology(), dragonfly_topology()};
}

std::shared_ptr<config::Table> parse_machine_file(const std::string& text, const std::string& file,
                                                  config::Diagnostics& diagnostics) {
  const auto whole = config::parse_toml(text, file, diagnostics);
  if (whole == nullptr || !diagnostics.ok()) return nullptr;
  config::Value* machine = whole->find("machine");
  for (const auto& [key, value] : whole->entries())
    if (key != "machine")
      diagnostics.error(value.key_where(), "unknown key \"" + key + "\" in a machine file, allowed: machine");
  if (machine == nullptr || machine->table() == nullptr) {
    diagnostics.error({file, 1, 1}, "a machine file holds one table, [machine]");
    return nullptr;
  }
  return std::get<std::shared_ptr<config::Table>>(machine->content());
}

Machine build_machine(const config::Table& table, config::Diagnostics& diagnostics, const Topologies& topologies) {
  if (table.find("template") != nullptr) {
    const auto expanded = config::clone(table);
    return expand_template(*expanded, diagnostics) ? build_machine(*expanded, diagnostics, topologies) : Machine();
  }
  Machine machine;
  const std::size_t errors = diagnostics.errors().size();
  const MachineSpec spec = machine_schema().read(table, diagnostics);
  machine.name = spec.name;
  machine.source = spec.source;
  machine.device = device_spec(spec.device);
  const config::Value* device = table.find("device");
  if (device != nullptr && device->table() != nullptr) {
    read_transaction(*device->table(), spec.device, machine.device, diagnostics);
    if (device->table()->find("array") != nullptr) machine.device.array = spec.device.array;
  }
  if (machine.device.memory_reserve >= machine.device.memory_capacity && diagnostics.errors().size() == errors) {
    const config::Value* reserve = device->table()->find("memory_reserve");
    diagnostics.error(reserve == nullptr ? device->where() : reserve->where(),
                      "\"memory_reserve\": " + config::format_quantity(machine.device.memory_reserve) +
                          " leave nothing of memory_capacity = \"" +
                          config::format_quantity(machine.device.memory_capacity) + "\", allowed: less");
  }
  if (machine.device.peak.empty() && diagnostics.errors().size() == errors)
    diagnostics.error(table.find("device")->where(),
                      "[machine.device] has no peak, expected at least one such as peak.fp16 = \"312 TFLOP/s\"");

  check_calibration(table, diagnostics);
  const config::Table* stated = find_topology(table, diagnostics);
  if (stated == nullptr) return machine;
  const auto topology = config::clone(*stated);
  if (const config::Table* defaults = find_calibration(table, "topology")) add_missing(*topology, *defaults);
  const auto head = read_head(*topology, topologies, diagnostics);
  if (!head) return machine;
  machine.topology = head->kind;
  topology->erase("arbitration");
  kind_of(*head, topologies).build(*topology, machine, diagnostics);
  if (machine.network.devices == 0) return machine;  // the kind has said why
  machine.network.packet = std::max(Bytes{1}, spec.packet);
  machine.network.arbitration = head->arbitration;
  add_hosts(table, machine, diagnostics);
  machine.speed.assign(machine.network.devices, 1.0);
  apply_faults(table, machine, diagnostics);
  return machine;
}

void add_missing(config::Table& table, const config::Table& defaults) {
  for (const auto& [key, value] : defaults.entries()) {
    if (table.find(key) == nullptr) table.set(key, value);
  }
}

void complete_machine(config::Table& machine, const Topologies& topologies) {
  machine_schema().complete(machine);
  complete_hosts(machine);
  if (config::Value* keys = machine.find("template"); keys != nullptr && keys->table() != nullptr)
    complete_template(*keys->table());
  if (config::Value* calibration = machine.find("calibration"); calibration != nullptr && calibration->table())
    calibration_schema().complete(*calibration->table());
  config::Value* topology = machine.find("topology");
  if (topology != nullptr && topology->table() != nullptr) {
    if (const config::Table* defaults = find_calibration(machine, "topology"))
      add_missing(*topology->table(), *defaults);
    config::Diagnostics ignored;  // build_machine reports
    if (const auto head = read_head(*topology->table(), topologies, ignored))
      kind_of(*head, topologies).schema().complete(*topology->table());
  }
}

std::vector<config::SchemaPointer> schemas(const Topologies& topologies) {
  std::vector<config::SchemaPointer> result;
  const auto add = [&](const config::SchemaBase& schema) { result.push_back(config::lasting(schema)); };
  add(machine_schema());
  add(device_schema());
  add(gpu_schema());
  add(peak_schema());
  add(gpu_spec_schema());
  add(array_spec_schema());
  add(host_schema());
  add(fault_schema());
  add(calibration_schema());
  add(template_schema());
  for (const TemplateKind& kind : built_in_templates()) {
    add(kind.schema());
    for (const auto* schema : kind.inner_schemas) add(*schema);
  }
  result.push_back(std::make_shared<config::Schema<TopologyHead>>(topology_schema(topologies)));
  for (const TopologyKind& kind : topologies) {
    const auto kept = std::make_shared<const TopologyKind>(kind);
    result.emplace_back(kept, &kept->schema());
  }
  return result;
}

}  // namespace tessera::machine
