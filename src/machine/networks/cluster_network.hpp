// Nodes of GPUs: what joins them inside, NICs, and a switched fabric outside.
#pragma once

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

  NodeId nodes_per_leaf = 0;  ///< of a fat tree; 0: one switch joins all
  NodeId spines = 1;
  BytesPerSecond uplink_bandwidth;  ///< of one link between a leaf and a spine
  Duration uplink_latency;

  [[nodiscard]] NodeId devices() const { return nodes * gpus_per_node; }
  [[nodiscard]] bool shares_nics() const { return nics_per_node < gpus_per_node; }
  [[nodiscard]] NodeId gpus_per_nic() const { return gpus_per_node / nics_per_node; }
  [[nodiscard]] NodeId leaves() const {
    return nodes_per_leaf == 0 ? 1 : (nodes + nodes_per_leaf - 1) / nodes_per_leaf;
  }
  [[nodiscard]] bool has_nvswitches() const { return inside == Inside::nvswitch && gpus_per_node > 1; }
  [[nodiscard]] bool has_fabric() const { return nodes > 1; }
};

/// Network and places. Switches are numbered: NVSwitches by node, shared NICs by node, leaves (or the one core switch),
/// spines.
void build_cluster(const ClusterShape& shape, Machine& machine);

/// Routing by arithmetic. Inside a node over NVLink. Between nodes: own NIC, leaf, if need be a spine (chosen by the
/// destination's NIC, so that the flows to one NIC share a spine and different NICs spread), leaf, NIC.
class ClusterRouter final : public Router {
 public:
  ClusterRouter(const ClusterShape& shape, std::vector<LinkId> first_link);
  [[nodiscard]] LinkId next(NodeId at, NodeId to) const override;

 private:
  [[nodiscard]] LinkId from_device(NodeId at, NodeId to) const;
  [[nodiscard]] LinkId from_switch(NodeId at, NodeId to) const;
  [[nodiscard]] NodeId inside_links() const;                         ///< of one GPU
  [[nodiscard]] NodeId inside_choice(NodeId from, NodeId to) const;  ///< local index in the node to link index

  ClusterShape shape_;
  std::vector<LinkId> first_link_;
  NodeId first_nic_, first_leaf_, first_spine_;
};

}  // namespace tessera::machine
