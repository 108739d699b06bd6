#include "cluster_network.hpp"

#include <algorithm>
#include <string>

#include "tessera/machine/network_builder.hpp"

namespace tessera::machine {
namespace {

/// A latency that is stated end to end, divided between the two hops of a switch. The first hop gets the odd
/// picosecond: it is the one that crosses ranks, whose latency is lookahead.
Duration before_switch(Duration latency) { return latency - latency / 2; }
Duration behind_switch(Duration latency) { return latency / 2; }

class ClusterBuilder {
 public:
  explicit ClusterBuilder(const ClusterShape& shape) : shape_(shape), builder_(shape.devices()) {}

  Network build() {
    add_switches();
    for (NodeId node = 0; node < shape_.nodes; ++node) add_inside(node);
    if (shape_.has_fabric()) {
      for (NodeId node = 0; node < shape_.nodes; ++node) add_nics(node);
      if (shape_.leaves() > 1) add_uplinks();
    }
    return builder_.finish();
  }

 private:
  void add_switches() {
    const NodeId nodes = shape_.nodes;
    const NodeId leaves = shape_.leaves();
    for (NodeId node = 0; node < nodes && shape_.has_nvswitches(); ++node)
      nvswitches_.push_back(builder_.add_switch("nvswitch " + std::to_string(node)));
    if (!shape_.has_fabric()) return;
    for (NodeId nic = 0; nic < nodes * shape_.nics_per_node && shape_.shares_nics(); ++nic)
      nics_.push_back(builder_.add_switch("nic " + std::to_string(nic)));
    for (NodeId leaf = 0; leaf < leaves; ++leaf)
      leaves_.push_back(builder_.add_switch(leaves > 1 ? "leaf " + std::to_string(leaf) : "core"));
    for (NodeId spine = 0; spine < shape_.spines && leaves > 1; ++spine)
      spines_.push_back(builder_.add_switch("spine " + std::to_string(spine)));
  }

  void add_inside(NodeId node) {
    const NodeId size = shape_.gpus_per_node;
    const NodeId first = node * size;
    if (size == 1) return;
    const std::uint16_t type = builder_.link_class("nvlink");
    const auto link = [&](NodeId from, NodeId to, Duration latency) {
      builder_.add_link(from, to, shape_.nvlink_bandwidth, latency, type);
    };
    for (NodeId i = 0; i < size; ++i) {
      if (shape_.inside == Inside::nvswitch) {
        link(first + i, nvswitches_[node], before_switch(shape_.nvlink_latency));
        link(nvswitches_[node], first + i, behind_switch(shape_.nvlink_latency));
      } else if (shape_.inside == Inside::ring) {
        link(first + i, first + (i + 1) % size, shape_.nvlink_latency);
        if (size > 2) link(first + i, first + (i + size - 1) % size, shape_.nvlink_latency);
      } else {
        for (NodeId peer = 0; peer < size; ++peer)
          if (peer != i) link(first + i, first + peer, shape_.nvlink_latency);
      }
    }
  }

  void add_nics(NodeId node) {
    const std::uint16_t nic_type = builder_.link_class("nic");
    for (NodeId i = 0; i < shape_.nics_per_node; ++i) {
      const NodeId nic = node * shape_.nics_per_node + i;
      const NodeId leaf = leaves_[shape_.leaf_of(nic)];
      NodeId end = node * shape_.gpus_per_node + i;
      if (shape_.shares_nics()) {
        end = nics_[nic];
        const std::uint16_t pcie_type = builder_.link_class("pcie");
        const NodeId first_gpu = node * shape_.gpus_per_node + i * shape_.gpus_per_nic();
        for (NodeId gpu = first_gpu; gpu < first_gpu + shape_.gpus_per_nic(); ++gpu)
          builder_.add_links_both_ways(gpu, end, shape_.pcie_bandwidth, shape_.pcie_latency, pcie_type);
      }
      builder_.add_link(end, leaf, shape_.nic_bandwidth, before_switch(shape_.nic_latency), nic_type);
      builder_.add_link(leaf, end, shape_.nic_bandwidth, behind_switch(shape_.nic_latency), nic_type);
    }
  }

