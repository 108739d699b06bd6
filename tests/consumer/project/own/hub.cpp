#include "../hub_router.hpp"
#include "own.hpp"

namespace own {
namespace {

using namespace tessera;
using machine::NodeId;

struct Spec {
  int devices = 0;
  BytesPerSecond bandwidth;
  Duration latency;
};

const config::Schema<Spec>& schema() {
  static const config::Schema<Spec> made = [] {
    config::Schema<Spec> s("machine.topology.hub", "GPUs around one hub.");
    s.also_accept("kind", "\"hub\"");
    s.integer("devices", &Spec::devices, "number of GPUs").at_least("1").at_most("1024");
    s.quantity("bandwidth", &Spec::bandwidth, "of each link, per direction").at_least("1 B/s");
    s.quantity("latency", &Spec::latency, "of each link").at_most("1 s");
    return s;
  }();
  return made;
}

void build(const config::Table& table, machine::Machine& machine, config::Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.errors().size();
  const Spec spec = schema().read(table, diagnostics);
  if (diagnostics.errors().size() != before) return;
  const auto devices = static_cast<NodeId>(spec.devices);
  machine::NetworkBuilder builder(devices);
  const NodeId hub = builder.add_switch("hub");
  const std::uint16_t spoke = builder.link_class("spoke");
  for (NodeId device = 0; device < devices; ++device) {
    builder.add_links_both_ways(device, hub, spec.bandwidth, spec.latency, spoke);
    machine.places.push_back({0, static_cast<int>(device), 0});
  }
  machine.network = builder.finish();
  machine.network.router = std::make_shared<HubRouter>(devices);
  machine.devices_per_node = spec.devices;
}

}  // namespace

machine::TopologyKind hub_topology() {
  return {"hub", "GPUs around one hub", []() -> const config::SchemaBase& { return schema(); }, build};
}

}  // namespace own
