#include "star.hpp"

#include "tessera/machine/network_builder.hpp"

namespace {

using namespace tessera::machine;

/// The hub is node `devices`; its links follow those of the devices, in their order.
class StarRouter final : public Router {
 public:
  explicit StarRouter(NodeId devices) : devices_(devices) {}
  LinkId next(NodeId at, NodeId to) const override {
    if (at == to) return no_link;
    return at < devices_ ? at : devices_ + to;
  }

 private:
  NodeId devices_;
};

}  // namespace

Machine make_star(NodeId devices, std::int64_t bandwidth, tessera::Time latency) {
  NetworkBuilder builder(devices);
  const NodeId hub = builder.add_switch("hub");
  const std::uint16_t spoke = builder.link_class("spoke");

  Machine machine;
  machine.name = "star";
  machine.topology = "star";
  machine.device_noun = "chip";
  for (NodeId device = 0; device < devices; ++device) {
    builder.add_links_both_ways(device, hub, bandwidth, latency, spoke);
    machine.places.push_back({0, static_cast<int>(device), 0});
  }
  machine.network = builder.finish();
  machine.network.router = std::make_shared<StarRouter>(devices);
  machine.network.packet = 4096;
  machine.devices_per_node = static_cast<int>(devices);
  machine.speed.assign(devices, 1.0);
  return machine;
}