  void add_uplinks() {
    const std::uint16_t type = builder_.link_class("fabric");
    for (const NodeId leaf : leaves_)
      for (const NodeId spine : spines_)
        builder_.add_links_both_ways(leaf, spine, shape_.uplink_bandwidth, shape_.uplink_latency, type);
  }

  ClusterShape shape_;
  NetworkBuilder builder_;
  std::vector<NodeId> nvswitches_, nics_, leaves_, spines_;
};

}  // namespace

ClusterRouter::ClusterRouter(const ClusterShape& shape, std::vector<LinkId> first_link)
    : shape_(shape), first_link_(std::move(first_link)) {
  first_nic_ = shape.devices() + (shape.has_nvswitches() ? shape.nodes : 0);
  first_leaf_ = first_nic_ + (shape.shares_nics() ? shape.nodes * shape.nics_per_node : 0);
  first_spine_ = first_leaf_ + shape.leaves();
  gpus_per_nic_ = shape.gpus_per_nic();
}

LinkId ClusterRouter::next(NodeId at, NodeId to) const {
  if (at == to) return no_link;
  return at < shape_.devices() ? from_device(at, to) : from_switch(at, to);
}

NodeId ClusterRouter::inside_links() const {
  const NodeId size = shape_.gpus_per_node;
  if (size == 1) return 0;
  if (shape_.inside == Inside::nvswitch) return 1;
  return shape_.inside == Inside::ring ? std::min<NodeId>(2, size - 1) : size - 1;
}

NodeId ClusterRouter::inside_choice(NodeId from, NodeId to) const {
  if (shape_.inside == Inside::nvswitch) return 0;
  if (shape_.inside == Inside::fully_connected) return to < from ? to : to - 1;
  const NodeId size = shape_.gpus_per_node;
  const NodeId upwards = (to + size - from) % size;
  return upwards <= size - upwards ? 0 : 1;
}

LinkId ClusterRouter::from_device(NodeId at, NodeId to) const {
  const NodeId size = shape_.gpus_per_node;
  const bool stays =
      at / size == to / size || (shape_.pxn && shape_.rail_of(shape_.nic_of(at)) != shape_.rail_of(shape_.nic_of(to)));
  // The NIC comes last.
  return first_link_[at] + (stays ? inside_choice(at % size, to % size) : inside_links());
}

LinkId ClusterRouter::from_nvswitch(NodeId at, NodeId to) const {
  const bool passes = at - shape_.devices() == to / shape_.gpus_per_node || (shape_.pxn && shape_.rails > 1);
  return passes ? first_link_[at] + to % shape_.gpus_per_node : no_link;
}

LinkId ClusterRouter::from_switch(NodeId at, NodeId to) const {
  if (at < first_nic_) return from_nvswitch(at, to);
  const LinkId first = first_link_[at];
  const NodeId nic = to / gpus_per_nic_;
  if (at < first_leaf_) return first + (at - first_nic_ == nic ? to % gpus_per_nic_ : gpus_per_nic_);
  if (first_spine_ == first_leaf_ + 1) return first + nic;
  const NodeId leaf = shape_.leaf_of(nic);
  if (at >= first_spine_) return first + leaf;
  const NodeId here = at - first_leaf_;
  return here == leaf ? first + shape_.port_of(nic) : first + shape_.ports(here) + shape_.spine_of(nic);
}

void build_cluster(const ClusterShape& shape, Machine& machine) {
  machine.network = ClusterBuilder(shape).build();
  machine.network.router = std::make_shared<ClusterRouter>(shape, machine.network.first_link);
  machine.devices_per_node = static_cast<int>(shape.gpus_per_node);
  for (NodeId device = 0; device < shape.devices(); ++device) {
    DevicePlace place;
    place.node = static_cast<int>(device / shape.gpus_per_node);
    place.x = static_cast<int>(device % shape.gpus_per_node);
    if (shape.has_fabric()) place.nic = static_cast<int>(shape.nic_of(device));
    machine.places.push_back(place);
  }
}

}  // namespace tessera::machine
