// Topologies by name. Adding one is one file in src/machine/topologies/ with one registration (docs/extending.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/machine/machine.hpp"

namespace tessera::machine {

/// A kind of topology: reads its own keys of [machine.topology] and builds the network and the places (without faults).
struct TopologyKind {
  std::string name;
  std::string help;
  std::function<const config::SchemaBase&()> schema;
  std::function<void(const config::Table& topology, Machine& machine, config::Diagnostics&)> build;
};
[[nodiscard]] const std::vector<TopologyKind>& topology_kinds();

/// A [machine] table, fully resolved (no include left), into a machine with faults applied and routes checked: each pair of live
/// devices is connected, or it is an error that names a pair. Problems go to `diagnostics`.
[[nodiscard]] Machine build_machine(const config::Table& machine, config::Diagnostics& diagnostics);

/// The schemas of this layer, for `tessera help`.
[[nodiscard]] std::vector<const config::SchemaBase*> schemas();

}  // namespace tessera::machine
