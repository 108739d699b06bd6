// Nodes of GPUs: what joins them inside, NICs, and a switched fabric outside.
#pragma once

#include <algorithm>
#include <vector>

#include "tessera/machine/machine.hpp"

namespace tessera::machine {

enum class Inside { nvswitch, ring, fully_connected };

/// Shape and link speeds of a cluster. Bandwidths are per direction, what packet headers take already taken off.
struct ClusterShape {
  NodeId nodes = 1;
  NodeId gpus_per_node = 1;
  Inside inside = Inside::nvswitch;
  BytesPerSecond nvlink_bandwidth;
  Duration nvlink_latency;  ///< from GPU to GPU

  NodeId nics_per_node = 1;  ///< divides gpus_per_node
  BytesPerSecond nic_bandwidth;
  Duration nic_latency;           ///< from NIC to NIC through one switch
  BytesPerSecond pcie_bandwidth;  ///< only where GPUs share a NIC
  Duration pcie_latency;

  NodeId nodes_per_leaf = 0;  ///< that stand together below leaves of their own; 0: one switch joins all
  NodeId rails = 1;           ///< such leaves, divides nics_per_node: NIC i of a node hangs on that of rail i % rails
  bool pxn = false;           ///< to another rail: inside the node to the GPU of that rail, which has it sent on
  NodeId spines = 1;
  BytesPerSecond uplink_bandwidth;  ///< of one link between a leaf and a spine
  Duration uplink_latency;

  [[nodiscard]] NodeId devices() const { return nodes * gpus_per_node; }
  [[nodiscard]] bool shares_nics() const { return nics_per_node < gpus_per_node; }
  [[nodiscard]] NodeId gpus_per_nic() const { return gpus_per_node / nics_per_node; }
  [[nodiscard]] bool has_nvswitches() const { return inside == Inside::nvswitch && gpus_per_node > 1; }
  [[nodiscard]] bool has_fabric() const { return nodes > 1; }

  // Leaves are numbered from one group of nodes_per_leaf nodes to the next, in a group by rail; NICs by node.
  [[nodiscard]] NodeId nodes_together() const { return nodes_per_leaf == 0 ? nodes : nodes_per_leaf; }
  [[nodiscard]] NodeId leaves() const { return (nodes + nodes_together() - 1) / nodes_together() * rails; }
  [[nodiscard]] NodeId nics_on_a_leaf_per_node() const { return nics_per_node / rails; }
  [[nodiscard]] NodeId nic_of(NodeId gpu) const { return gpu / gpus_per_nic(); }
  [[nodiscard]] NodeId rail_of(NodeId nic) const { return nic % nics_per_node % rails; }
  [[nodiscard]] NodeId leaf_of(NodeId nic) const {
    return nic / nics_per_node / nodes_together() * rails + rail_of(nic);
  }
  /// Of the leaf's links to NICs, the one to this one.
  [[nodiscard]] NodeId port_of(NodeId nic) const {
    return nic / nics_per_node % nodes_together() * nics_on_a_leaf_per_node() + nic % nics_per_node / rails;
  }
  /// How many NICs hang on a leaf; on those of the last nodes there may be fewer.
  [[nodiscard]] NodeId ports(NodeId leaf) const {
    const NodeId first = leaf / rails * nodes_together();
    return std::min(nodes_together(), nodes - first) * nics_on_a_leaf_per_node();
  }
  /// The spine over which a NIC is reached from other leaves: the NICs of a leaf lie on one after another, and so do
  /// those of a node.
  [[nodiscard]] NodeId spine_of(NodeId nic) const {
    return (nic / nics_per_node * nics_on_a_leaf_per_node() + nic % nics_per_node) % spines;
  }
};

/// Network and places. Switches are numbered: NVSwitches by node, shared NICs by node, leaves (or the one core switch),
/// spines.
void build_cluster(const ClusterShape& shape, Machine& machine);

/// Routing by arithmetic. Inside a node over NVLink. Between nodes: own NIC (with pxn one of the destination's rail),
/// leaf, if need be a spine (chosen by the destination's NIC, so that the flows to one NIC share a spine and different
/// NICs spread), leaf, NIC.
class ClusterRouter final : public Router {
 public:
  ClusterRouter(const ClusterShape& shape, std::vector<LinkId> first_link);
  [[nodiscard]] LinkId next(NodeId at, NodeId to) const override;

 private:
  [[nodiscard]] LinkId from_device(NodeId at, NodeId to) const;
  [[nodiscard]] LinkId from_switch(NodeId at, NodeId to) const;
  [[nodiscard]] LinkId from_nvswitch(NodeId at, NodeId to) const;
  [[nodiscard]] NodeId inside_links() const;                         ///< of one GPU
  [[nodiscard]] NodeId inside_choice(NodeId from, NodeId to) const;  ///< local index in the node to link index

  ClusterShape shape_;
  std::vector<LinkId> first_link_;
  NodeId first_nic_, first_leaf_, first_spine_;
  NodeId gpus_per_nic_;
};

}  // namespace tessera::machine
