#include "busy_program.hpp"

#include <algorithm>

namespace tessera::test {
namespace {

using program::Activity;
using program::CollectiveKind;

constexpr machine::NodeId node_size = 4;

machine::Machine switched_machine(machine::NodeId nodes) {
  machine::NetworkBuilder builder(nodes * node_size);
  const std::uint16_t type = builder.link_class("wire");
  const machine::NodeId core = builder.add_switch("core");
  for (machine::NodeId node = 0; node < nodes; ++node) {
    const machine::NodeId inside = builder.add_switch("node " + std::to_string(node));
    for (machine::NodeId i = 0; i < node_size; ++i) {
      builder.add_links_both_ways(node * node_size + i, inside, BytesPerSecond{10'000'000'000}, Duration{700}, type);
      builder.add_links_both_ways(node * node_size + i, core, BytesPerSecond{3'000'000'000}, Duration{2'000}, type);
    }
  }
  machine::Machine machine = machine_of(finish_network(builder, 256));
  for (machine::NodeId i = 0; i < machine.devices(); ++i) {
    machine.places[i] = {static_cast<int>(i / node_size), static_cast<int>(i % node_size), 0, static_cast<int>(i)};
  }
  machine.devices_per_node = node_size;
  return machine;
}

}  // namespace

ProgramCase busy_program(machine::NodeId nodes, std::uint32_t rounds) {
  ProgramCase made(switched_machine(nodes));
  made.machine.device.cores = 8;
  made.program.channels = 3;
  const machine::NodeId devices = made.machine.devices();
  for (machine::NodeId node = 0; node < nodes; ++node) {
    std::vector<program::DeviceId> members;
    for (machine::NodeId i = 0; i < node_size; ++i) members.push_back(node * node_size + i);
    made.group(members);
    made.group(members);  // the same devices, for the other stream
  }
  for (machine::NodeId i = 0; i < node_size; ++i) {
    std::vector<program::DeviceId> members;
    for (machine::NodeId node = 0; node < nodes; ++node) members.push_back(node * node_size + i);
    made.group(members);
  }
  std::vector<program::DeviceId> everybody;
  for (program::DeviceId device = 0; device < devices; ++device) everybody.push_back(device);
  made.group(everybody);
  const std::uint32_t all = 2 * nodes + node_size;
  for (program::DeviceId device = 0; device < devices; ++device) {
    const std::uint32_t inside = 2 * (device / node_size);
    const std::uint32_t across = 2 * nodes + device % node_size;
    const auto round = made.block("round " + std::to_string(device))
                           .compute(work(1000 + 333 * (device % 5)))
                           .send((device + 1) % devices, Bytes{700})
                           .signal(0)
                           .activity(Activity::tensor_communication)
                           .label("inside")
                           .collective(collective(CollectiveKind::all_reduce, 5000, "ring", inside))
                           .activity(Activity::pipeline_communication)
                           .receive((device + devices - 1) % devices, Bytes{700})
                           .activity(Activity::data_communication)
                           .label("across")
                           .collective(collective(CollectiveKind::all_gather, 3001, "direct", across))
                           .label("over all NICs")
                           .collective(collective(CollectiveKind::all_reduce, 9001 * 2, "ring", all))
                           .allocate(program::MemoryCategory::activations, Bytes{100})
                           .wait(1)
                           .done();
    const auto beside = made.block("beside " + std::to_string(device))
                            .wait(0)
                            .compute(work(777))
                            .allocate(program::MemoryCategory::buffers, Bytes{2048})
                            .collective(collective(CollectiveKind::all_to_all, 2048, "direct", inside + 1))
                            .wait_sends()
                            .release(program::MemoryCategory::buffers, Bytes{2048})
                            .signal(1)
                            .done();
    const auto main = made.block("main " + std::to_string(device)).call(round, rounds).done();
    made.bind(device, {main, made.block("other " + std::to_string(device)).call(beside, rounds).done()}, 2);
  }
  return made;
}

}  // namespace tessera::test
