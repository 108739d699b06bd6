#include "sim/run/rank_simulation.hpp"

#include <algorithm>

#include "sim/laws/law.hpp"
#include "sim/laws/rounds/repeated_rounds.hpp"
#include "sim/laws/trains/settle.hpp"
#include "sim/network/packet_port.hpp"
#include "sim/run/deadlock.hpp"
#include "sim/run/part_names.hpp"
#include "sim/run/repeats.hpp"
#include "tessera/base/error.hpp"
#include "tessera/program/collective.hpp"

namespace tessera::sim {

RankSimulation::RankSimulation(const machine::Machine& machine, const program::Program& program,
                               const workload::CostModel& cost, Communicator& comm, const SimulationOptions& options,
                               const FoldedPart& part)
    : machine_(machine),
      program_(program),
      comm_(comm),
      fold_(part.fold),
      lowerings_(program, machine),
      network_(fold_ == nullptr ? NetworkModel(machine, lowerings_) : NetworkModel(machine, lowerings_, *fold_)),
      facts_(program),
      combined_(program),
      costs_(program, machine, cost) {
  environment_.network.sent = part.witness;
  environment_.network.arrivals = part.ties;
  set_environment(options);
  const CreateComponent make = [this](pdes::ComponentId id) { return create(id); };
  model_ = fold_ == nullptr ? partition_model(machine, program, network_, comm.size(), options.partition, make)
                            : simulated_model(machine, network_, *fold_, make);
  if (comm.size() > 1 && options.laws.has(Law::promises) && program.memory_packet == 0) add_foresight();
  simulation_ = std::make_unique<pdes::Simulation>(model_.graph, model_.partition, comm);
  model_.graph = {};  // the engine has its own
  if (foresight_) watch();
}

RankSimulation::~RankSimulation() = default;

void RankSimulation::set_environment(const SimulationOptions& options) {
  environment_.machine = &machine_;
  environment_.program = &program_;
  environment_.facts = &facts_;
  NetworkEnvironment& network = environment_.network;
  network.tables = &network_.tables;
  network.wiring = &network_.wiring;
  if (!program_.kernels.empty()) network.combinations = &combined_;
  network.machine = &machine_;
  network.counts = &counts_;
  network.stand_in = fold_;
  environment_.costs = &costs_;
  environment_.lowerings = &lowerings_;
  environment_.step = &step_;
  parts_.nodes.assign(network_.tables.components(), nullptr);
  parts_.members.assign(network_.tables.components(), nullptr);
  device_at_.assign(machine_.devices(), nullptr);
  const LawCase made{machine_, program_, facts_, options, comm_.size()};
  const auto is_used = [&](const LawKind& law) { return why_not(law, made).empty(); };
  environment_.takes_memory_rounds = is_used(trains_law());
  network.make_port = is_used(trains_law()) ? train_ports() : packet_ports(machine_.network.arbitration);
  if (is_used(rings_law())) add_ring_laws();
  leaves_out_rounds_ = is_used(rounds_law());
  environment_.record_timeline = options.record_timeline;
  environment_.record_memory = options.record_memory;
  environment_.traffic_interval = options.traffic_interval;
  environment_.limits_memory = !options.allow_oversubscription;
}

void RankSimulation::add_ring_laws() {
  const auto addition = [this](program::DeviceId device, std::int64_t bytes) {
    return costs_.at_speed(machine_.speed[device]).reduction(bytes);
  };
  rings_ =
      std::make_unique<RingLaws>(network_.tables, lowerings_, parts_, fold_, environment_.network.arrivals, addition);
  environment_.takeover = rings_.get();
  environment_.network.reservations = rings_.get();
}

void RankSimulation::add_foresight() {
  transits_ = find_transits(network_.tables, network_.wiring, model_.partition);
  distances_ = std::make_unique<Distances>(lowerings_, network_.tables, transits_, model_.partition, costs_);
  foresight_ = std::make_unique<RankForesight>(program_, transits_, model_.partition, comm_.rank());
  environment_.promises = foresight_.get();
  if (passes_on()) environment_.network.forwarded = &foresight_->passing();
  model_.graph.foresight = foresight_.get();
}

void RankSimulation::run(const SimulationOptions& options, SimulationResult& result) {
  pdes::RunOptions run_options = options.run;
  if (options.progress)
    run_options.progress = [&](const pdes::ProgressReport& report) { options.progress(report, work_done()); };
  result.statistics = run(run_options);
  if (result.statistics.cut_off) {
    result.results.iteration_time = comm_.max(finished());
    return;
  }
  result.results = results();
  result.events = events();
}

pdes::RunStatistics RankSimulation::run(pdes::RunOptions options) {
  pdes::RunStatistics statistics = run_with_rounds(options);
  if (!statistics.cut_off) finish(options);
  return statistics;
}

pdes::RunStatistics RankSimulation::run_before(Time end, pdes::RunOptions options) {
  options.end = end;
  return run_with_rounds(options);
}

pdes::RunStatistics RankSimulation::run_with_rounds(pdes::RunOptions options) {
  if (leaves_out_rounds_ && rounds_ == nullptr) add_rounds();
  if (rounds_ != nullptr) options.pause = [&](pdes::Pause& pause) { rounds_->look(pause); };
  return simulation_->run(options);
}

void RankSimulation::add_rounds() {
  std::vector<program::DeviceId> in_loops = RepeatedRounds::in_loops(program_, facts_);
  if (fold_ != nullptr) {
    for (program::DeviceId& device : in_loops) device = fold_->place(device).of;
  }
  rounds_ =
      std::make_unique<RepeatedRounds>(RoundsParts{&network_.tables, &devices_, &device_at_, &outputs_, &parts_.nodes,
                                                   rings_.get(), simulation_.get(), &environment_, fold_ == nullptr},
                                       std::move(in_loops));
}

void RankSimulation::finish(const pdes::RunOptions& options) {
  if (rings_) rings_->finish();
  std::vector<DeviceWaits> waits;
  for (const Device* device : devices_) {
    if (auto texts = device->waits(); !texts.empty()) waits.push_back({device->id(), std::move(texts)});
  }
  if (options.end == never) refuse_deadlock(waits, comm_);
}

Time RankSimulation::finished() const {
  Time last = 0;
  for (const Device* device : devices_) last = std::max(last, device->finished());
  return last;
}

bool RankSimulation::rounds_left_out() const { return rounds_ != nullptr && rounds_->has_left_out(); }

WorkDone RankSimulation::work_done() const {
  WorkDone done;
  for (const Device* device : devices_) {
    ++done.devices;
    done.flops += static_cast<double>(device->flops());
    done.bytes_sent += static_cast<double>(device->bytes_sent());
  }
  return done;
}

// Rows that grow would be there twice for a moment.
void RankSimulation::make_room(results::RunResults& results) const {
  std::size_t links = 0, devices = 0;
  for (const Device* device : devices_) {
    links += device->ports().size();
    devices += program_.devices[device->id()].streams.empty() ? 0 : 1;
  }
  results.link_rows.reserve(links + outputs_.size());
  results.device_rows.reserve(devices);
  results.memory_rows.reserve(devices * results.categories.size());
}

results::RunResults RankSimulation::results() {
  results::RunResults results = names();
  results.iteration_time = comm_.max(finished());
  results.interval = interval_of(records_, comm_);
  results.phases = phases_of(program_, records_, comm_);
  make_room(results);
  for (Device* device : devices_) {
    device->collect(results.iteration_time, results);
    add_links(device->node(), results);
  }
  for (SwitchOutput* output : outputs_) add_links(output->node(), results);
  std::sort(results.link_rows.begin(), results.link_rows.end(),
            [](const auto& a, const auto& b) { return a.link < b.link; });
  CollectiveAccount collectives;
  for (const Device* device : devices_) collectives.add(device->view().state.collectives);
  if (fold_ != nullptr) collectives.repeat(fold_->order());
  results.collective_rows = collectives.rows();
  return results;
}

namespace {

std::int64_t packets_alone(const NetworkNode& node) {
  std::int64_t alone = 0;
  for (const auto& port : node.ports()) alone += port->counts().alone;
  return alone;
}

}  // namespace

std::vector<results::NamedCount> RankSimulation::events() const {
  const auto count = [this](std::uint16_t kind) { return counts_[kind]; };
  std::int64_t alone = 0;
  for (Device* device : devices_) alone += packets_alone(device->node());
  for (SwitchOutput* output : outputs_) alone += packets_alone(output->node());
  return {{"segments", count(NetworkProtocol::kind_of<Segment>) + count(NetworkProtocol::kind_of<Segments>)},
          {"deliveries", count(NetworkProtocol::kind_of<Delivered>)},
          {"amendments", count(NetworkProtocol::kind_of<Amend>)},
          {"calls of links", count(NetworkProtocol::kind_of<PortWake>)},
          {"calls of streams", count(NetworkProtocol::kind_of<StreamWake>)},
          {"calls of memories", count(NetworkProtocol::kind_of<MemoryWake>)},
          {"calls of kernels", count(NetworkProtocol::kind_of<GpuCall>)},
          {"packets served alone", alone}};
}

// Whether this rank has a transit.
bool RankSimulation::passes_on() const {
  const auto& rank_of = model_.partition.rank_of;
  for (pdes::ComponentId id = 0; id < transits_.size(); ++id) {
    if (transits_[id] && rank_of[id] == comm_.rank()) return true;
  }
  return false;
}

void RankSimulation::watch() {
  std::vector<const NetworkNode*> outputs;
  for (SwitchOutput* output : outputs_) {
    const machine::LinkId link = output->node().ports().front()->link();
    if (transits_[network_.tables.server(link)]) outputs.push_back(&output->node());
  }
  foresight_->watch(devices_, machine_, *distances_, std::move(outputs));
}

std::unique_ptr<pdes::Component> RankSimulation::create(pdes::ComponentId id) {
  if (network_.tables.is_device(id)) {
    auto device = std::make_unique<Device>(environment_, records_.emplace_back(), id);
    devices_.push_back(device.get());
    device_at_[id] = device.get();
    parts_.nodes[id] = &device->node();
    parts_.members[id] = &device->taken_member();
    return device;
  }
  auto output = std::make_unique<SwitchOutput>(environment_.network, id);
  outputs_.push_back(output.get());
  parts_.nodes[id] = &output->node();
  return output;
}

results::RunResults RankSimulation::names() const {
  results::RunResults results;
  results.machine = machine_.name;
  results.memory_capacity = machine_.device.memory_capacity.value();
  results.memory_reserve = machine_.device.memory_reserve.value();
  const auto hosts = static_cast<std::ptrdiff_t>(machine_.hosts());
  results.devices = std::count_if(program_.devices.begin(), program_.devices.end() - hosts,
                                  [](const program::DeviceProgram& device) { return !device.streams.empty(); });
  for (std::size_t i = 0; i < program::activities_of(program_); ++i)
    results.activities.push_back(program::name_of(program_, static_cast<program::Activity>(i)));
  for (std::size_t i = 0; i < program::categories_of(program_); ++i)
    results.categories.push_back(program::name_of(program_, static_cast<program::MemoryCategory>(i)));
  for (const auto kind :
       {program::CollectiveKind::all_reduce, program::CollectiveKind::reduce_scatter,
        program::CollectiveKind::all_gather, program::CollectiveKind::all_to_all, program::CollectiveKind::broadcast}) {
    results.collective_kinds.emplace_back(program::name_of(kind));
  }
  for (const auto& algorithm : program::algorithms_of(program_)) results.algorithms.push_back(algorithm->name());
  for (int i = 0; i < traffic_class_count; ++i)
    results.traffic_classes.emplace_back(name_of(static_cast<TrafficClass>(i)));
  for (const std::string& phase : program_.phases) results.phases.push_back({phase, 0});
  results.link_classes = machine_.network.link_classes;
  results.labels = program_.labels;
  for (machine::NodeId node = 0; comm_.rank() == 0 && node < machine_.network.nodes(); ++node) {
    results.node_names.push_back(machine_.node_name(node));
  }
  if (environment_.record_timeline && comm_.rank() == 0) name_parts(machine_, program_, results);
  return results;
}

void RankSimulation::add_links(NetworkNode& node, results::RunResults& results) const {
  node.finish();
  for (const auto& port : node.ports()) {
    const machine::Link& link = machine_.network.links[port->link()];
    if (link.dead) continue;
    const LinkCounts& counts = port->counts();
    results.link_rows.push_back({port->link(), link.from, link.to, link.link_class, link.bandwidth.value(),
                                 counts.bytes, counts.messages, counts.busy, counts.peak_queue});
  }
}

}  // namespace tessera::sim
