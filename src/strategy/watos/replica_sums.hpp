// What the sums over the replicas take, behind the last micro-batch.
#pragma once

#include "pricing.hpp"

namespace tessera::strategy::watos {

/// ps, all stages at once where they start. The stage whose own rings share links most is measured, and takes so many
/// times longer as the busiest link has more to carry when the rings of all stages run. 0 without replicas.
[[nodiscard]] Time replica_sums(const PipelineProfile& profile, const Problem& problem, const Job& job,
                                Pricing& pricing);

/// Of a stage's work behind the last micro-batch, what stays inside the groups of each replica.
[[nodiscard]] Work inside_replicas(const Work& update, std::size_t tensor);

}  // namespace tessera::strategy::watos
