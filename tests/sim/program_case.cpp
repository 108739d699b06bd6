#include "program_case.hpp"

#include <catch2/catch.hpp>

#include "tessera/base/error.hpp"

namespace tessera::test {

machine::Machine machine_of(machine::Network network) {
  machine::Machine machine;
  machine.name = "by hand";
  machine.topology = "by hand";
  machine.device.name = "gpu";
  machine.device.peak["fp16"] = FlopPerSecond{1'000'000'000'000};
  machine.device.memory_bandwidth = BytesPerSecond{1'000'000'000'000};
  machine.device.memory_capacity = Bytes{1'000'000};
  machine.network = std::move(network);
  machine.speed.assign(machine.devices(), 1.0);
  for (machine::NodeId i = 0; i < machine.devices(); ++i) machine.places.push_back({0, static_cast<int>(i), 0});
  machine.devices_per_node = static_cast<int>(machine.devices());
  return machine;
}

machine::Machine connected_machine(machine::NodeId devices) {
  machine::NetworkBuilder builder(devices);
  const std::uint16_t type = builder.link_class("wire");
  for (machine::NodeId from = 0; from < devices; ++from) {
    for (machine::NodeId to = 0; to < devices; ++to) {
      if (from != to) builder.add_link(from, to, BytesPerSecond{second / byte_time}, Duration{wire_latency}, type);
    }
  }
  return machine_of(finish_network(builder, packet_bytes));
}

machine::ClusterShape small_cluster(machine::NodeId nodes, machine::NodeId gpus_per_node) {
  machine::ClusterShape shape;
  shape.nodes = nodes;
  shape.gpus_per_node = shape.nics_per_node = gpus_per_node;
  shape.nvlink_bandwidth = BytesPerSecond{4'000'000'000};
  shape.nvlink_latency = Duration{400};
  shape.nic_bandwidth = BytesPerSecond{1'000'000'000};
  shape.nic_latency = Duration{3001};
  shape.pcie_bandwidth = BytesPerSecond{2'000'000'000};
  shape.pcie_latency = Duration{1000};
  return shape;
}

workload::Operator work(Time picoseconds) {
  workload::Operator op;
  op.kind = workload::OperatorKind::gemm;
  op.name = "work";
  op.flops = picoseconds;
  return op;
}

void ProgramCase::bind(program::DeviceId device, std::vector<program::BlockId> streams, std::uint32_t events) {
  program::DeviceProgram& bound = program.devices[device];
  bound.streams = std::move(streams);
  bound.events = events;
  for (program::DeviceId peer = 0; peer < machine.devices(); ++peer) bound.peers.push_back(peer);
  for (program::GroupId id = 0; id < program.groups.size(); ++id) {
    const auto& members = program.groups[id].members;
    const bool member = std::find(members.begin(), members.end(), device) != members.end();
    bound.groups.push_back(member ? id : program::no_group);
  }
}

sim::SimulationResult ProgramCase::run(Communicator& comm, const sim::SimulationOptions& options) const {
  return sim::simulate(machine, program, PicosecondPerFlop{}, comm, options);
}

sim::SimulationResult ProgramCase::run(const sim::SimulationOptions& options) const {
  const auto comm = make_serial_communicator();
  return run(*comm, options);
}

std::string ProgramCase::refusal(const sim::SimulationOptions& options) const {
  try {
    static_cast<void>(run(options));
  } catch (const InfeasibleError& error) {
    return error.what();
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

program::Collective collective(program::CollectiveKind kind, std::int64_t bytes, const std::string& algorithm,
                               std::uint32_t group_slot) {
  program::Collective made;
  made.kind = kind;
  made.bytes = Bytes{bytes};
  made.element = Bytes{1};
  made.group_slot = group_slot;
  made.algorithm = program::algorithm_index(algorithm);
  return made;
}

Time time_of(const results::DeviceRow& row, program::Activity activity) {
  return row.activity[static_cast<std::size_t>(activity)];
}

void check_same(const results::RunResults& is, const results::RunResults& was) {
  CHECK(is.iteration_time == was.iteration_time);
  CHECK(is.device_rows == was.device_rows);
  CHECK(is.memory_rows == was.memory_rows);
  CHECK(is.collective_rows == was.collective_rows);
  CHECK(is.kernel_rows == was.kernel_rows);
  CHECK(is.traffic_rows == was.traffic_rows);
  CHECK(is.traffic_bins == was.traffic_bins);
  CHECK(is.link_rows == was.link_rows);
  CHECK(is.intervals.rows() == was.intervals.rows());
  CHECK(is.memory_changes == was.memory_changes);
}

sim::SimulationResult run_recorded(const ProgramCase& made, sim::Laws laws) {
  sim::SimulationOptions options;
  options.laws = laws;
  options.record_timeline = options.record_memory = true;
  return made.run(options);
}

bool check_same_as_steps(const ProgramCase& made) {
  const sim::SimulationResult laws = run_recorded(made, sim::Laws::all), steps = run_recorded(made, sim::Laws::trains);
  check_same(laws.results, steps.results);
  return laws.statistics.events < steps.statistics.events;
}

}  // namespace tessera::test
