#include "tessera/sim/simulate.hpp"

#include <algorithm>
#include <deque>

#include "deadlock.hpp"
#include "model.hpp"
#include "refuse.hpp"
#include "sim/execution/combined_blocks.hpp"
#include "sim/execution/device.hpp"
#include "sim/execution/repeats.hpp"
#include "sim/periods/periods.hpp"
#include "tessera/program/collective.hpp"

namespace tessera::sim {
namespace {

/// The components of one rank and what they share.
class RankSimulation {
 public:
  RankSimulation(const machine::Machine& machine, const program::Program& program, const workload::CostModel& cost,
                 Communicator& comm, const SimulationOptions& options)
      : machine_(machine),
        program_(program),
        comm_(comm),
        lowerings_(program, machine),
        network_(machine, lowerings_),
        facts_(program),
        combined_(program),
        costs_(program, machine, cost) {
    environment_.machine = &machine;
    environment_.program = &program;
    environment_.facts = &facts_;
    environment_.network = {&network_.tables, &network_.wiring, nullptr, &combined_, &machine};
    environment_.network.counts = &counts_;
    environment_.costs = &costs_;
    environment_.lowerings = &lowerings_;
    environment_.collectives = &collectives_;
    environment_.step = &step_;
    parts_.nodes.assign(network_.tables.components(), nullptr);
    parts_.members.assign(network_.tables.components(), nullptr);
    if (options.laws == Laws::none) network_.tables.separate_packets();
    if (options.laws == Laws::all || options.laws == Laws::rings) {
      const auto addition = [this](program::DeviceId device, std::int64_t bytes) {
        return costs_.at_speed(machine_.speed[device]).reduction(bytes);
      };
      rings_ = std::make_unique<RingLaws>(network_.tables, lowerings_, parts_, addition);
      environment_.rings = rings_.get();
      environment_.network.reservations = rings_.get();
    }
    environment_.record_timeline = options.record_timeline;
    environment_.record_memory = options.record_memory;
    environment_.traffic_interval = options.traffic_interval;
    if (!options.allow_oversubscription) environment_.memory_limit = machine.device.memory_capacity.value();
    model_ = partition_model(machine, program, network_, comm.size(), options.partition,
                             [this](pdes::ComponentId id) { return create(id); });
    if (comm.size() > 1) {
      transits_ = find_transits(network_.tables, network_.wiring, model_.partition);
      distances_ = std::make_unique<Distances>(lowerings_, network_.tables, transits_, model_.partition, costs_);
      environment_.distances = distances_.get();
      foresight_ = std::make_unique<RankForesight>(program, transits_, model_.partition, comm.rank());
      environment_.foresight = foresight_.get();
      if (passes_on()) environment_.network.forwarded = &foresight_->passing();
      model_.graph.foresight = foresight_.get();
    }
    simulation_ = std::make_unique<pdes::Simulation>(model_.graph, model_.partition, comm);
    if (may_skip(options)) environment_.turn.device = Periods::device_of(program, facts_);
    if (foresight_) watch();
  }

  pdes::RunStatistics run(pdes::RunOptions options) {
    Periods periods({&network_.tables, &devices_, &outputs_, &parts_.nodes, &collectives_, rings_.get()});
    options.pause = [&](pdes::Pause& pause) {
      environment_.turn.is_new = false;
      periods.look(pause, environment_.turn);
    };
    pdes::RunStatistics statistics = simulation_->run(options);
    finish(options);
    return statistics;
  }

  /// What comes after the run of simulation().
  void finish(const pdes::RunOptions& options) {
    if (rings_) rings_->finish();
    std::vector<DeviceWaits> waits;
    for (const Device* device : devices_) {
      if (auto texts = device->waits(); !texts.empty()) waits.push_back({device->id(), std::move(texts)});
    }
    if (options.end == never) refuse_deadlock(waits, comm_);
  }

  [[nodiscard]] pdes::Simulation& simulation() { return *simulation_; }

  [[nodiscard]] Time finished() const {
    Time last = 0;
    for (const Device* device : devices_) last = std::max(last, device->finished());
    return last;
  }

  [[nodiscard]] WorkDone work_done() const {
    WorkDone done;
    for (const Device* device : devices_) {
      ++done.devices;
      done.flops += static_cast<double>(device->flops());
      done.bytes_sent += static_cast<double>(device->bytes_sent());
    }
    return done;
  }

  /// Whether what devices hold at most depends on how their streams meet.
  [[nodiscard]] bool shares_memory() const {
    return std::ranges::any_of(program_.devices, [this](const auto& one) { return facts_.shares_memory(one); });
  }

