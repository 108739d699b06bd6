// calculon/system.py, processor.py, memory.py, network.py of calculon-ai/calculon.
#include "calculon_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::experiment::importing {
namespace {

struct CalculonMemory {
  double gibibytes = 0, gigabytes_per_second = 0;
};

struct CalculonNetwork {
  double bandwidth = 0, efficiency = 1, latency = 0, processor_usage = 0;
  std::int64_t size = 0;
  bool must_be_filled = false;
};

struct CalculonRate {
  double tflops = 0;
};

const config::Schema<CalculonMemory>& calculon_memory_schema() {
  static const config::Schema<CalculonMemory> schema = [] {
    config::Schema<CalculonMemory> s("mem1", "A memory of a Calculon system.");
    s.number("GiB", &CalculonMemory::gibibytes, "capacity").at_least("0.000001").at_most("1e12");
    s.number("GBps", &CalculonMemory::gigabytes_per_second, "bandwidth").at_least("0.000001").at_most("1e9");
    s.also_accept("MB_efficiency", "shares of the bandwidth by size");
    return s;
  }();
  return schema;
}

const config::Schema<CalculonNetwork>& calculon_network_schema() {
  static const config::Schema<CalculonNetwork> schema = [] {
    using T = CalculonNetwork;
    config::Schema<T> s("networks", "A tier of a Calculon system's network.");
    s.number("bandwidth", &T::bandwidth, "GB/s").at_least("0.000001").at_most("1e9");
    s.number("efficiency", &T::efficiency, "share of it").at_least("0.01").at_most("1");
    s.integer("size", &T::size, "members").at_least("1");
    s.number("latency", &T::latency, "s, of an operation").at_least("0").at_most("1");
    s.also_accept("ops", "factors of operations");
    s.boolean("must_be_filled", &T::must_be_filled, "whether all members take part");
    s.number("processor_usage", &T::processor_usage, "of the device, while it communicates").at_least("0").at_most("1");
    return s;
  }();
  return schema;
}

const config::Schema<CalculonRate>& calculon_rate_schema() {
  static const config::Schema<CalculonRate> schema = [] {
    config::Schema<CalculonRate> s("matrix", "Peak of a Calculon system.");
    s.number("tflops", &CalculonRate::tflops, "peak, TFLOP/s").at_least("0.000001").at_most("1e9");
    s.also_accept("gflops_efficiency", "shares of it by size");
    return s;
  }();
  return schema;
}

/// The table under `key`; reported where there is none.
const config::Table* table_in(const config::Table& table, std::string_view key, config::Diagnostics& diagnostics) {
  const config::Value* value = table.find(key);
  if (value != nullptr && value->table() != nullptr) return value->table();
  diagnostics.error(value == nullptr ? table.where() : value->where(), fmt::format("\"{}\": expected an object", key));
  return nullptr;
}

double number_of(const config::Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.content())) return static_cast<double>(*whole);
  const auto* number = std::get_if<double>(&value.content());
  return number == nullptr ? 0 : *number;
}

/// Of steps [[from this size on, share], ...] the greatest share: that of large operations. 1 where there are none.
double greatest_share(const config::Table& table, std::string_view key, config::Diagnostics& diagnostics) {
  const config::Value* value = table.find(key);
  if (value == nullptr) return 1;
  double greatest = 0;
  const config::Array none;
  for (const config::Value& step : value->array() == nullptr ? none : *value->array())
    if (step.array() != nullptr && step.array()->size() == 2)
      greatest = std::max(greatest, number_of((*step.array())[1]));
  if (greatest < 0.01 || greatest > 1)
    diagnostics.error(value->where(), fmt::format("\"{}\": expected pairs of a size and a share from 0.01 to 1", key));
  return greatest;
}

/// "312 TFLOP/s": of a whole number of units of a thousandth.
std::string with_unit(double value, const char* unit) { return fmt::format("{} {}", value, unit); }

