// A machine that no file describes, with a router and a cost model of its own, and an all-reduce simulated on it.
#include <iostream>

#include "hub_router.hpp"
#include "tessera/machine/routes.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/sim/simulate.hpp"

namespace {

using namespace tessera;
using machine::LinkId;
using machine::NodeId;

machine::Machine make_star(NodeId devices) {
  machine::NetworkBuilder builder(devices);
  const NodeId hub = builder.add_switch("hub");
  const std::uint16_t spoke = builder.link_class("spoke");

  machine::Machine star;
  star.name = "star";
  star.topology = "star";
  star.device_noun = "chip";
  star.device.name = "chip";
  star.device.peak["fp16"] = FlopPerSecond{100'000'000'000'000};
  star.device.memory_bandwidth = BytesPerSecond{1'000'000'000'000};
  star.device.memory_capacity = Bytes{16'000'000'000};
  for (NodeId device = 0; device < devices; ++device) {
    builder.add_links_both_ways(device, hub, BytesPerSecond{100'000'000'000}, Duration{250 * nanosecond}, spoke);
    star.places.push_back({0, static_cast<int>(device), 0});
  }
  star.network = builder.finish();
  star.network.router = std::make_shared<HubRouter>(devices);
  star.network.packet = Bytes{4096};
  star.devices_per_node = static_cast<int>(devices);
  star.speed.assign(devices, 1.0);
  return star;
}

/// Memory traffic at full speed, and nothing else.
class MemoryOnly final : public workload::CostModel {
 public:
  Time time(const workload::Operator& op, const machine::DeviceSpec& device) const override {
    return duration_at_rate(Bytes{op.bytes_read + op.bytes_written}, device.memory_bandwidth);
  }
};

program::Program all_reduce(const machine::Machine& star, std::int64_t bytes) {
  program::Program program;
  program.free_reductions = true;
  program.groups.emplace_back();
  for (NodeId device = 0; device < star.devices(); ++device) program.groups[0].members.push_back(device);
  program::Collective collective;
  collective.bytes = Bytes{bytes};
  collective.algorithm = program::algorithm_index("ring");
  const auto main = program::BlockBuilder(program, "main").collective(collective).done();
  program.devices.assign(star.devices(), {{main}, {}, {0}, 0});
  return program;
}

}  // namespace

int main() {
  const machine::Machine star = make_star(4);
  for (const LinkId link : machine::Routes(star.network).links(1, 3)) std::cout << star.link_name(link) << '\n';

  // 4,096,000 B on 4 chips: six steps of 1,024,000 B. A step is 10.24 us on the first link, 250 ns to the hub, which
  // sends the last packet of 4,096 B on when it is there: 40.96 ns and 250 ns more. No link serves two chips.
  const Time step = 10'240'000 + 250'000 + 40'960 + 250'000;
  const auto comm = make_serial_communicator();
  const auto result = sim::simulate(star, all_reduce(star, 4'096'000), MemoryOnly(), *comm, {});
  std::cout << "all-reduce: " << result.results.iteration_time << " ps, by hand " << 6 * step << " ps\n";
  return result.results.iteration_time == 6 * step ? 0 : 1;
}
