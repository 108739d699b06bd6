// Devices and switch outputs are saved between events, and newborn ones go on from that: nothing that matters stands
// outside of their states.
#include <catch2/catch.hpp>

#include <deque>

#include "busy_program.hpp"
#include "gpu_shapes.hpp"
#include "random_rings.hpp"
#include "shared_memory_case.hpp"
#include "sim/execution/device.hpp"
#include "sim/laws/trains/train_port.hpp"
#include "sim/network/packet_port.hpp"
#include "sim/run/combined_blocks.hpp"
#include "sim/run/model.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

/// What both kinds of component share: every `interval`-th event is handled by a newborn one.
class Rebirths {
 public:
  explicit Rebirths(std::uint64_t interval) : interval_(interval) {}
  [[nodiscard]] bool is_due() {
    if (++events_ % interval_ != 0) return false;
    ++rebirths_;
    return true;
  }
  [[nodiscard]] std::uint64_t count() const { return rebirths_; }

 private:
  std::uint64_t interval_;
  std::uint64_t events_ = 0;
  std::uint64_t rebirths_ = 0;
};

class RebornDevice final : public pdes::Component {
 public:
  RebornDevice(sim::ExecutionEnvironment& environment, Rebirths& rebirths, program::DeviceId id)
      : environment_(environment), rebirths_(rebirths), id_(id) {
    device_ = std::make_unique<sim::Device>(environment_, record_, id_);
  }
  void start(pdes::Context& context) override { device_->start(context); }
  void handle(pdes::Context& context, const pdes::Event& event) override {
    if (rebirths_.is_due()) {
      auto next = std::make_unique<sim::Device>(environment_, record_, id_);
      next->restore(device_->save());
      device_ = std::move(next);
    }
    device_->handle(context, event);
  }
  [[nodiscard]] sim::Device& device() { return *device_; }

 private:
  sim::ExecutionEnvironment& environment_;
  Rebirths& rebirths_;
  program::DeviceId id_;
  sim::OwnRecord record_;
  std::unique_ptr<sim::Device> device_;
};

class RebornOutput final : public pdes::Component {
 public:
  RebornOutput(const sim::NetworkEnvironment& environment, Rebirths& rebirths, pdes::ComponentId id)
      : environment_(environment), rebirths_(rebirths), id_(id) {
    output_ = std::make_unique<sim::SwitchOutput>(environment_, id_);
  }
  [[nodiscard]] sim::NetworkNode& node() { return output_->node(); }
  void handle(pdes::Context& context, const pdes::Event& event) override {
    if (rebirths_.is_due()) {
      auto next = std::make_unique<sim::SwitchOutput>(environment_, id_);
      next->node().restore(output_->node().state());
      output_ = std::move(next);
    }
    output_->handle(context, event);
  }

 private:
  const sim::NetworkEnvironment& environment_;
  Rebirths& rebirths_;
  pdes::ComponentId id_;
  std::unique_ptr<sim::SwitchOutput> output_;
};

struct RebornRun {
  results::RunResults results;
  std::uint64_t events = 0;
  std::uint64_t rebirths = 0;
};

constexpr Time traffic_interval = 100 * nanosecond;

void add_links(sim::NetworkNode& node, const machine::Machine& machine, results::RunResults& results) {
  node.finish();
  for (const auto& port : node.ports()) {
    const machine::Link& link = machine.network.links[port->link()];
    const sim::LinkCounts& counts = port->counts();
    results.link_rows.push_back({port->link(), link.from, link.to, link.link_class, link.bandwidth.value(),
                                 counts.bytes, counts.messages, counts.busy, counts.peak_queue});
  }
}

