// Small machines and programs with times that can be solved by hand: 1 ns a byte on every link, 1 ps a FLOP, 1 ps a
// reduced byte.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "machine/networks/cluster_network.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/program/program.hpp"
#include "tessera/sim/simulate.hpp"
#include "traffic.hpp"

namespace tessera::test {

/// At 1 TFLOP/s an operator takes as many picoseconds as it has FLOP; at 1 TB/s writing takes one picosecond a byte.
class PicosecondPerFlop final : public workload::CostModel {
 public:
  [[nodiscard]] Time time(const workload::Operator& op, const machine::DeviceSpec& device) const override {
    return duration_at_rate(Flop{op.flops}, device.peak.at("fp16")) +
           duration_at_rate(Bytes{op.bytes_written}, device.memory_bandwidth);
  }
  /// Where memories are shared: what is written and read goes beside the computing.
  [[nodiscard]] workload::OperatorParts parts(const workload::Operator& op,
                                              const machine::DeviceSpec& device) const override {
    return {duration_at_rate(Flop{op.flops}, device.peak.at("fp16")),
            duration_at_rate(Bytes{op.bytes_read + op.bytes_written}, device.memory_bandwidth), 0};
  }
};

inline constexpr Time wire_latency = 500;
inline constexpr Time byte_time = 1000;
inline constexpr std::int64_t packet_bytes = 100;

/// Devices with a link to each other one, packets of 100 B, 1 GB/s (1,000 ps a byte), 500 ps.
[[nodiscard]] machine::Machine connected_machine(machine::NodeId devices);
/// The same of a network at hand.
[[nodiscard]] machine::Machine machine_of(machine::Network network);

/// Nodes behind a switch with links that differ: NVLink 4 GB/s and 400 ps, NICs 1 GB/s and 3,001 ps, PCIe between.
[[nodiscard]] machine::ClusterShape small_cluster(machine::NodeId nodes, machine::NodeId gpus_per_node);

[[nodiscard]] workload::Operator work(Time picoseconds);

/// A program under construction: streams of code for each device.
class ProgramCase {
 public:
  explicit ProgramCase(machine::NodeId devices) : machine(connected_machine(devices)) {
    program.devices.resize(devices);
  }
  explicit ProgramCase(machine::Machine made) : machine(std::move(made)) { program.devices.resize(machine.devices()); }

  [[nodiscard]] program::BlockBuilder block(const std::string& name = "main") { return {program, name}; }
  /// Gives a device its streams; peer slots are device numbers, group slots those of `groups`.
  void bind(program::DeviceId device, std::vector<program::BlockId> streams, std::uint32_t events = 0);
  /// Every device of the program's groups 0, 1, ...
  void group(std::vector<program::DeviceId> members) { program.groups.push_back({std::move(members)}); }

  [[nodiscard]] sim::SimulationResult run(const sim::SimulationOptions& options = {}) const;
  [[nodiscard]] sim::SimulationResult run(Communicator& comm, const sim::SimulationOptions& options) const;
  /// What() of the InfeasibleError or InputError that running it throws; empty when it throws none.
  [[nodiscard]] std::string refusal(const sim::SimulationOptions& options = {}) const;

  machine::Machine machine;
  program::Program program;
};

[[nodiscard]] program::Collective collective(program::CollectiveKind kind, std::int64_t bytes,
                                             const std::string& algorithm, std::uint32_t group_slot = 0);
/// Times, bytes and memory of every device and link, and of every instruction.
void check_same(const results::RunResults& is, const results::RunResults& was);
/// With a timeline and all changes of memory.
[[nodiscard]] sim::SimulationResult run_recorded(const ProgramCase& made, sim::Laws laws);
/// Checks that all laws give the rows of no laws but trains; whether they took fewer events.
bool check_same_as_steps(const ProgramCase& made);
[[nodiscard]] Time time_of(const results::DeviceRow& row, program::Activity activity);

}  // namespace tessera::test
