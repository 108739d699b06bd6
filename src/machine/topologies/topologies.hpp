// One function a topology, one file each in this folder; built_in_topologies() in ../topology.cpp lists them.
#pragma once

#include "tessera/machine/topology.hpp"

namespace tessera::machine {

[[nodiscard]] TopologyKind cluster_topology();
[[nodiscard]] TopologyKind ring_topology();
[[nodiscard]] TopologyKind mesh_topology();
[[nodiscard]] TopologyKind torus_topology();
[[nodiscard]] TopologyKind torus_3d_topology();
[[nodiscard]] TopologyKind package_topology();
[[nodiscard]] TopologyKind wafers_topology();
[[nodiscard]] TopologyKind mesh_switch_topology();
[[nodiscard]] TopologyKind dragonfly_topology();

}  // namespace tessera::machine
