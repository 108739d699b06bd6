// The ways between devices around one hub: the hub is the node after them; its links follow those of the devices, in
// their order.
#pragma once

#include "tessera/machine/network_builder.hpp"

class HubRouter final : public tessera::machine::Router {
 public:
  explicit HubRouter(tessera::machine::NodeId devices) : devices_(devices) {}
  tessera::machine::LinkId next(tessera::machine::NodeId at, tessera::machine::NodeId to) const override {
    if (at == to) return tessera::machine::no_link;
    return at < devices_ ? at : devices_ + to;
  }

 private:
  tessera::machine::NodeId devices_;
};