/// One rank's simulation, as simulate() sets it up, of components that are born again.
RebornRun run_reborn(const ProgramCase& made, std::uint64_t interval, sim::Laws laws, const sim::MakePort& make_port) {
  program::Lowerings lowerings(made.program, made.machine);
  const sim::NetworkModel network(made.machine, lowerings);
  const sim::ProgramFacts facts(made.program);
  const sim::CombinedBlocks combined(made.program);
  const PicosecondPerFlop cost;
  sim::CostTables costs(made.program, made.machine, cost);
  program::Step step;
  sim::ExecutionEnvironment environment;
  environment.machine = &made.machine;
  environment.program = &made.program;
  environment.facts = &facts;
  environment.network = {
      &network.tables, &network.wiring, make_port, nullptr, made.program.kernels.empty() ? nullptr : &combined,
      &made.machine};
  environment.costs = &costs;
  environment.lowerings = &lowerings;
  environment.step = &step;
  environment.takes_memory_rounds = laws.has(sim::Law::trains);
  environment.record_timeline = environment.record_memory = true;
  environment.traffic_interval = traffic_interval;

  Rebirths rebirths(interval);
  std::vector<RebornDevice*> devices;
  std::vector<RebornOutput*> outputs;
  const sim::CreateComponent create = [&](pdes::ComponentId id) -> std::unique_ptr<pdes::Component> {
    if (!network.tables.is_device(id)) {
      auto output = std::make_unique<RebornOutput>(environment.network, rebirths, id);
      outputs.push_back(output.get());
      return output;
    }
    auto device = std::make_unique<RebornDevice>(environment, rebirths, id);
    devices.push_back(device.get());
    return device;
  };
  const auto comm = make_serial_communicator();
  const sim::PartitionedModel model = sim::partition_model(made.machine, made.program, network, 1, "auto", create);
  pdes::Simulation simulation(model.graph, model.partition, *comm);
  RebornRun run;
  run.events = simulation.run({}).events;
  for (RebornDevice* device : devices)
    run.results.iteration_time = std::max(run.results.iteration_time, device->device().finished());
  for (RebornDevice* device : devices) device->device().collect(run.results.iteration_time, run.results);
  for (RebornDevice* device : devices) add_links(device->device().node(), made.machine, run.results);
  for (RebornOutput* output : outputs) add_links(output->node(), made.machine, run.results);
  sim::CollectiveAccount collectives;
  for (RebornDevice* device : devices) collectives.add(device->device().view().state.collectives);
  run.results.collective_rows = collectives.rows();
  run.rebirths = rebirths.count();
  return run;
}

/// Times, bytes and memory of every device, and of every instruction.
void check_reborn(const ProgramCase& made, std::uint64_t interval, sim::Laws laws, const sim::MakePort& make_port) {
  sim::SimulationOptions options;
  options.record_timeline = options.record_memory = true;
  options.traffic_interval = traffic_interval;
  options.laws = laws;
  const sim::SimulationResult plain = made.run(options);
  const RebornRun reborn = run_reborn(made, interval, laws, make_port);
  CHECK(reborn.events == plain.statistics.events);
  CHECK(reborn.rebirths == reborn.events / interval);
  check_same(reborn.results, plain.results);
}

/// With both kinds of ports; rings without steps are kept for a whole rank.
void check_reborn(const ProgramCase& made, std::uint64_t interval) {
  check_reborn(made, interval, sim::Laws::trains, sim::train_ports());
  check_reborn(made, interval, sim::Laws::none, sim::packet_ports("fifo"));
}

}  // namespace

TEST_CASE("saved states: a program with everything in it, each event handled by a newborn device") {
  check_reborn(busy_program(2, 3), 1);
}

TEST_CASE("saved states: operators and messages that share the memory, each event handled by a newborn device") {
  for (std::uint64_t index = 0; index < 3; ++index)
    check_reborn(sharing_memory(index, random_rings(900'000 + index)), 1);
}

TEST_CASE("saved states: kernels that share tiles, that copy, and that add by atomics") {
  ProgramCase made(4);
  made.machine.device.transaction = gpu();
  made.group({0, 1, 2, 3});
  program::Kernel atomics = kernel(gemm(512, 256, 32), "ring-reduce-scatter");
  std::get<program::GemmKernel>(atomics.work).reduction = program::Reduction::atomics;
  program::CopyKernel copy;
  copy.kind = program::CopyKind::all_gather;
  copy.bytes = 4 * 8192;
  program::Kernel first = kernel(gemm(512, 256, 32), "ring-reduce-scatter");
  std::get<program::GemmKernel>(first.work).arbitration = "mca";
  for (machine::NodeId device = 0; device < 4; ++device) {
    const auto main = made.block()
                          .compute(work(1000 * (device + 1)))  // the others' blocks come before the kernel is begun
                          .kernel(first)
                          .kernel({copy, 0, 80})
                          .kernel(atomics)
                          .done();
    made.bind(device, {main});
  }
  check_reborn(made, 7);
}

TEST_CASE("saved states: sums that are not complete in a switch") {
  machine::NetworkBuilder builder(3);
  const std::uint16_t type = builder.link_class("wire");
  const machine::NodeId middle = builder.add_switch("switch");
  for (machine::NodeId i = 0; i < 3; ++i)
    builder.add_links_both_ways(i, middle, BytesPerSecond{75'000'000'000}, Duration{250 * nanosecond}, type);
  ProgramCase made(machine_of(finish_network(builder, 64 << 10)));
  made.machine.device.transaction = gpu();
  made.group({0, 1, 2});
  program::Kernel sums = kernel(gemm(3 * 128, 256, 32), "direct-reduce-scatter");
  std::get<program::GemmKernel>(sums.work).reduction = program::Reduction::in_switch;
  const auto main = made.block().compute(work(1000)).kernel(sums).done();
  for (machine::NodeId device = 0; device < 3; ++device) made.bind(device, {main});
  check_reborn(made, 1);
}
