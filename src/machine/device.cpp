#include "device.hpp"

#include <array>
#include <utility>

namespace tessera::machine {
namespace {

using Peaks = DeviceInput::Peaks;
constexpr std::array<std::pair<const char*, FlopPerSecond Peaks::*>, 8> datatypes{{{"fp64", &Peaks::fp64},
                                                                                   {"fp32", &Peaks::fp32},
                                                                                   {"tf32", &Peaks::tf32},
                                                                                   {"fp16", &Peaks::fp16},
                                                                                   {"bf16", &Peaks::bf16},
                                                                                   {"fp8", &Peaks::fp8},
                                                                                   {"fp4", &Peaks::fp4},
                                                                                   {"int8", &Peaks::int8}}};

config::Schema<DeviceInput> make_schema(const std::string& path, const std::string& help) {
  config::Schema<DeviceInput> s(path, help);
  s.text("name", &DeviceInput::name, "what the device is called in results");
  s.table("peak", &DeviceInput::peak, peak_schema(), "peak compute by datatype, at least one");
  s.quantity("memory_bandwidth", &DeviceInput::memory_bandwidth, "of the device's own memory").at_least("1 B/s");
  s.quantity("memory_capacity", &DeviceInput::memory_capacity, "of the device's own memory, as the driver offers it")
      .at_least("1 B");
  s.quantity("memory_reserve", &DeviceInput::memory_reserve,
             "of memory_capacity, what no job can have: context, communication library's buffers, fragmentation")
      .otherwise("0 B");
  s.integer("cores", &DeviceInput::cores, "SMs, CUs or cores: the unit of wave quantisation")
      .at_least("1")
      .otherwise("1");
  s.quantity("cache", &DeviceInput::cache, "last-level cache (or SRAM shared by all cores), 0 B when unknown")
      .otherwise("0 B");
  s.quantity("clock", &DeviceInput::clock, config::Unit::frequency, "at which the peaks are reached, 0 Hz when unknown")
      .otherwise("0 Hz");
  s.table("transaction", &DeviceInput::transaction, gpu_spec_schema(),
          "for simulation at transaction level, see machine.device.transaction")
      .optional();
  s.table("array", &DeviceInput::array, array_spec_schema(),
          "cores, MACs and SRAM, for cost model dataflow, see machine.device.array")
      .optional();
  return s;
}

}  // namespace

const config::Schema<Peaks>& peak_schema() {
  static const config::Schema<Peaks> schema = [] {
    config::Schema<Peaks> s("machine.device.peak", "Peak dense compute, a multiply-add counted as two operations.");
    for (const auto& [name, member] : datatypes)
      s.quantity(name, member, std::string("in ") + name).at_least("1 FLOP/s").optional();
    return s;
  }();
  return schema;
}

const config::Schema<DeviceInput>& device_schema() {
  static const config::Schema<DeviceInput> schema = make_schema(
      "machine.device", "The accelerator, the same for all devices of a machine: GPU, wafer die or chiplet.");
  return schema;
}

const config::Schema<DeviceInput>& gpu_schema() {
  static const config::Schema<DeviceInput> schema =
      make_schema("machine.gpu", "The accelerator; it stands in [machine.device], whatever its kind.");
  return schema;
}

DeviceSpec device_spec(const DeviceInput& input) {
  DeviceSpec spec;
  spec.name = input.name;
  for (const auto& [name, member] : datatypes)
    if (input.peak.*member > FlopPerSecond{0}) spec.peak[name] = input.peak.*member;
  spec.memory_bandwidth = input.memory_bandwidth;
  spec.memory_capacity = input.memory_capacity;
  spec.memory_reserve = input.memory_reserve;
  spec.cores = input.cores;
  spec.cache = input.cache;
  spec.clock = input.clock;
  return spec;
}

}  // namespace tessera::machine
