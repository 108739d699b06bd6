// Single collectives on idle networks.
#pragma once

#include <algorithm>
#include <string>

#include "tessera/base/comm.hpp"
#include "tessera/machine/topology.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::sim {

using program::CollectiveKind;

/// One collective (or several in a row) of one group on a machine, alone.
struct Idle {
  static constexpr std::int64_t packet = 65'536;
  machine::Machine machine;
  Time latency = 0;
  BytesPerSecond bandwidth;
  program::Group group;
  std::int64_t element = 2;
  std::uint32_t repeat = 1;
  std::uint32_t root = 0;
  bool free_reductions = true;
  Time late = 0;  // by how much member 3 comes later than the others; whole microseconds

  explicit Idle(const std::string& topology) {
    const std::string text =
        "name = \"test\"\npacket = \"64 KiB\"\n[device]\nname = \"gpu\"\npeak.fp16 = \"100 TFLOP/s\"\n"
        "memory_bandwidth = \"1 TB/s\"\nmemory_capacity = \"32 GB\"\ncores = 80\n[topology]\n" +
        topology;
    config::Diagnostics diagnostics;
    machine = machine::build_machine(*config::parse_toml(text, "test", diagnostics), diagnostics);
    diagnostics.throw_if_errors();
    latency = machine.network.links[0].latency.value();
    bandwidth = machine.network.links[0].bandwidth;
    for (program::DeviceId i = 0; i < machine.devices(); ++i) group.members.push_back(i);
  }

  [[nodiscard]] Time time(const char* algorithm, CollectiveKind kind, std::int64_t bytes) const {
    program::Program program;
    program.free_reductions = free_reductions;
    program.groups = {group};
    program.devices.resize(machine.devices());
    program::Collective collective;
    collective.kind = kind;
    collective.bytes = Bytes{bytes};
    collective.element = Bytes{element};
    collective.algorithm = program::algorithm_index(algorithm);
    collective.root = root;
    const auto once = program::BlockBuilder(program, "once").collective(collective).done();
    const auto main = program::BlockBuilder(program, "main").call(once, repeat).done();
    for (const program::DeviceId device : group.members) program.devices[device] = {{main}, {}, {0}, 0};
    if (late > 0) {
      const std::int64_t read = late / microsecond * 1'000'000;  // B, at 1 TB/s
      const auto before = workload::streaming(workload::OperatorKind::addition, "late", Bytes{read}, Bytes{0}, "fp16");
      program.devices[group.members[3]].streams[0] =
          program::BlockBuilder(program, "late").compute(before).call(main).done();
    }
    config::Diagnostics diagnostics;
    const auto cost = workload::make_cost_model(
        *config::parse_toml("model = \"roofline\"\nmemory_efficiency = 1\nlaunch_overhead = \"0 s\"", "cost",
                            diagnostics),
        diagnostics);
    diagnostics.throw_if_errors();
    const auto comm = make_serial_communicator();
    return simulate(machine, program, *cost, *comm, {}).results.iteration_time;
  }
  [[nodiscard]] Time all_reduce(const char* algorithm, std::int64_t bytes) const {
    return time(algorithm, CollectiveKind::all_reduce, bytes);
  }

  /// d(x)
  [[nodiscard]] Time d(std::int64_t bytes) const { return duration_at_rate(Bytes{bytes}, bandwidth); }
  /// One message over `hops` links of this kind.
  [[nodiscard]] Time message(std::int64_t bytes, int hops = 1) const {
    return hops * latency + d(bytes) + (hops - 1) * d(std::min(packet, bytes));
  }
};

/// r(x)
[[nodiscard]] inline Time reduction(std::int64_t bytes) {
  return duration_at_rate(Bytes{3 * bytes}, BytesPerSecond{1'000'000'000'000});
}

}  // namespace tessera::sim