  [[nodiscard]] results::RunResults results() {
    results::RunResults results = names();
    results.iteration_time = comm_.max(finished());
    results.interval = interval_of(records_, comm_);
    for (Device* device : devices_) {
      device->collect(results.iteration_time, results);
      add_links(device->node(), results);
    }
    for (SwitchOutput* output : outputs_) add_links(output->node(), results);
    std::sort(results.link_rows.begin(), results.link_rows.end(),
              [](const auto& a, const auto& b) { return a.link < b.link; });
    results.collective_rows = collectives_.rows();
    return results;
  }

  /// Behind results(): links are finished then.
  [[nodiscard]] std::vector<results::NamedCount> events() const {
    const auto count = [this](std::uint16_t kind) { return counts_[kind]; };
    std::int64_t alone = 0;
    for (Device* device : devices_) alone += packets_alone(device->node());
    for (SwitchOutput* output : outputs_) alone += packets_alone(output->node());
    return {{"segments", count(NetworkProtocol::kind_of<Segment>)},
            {"deliveries", count(NetworkProtocol::kind_of<Delivered>)},
            {"amendments", count(NetworkProtocol::kind_of<Amend>)},
            {"calls of links", count(NetworkProtocol::kind_of<PortWake>)},
            {"calls of streams", count(NetworkProtocol::kind_of<StreamWake>)},
            {"calls of kernels", count(NetworkProtocol::kind_of<GpuCall>)},
            {"packets served alone", alone}};
  }

 private:
  static std::int64_t packets_alone(const NetworkNode& node) {
    std::int64_t alone = 0;
    for (const OutputPort& port : node.ports()) alone += port.counts().alone;
    return alone;
  }

  /// Whether nothing is recorded of what would be left out.
  [[nodiscard]] bool may_skip(const SimulationOptions& options) const {
    return options.laws == Laws::all && comm_.size() == 1 && options.run.end == never && !options.record_timeline &&
           !options.record_memory && options.traffic_interval == 0;
  }

  /// Whether this rank has a transit.
  [[nodiscard]] bool passes_on() const {
    const auto& rank_of = model_.partition.rank_of;
    for (pdes::ComponentId id = 0; id < transits_.size(); ++id) {
      if (transits_[id] && rank_of[id] == comm_.rank()) return true;
    }
    return false;
  }

  void watch() {
    std::vector<const NetworkNode*> outputs;
    for (SwitchOutput* output : outputs_) {
      const machine::LinkId link = output->node().ports().front().link();
      if (transits_[network_.tables.server(link)]) outputs.push_back(&output->node());
    }
    foresight_->watch({devices_.begin(), devices_.end()}, std::move(outputs));
  }

  std::unique_ptr<pdes::Component> create(pdes::ComponentId id) {
    if (network_.tables.is_device(id)) {
      auto device = std::make_unique<Device>(environment_, records_.emplace_back(), id);
      devices_.push_back(device.get());
      parts_.nodes[id] = &device->node();
      parts_.members[id] = &device->ring_member();
      return device;
    }
    auto output = std::make_unique<SwitchOutput>(environment_.network, id);
    outputs_.push_back(output.get());
    parts_.nodes[id] = &output->node();
    return output;
  }

  [[nodiscard]] results::RunResults names() const {
    results::RunResults results;
    results.machine = machine_.name;
    results.memory_capacity = machine_.device.memory_capacity.value();
    results.devices = std::count_if(program_.devices.begin(), program_.devices.end(),
                                    [](const program::DeviceProgram& device) { return !device.streams.empty(); });
    for (std::size_t i = 0; i < program::activities_of(program_); ++i)
      results.activities.push_back(program::name_of(program_, static_cast<program::Activity>(i)));
    for (std::size_t i = 0; i < program::categories_of(program_); ++i)
      results.categories.push_back(program::name_of(program_, static_cast<program::MemoryCategory>(i)));
    for (const auto kind : {program::CollectiveKind::all_reduce, program::CollectiveKind::reduce_scatter,
                            program::CollectiveKind::all_gather, program::CollectiveKind::all_to_all,
                            program::CollectiveKind::broadcast}) {
      results.collective_kinds.emplace_back(program::name_of(kind));
    }
    for (const auto& algorithm : program::collective_algorithms()) results.algorithms.push_back(algorithm->name());
    for (int i = 0; i < traffic_class_count; ++i)
      results.traffic_classes.emplace_back(name_of(static_cast<TrafficClass>(i)));
    results.link_classes = machine_.network.link_classes;
    results.labels = program_.labels;
    for (machine::NodeId node = 0; comm_.rank() == 0 && node < machine_.network.nodes(); ++node) {
      results.node_names.push_back(machine_.node_name(node));
    }
    return results;
  }

