// Keyed random clusters with replicas that do the same side by side, and meet in collectives.
#pragma once

#include "program_case.hpp"
#include "random_sites.hpp"

namespace tessera::test {

/// Case `index`: nodes behind a switch or a fat tree; on them replicas, one after another or mixed, with operators,
/// messages and collectives within each, over all that have the same part, and over everybody.
[[nodiscard]] ProgramCase random_replicas(std::uint64_t index);
/// The same on clusters whose links are each one device's alone, collectives over runs of replicas besides.
[[nodiscard]] ProgramCase random_runs(std::uint64_t index);
/// The same on a mesh, a torus, a ring, in a package or on rails, with dead links and spare devices.
[[nodiscard]] ProgramCase random_replicas_on(SiteKind kind, std::uint64_t index);
/// The same on a mesh or torus: half of the collectives by `mesh` or `mesh-scatter`, in replicas that list their
/// members at random.
[[nodiscard]] ProgramCase random_rectangles(SiteKind kind, std::uint64_t index);
/// The same on all of them: half of the collectives by `ring-bi-odd`, `multitree` or `synthesised`.
[[nodiscard]] ProgramCase random_by_links(SiteKind kind, std::uint64_t index);
/// How many collectives of a program go by a plan of the group.
[[nodiscard]] std::uint64_t collectives_by_plan(const ProgramCase& made);

}  // namespace tessera::test
