// Topologies by name. Adding one is one file in src/machine/topologies/ with one registration (docs/extending.md).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/machine/machine.hpp"

namespace tessera::machine {

/// A kind of topology: reads its own keys of [machine.topology] and fills in network (with a router for the healthy
/// network), places, devices_per_node, columns, rows and device_noun of `machine`. Faults come later, for all kinds
/// alike. When it reports an error, it may leave `machine` as it is.
struct TopologyKind {
  std::string name;
  std::string help;
  std::function<const config::SchemaBase&()> schema;  ///< which is there as long as the kind, or a copy of it
  std::function<void(const config::Table& topology, Machine& machine, config::Diagnostics&)> build;
};
/// What machines can name. Programs may add topologies of their own to the built-in ones.
using Topologies = std::vector<TopologyKind>;
[[nodiscard]] Topologies built_in_topologies();

/// The text of a machine file (inputs/machines/*.toml): its one table, [machine], or null after an error.
[[nodiscard]] std::shared_ptr<config::Table> parse_machine_file(const std::string& text, const std::string& file,
                                                                config::Diagnostics& diagnostics);

/// A [machine] table, fully resolved (no include left), into a machine with faults applied and routes checked: each
/// pair of live devices is connected, or it is an error that names a pair. Problems go to `diagnostics`. After an error
/// the result is of no use. [machine.calibration.topology] has defaults for the keys of [machine.topology].
[[nodiscard]] Machine build_machine(const config::Table& machine, config::Diagnostics& diagnostics,
                                    const Topologies& topologies = built_in_topologies());

/// Gives a table the entries of `defaults` that it does not have.
void add_missing(config::Table& table, const config::Table& defaults);

/// Adds the defaults that a [machine] table leaves out, for the resolved experiment.
void complete_machine(config::Table& machine, const Topologies& topologies = built_in_topologies());

/// The schemas of this layer, for `tessera help`.
[[nodiscard]] std::vector<config::SchemaPointer> schemas(const Topologies& topologies = built_in_topologies());

}  // namespace tessera::machine