  void add_links(NetworkNode& node, results::RunResults& results) const {
    node.finish();
    for (const OutputPort& port : node.ports()) {
      const machine::Link& link = machine_.network.links[port.link()];
      if (link.dead) continue;
      const LinkCounts& counts = port.counts();
      results.link_rows.push_back({port.link(), link.from, link.to, link.link_class, link.bandwidth.value(),
                                   counts.bytes, counts.messages, counts.busy, counts.peak_queue});
    }
  }

  const machine::Machine& machine_;
  const program::Program& program_;
  Communicator& comm_;
  program::Lowerings lowerings_;
  NetworkModel network_;
  ProgramFacts facts_;
  CombinedBlocks combined_;
  CostTables costs_;
  CollectiveAccount collectives_;
  program::Step step_;
  RankParts parts_;
  std::unique_ptr<RingLaws> rings_;  // null: none are taken
  EventCounts counts_{};
  ExecutionEnvironment environment_;
  std::deque<DeviceRecord> records_;  // a device each
  std::vector<Device*> devices_;
  std::vector<SwitchOutput*> outputs_;
  PartitionedModel model_;
  std::vector<bool> transits_;  // by component; on several ranks
  std::unique_ptr<Distances> distances_;
  std::unique_ptr<RankForesight> foresight_;
  std::unique_ptr<pdes::Simulation> simulation_;
};

}  // namespace

SimulationResult simulate(const machine::Machine& machine, const program::Program& program,
                          const workload::CostModel& cost, Communicator& comm, const SimulationOptions& options) {
  SimulationResult result;
  if (!options.is_checked) result.warnings = refuse(machine, program, cost, options.allow_oversubscription);
  RankSimulation simulation(machine, program, cost, comm, options);
  pdes::RunOptions run = options.run;
  if (options.progress) {
    run.progress = [&](const pdes::ProgressReport& report) { options.progress(report, simulation.work_done()); };
  }
  result.statistics = simulation.run(run);
  result.results = simulation.results();
  result.events = simulation.events();
  if (simulation.shares_memory() && options.allow_oversubscription) {
    auto held = warn_of_held(machine, program, result.results, comm);
    if (!held.empty()) result.warnings = std::move(held);
  }
  return result;
}

SideBySide simulate_side_by_side(const machine::Machine& machine, const program::Program& program,
                                 const workload::CostModel& cost, int ranks, const SimulationOptions& options,
                                 const std::function<void(const pdes::Window&)>& each) {
  static_cast<void>(refuse(machine, program, cost, options.allow_oversubscription));
  std::vector<std::unique_ptr<Communicator>> comms;
  std::vector<std::unique_ptr<RankSimulation>> all;
  std::vector<pdes::Simulation*> simulations;
  for (int rank = 0; rank < ranks; ++rank) {
    comms.push_back(pdes::make_virtual_rank(rank, ranks));
    all.push_back(std::make_unique<RankSimulation>(machine, program, cost, *comms.back(), options));
    simulations.push_back(&all.back()->simulation());
  }
  SideBySide result{pdes::SideBySide(simulations).run(options.run, each), 0};
  for (const auto& rank : all) {
    rank->finish(options.run);
    result.iteration_time = std::max(result.iteration_time, rank->finished());
  }
  return result;
}

void refuse_ranks(const machine::Machine& machine, int ranks, const std::string& partition) {
  program::Program nothing;
  nothing.devices.resize(machine.devices());
  program::Lowerings lowerings(nothing, machine);
  const NetworkModel network(machine, lowerings);
  const CreateComponent none = [](pdes::ComponentId) { return nullptr; };  // nothing is run
  static_cast<void>(partition_model(machine, nothing, network, ranks, partition, none));
}

std::vector<std::string> check(const machine::Machine& machine, const program::Program& program,
                               const workload::CostModel& cost, int ranks, const SimulationOptions& options) {
  std::vector<std::string> warnings = refuse(machine, program, cost, options.allow_oversubscription);
  program::Lowerings lowerings(program, machine);
  const NetworkModel network(machine, lowerings);
  const CreateComponent none = [](pdes::ComponentId) { return nullptr; };  // nothing is run
  static_cast<void>(partition_model(machine, program, network, ranks, options.partition, none));
  return warnings;
}

}  // namespace tessera::sim