void put_network(const CalculonNetwork& network, const char* kind, Draft& draft) {
  const std::string prefix = fmt::format("machine.topology.{}", kind);
  put(draft, prefix + "_bandwidth", with_unit(network.bandwidth, "GB/s"), "bandwidth");
  put(draft, prefix + "_efficiency", network.efficiency, "efficiency");
  const auto picoseconds = std::max<std::int64_t>(1, std::llround(network.latency * 1e12));
  put(draft, prefix + "_latency", fmt::format("{} ns", static_cast<double>(picoseconds) / 1000),
      "latency, of each link here");
}

std::vector<CalculonNetwork> read_networks(const config::Table& system, config::Diagnostics& diagnostics) {
  const config::Value* list = system.find("networks");
  std::vector<CalculonNetwork> networks;
  if (list == nullptr || list->array() == nullptr || list->array()->empty()) {
    diagnostics.error(list == nullptr ? system.where() : list->where(), "\"networks\": expected a list of objects");
    return networks;
  }
  for (const config::Value& one : *list->array()) {
    if (one.table() == nullptr)
      diagnostics.error(one.where(), "\"networks\": expected objects");
    else
      networks.push_back(calculon_network_schema().read(*one.table(), diagnostics));
  }
  if (networks.size() > 2)
    diagnostics.error(list->where(), "\"networks\": a third tier is not modelled in a cluster, allowed: 1 or 2");
  return networks;
}

void put_topology(const std::vector<CalculonNetwork>& networks, std::int64_t processors, Draft& draft) {
  put(draft, "machine.topology.kind", std::string("cluster"));
  const std::int64_t each = std::min(processors, networks.front().size);
  put(draft, "machine.topology.nodes", (processors + each - 1) / each);
  put(draft, "machine.topology.gpus_per_node", each, "size of the first network");
  put_network(networks.front(), "nvlink", draft);
  if (networks.size() > 1) put_network(networks[1], "nic", draft);
}

}  // namespace

CalculonNetworks put_system(const config::Table& system, const std::string& datatype, std::int64_t processors,
                            Draft& draft, config::Diagnostics& diagnostics) {
  const std::vector<CalculonNetwork> networks = read_networks(system, diagnostics);
  const config::Table* matrix = table_in(system, "matrix", diagnostics);
  const config::Table* memory = table_in(system, "mem1", diagnostics);
  const config::Table* rate = matrix == nullptr ? nullptr : table_in(*matrix, datatype, diagnostics);
  if (rate == nullptr || memory == nullptr || networks.empty()) return {};
  const CalculonMemory sizes = calculon_memory_schema().read(*memory, diagnostics);
  const CalculonRate peak = calculon_rate_schema().read(*rate, diagnostics);
  put(draft, "machine.name", std::string("calculon-system"));
  put(draft, "machine.device.name", std::string("processor of the Calculon system"));
  const std::string ours = datatype == "bfloat16"  ? "bf16"
                           : datatype == "float32" ? "fp32"
                           : datatype == "float8"  ? "fp8"
                                                   : "fp16";
  put(draft, "machine.device.peak." + ours, with_unit(peak.tflops, "TFLOP/s"), "matrix");
  put(draft, "machine.device.memory_bandwidth", with_unit(sizes.gigabytes_per_second, "GB/s"), "mem1");
  put(draft, "machine.device.memory_capacity", with_unit(std::min(sizes.gibibytes, 1e9), "GiB"), "mem1");
  put_topology(networks, processors, draft);
  put(draft, "cost.model", std::string("roofline"));
  put(draft, "cost.matrix_efficiency", greatest_share(*rate, "gflops_efficiency", diagnostics),
      "that of large operations");
  put(draft, "cost.memory_efficiency", greatest_share(*memory, "MB_efficiency", diagnostics),
      "that of large operations");
  draft.remarks.push_back(
      "Of the system are left out: efficiencies of smaller operations, the vector units (streaming kernels take the "
      "time "
      "of their bytes), mem2, processor_usage, the factors of operations (collectives move what their algorithm "
      "moves), "
      "and processing_mode (a kernel takes the longer of arithmetic and traffic).");
  CalculonNetworks result;
  for (const CalculonNetwork& network : networks) result.sizes.push_back(network.size);
  return result;
}

}  // namespace tessera::experiment::importing
