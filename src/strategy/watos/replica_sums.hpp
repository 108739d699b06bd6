// What the sums over the replicas take, behind the last micro-batch.
#pragma once

#include "joints.hpp"
#include "pricing.hpp"

namespace tessera::strategy::watos {

/// Problem::shared, all stages at once where they start: of the stages whose replicas are on one grid (where none
/// is, one that would be; 0 where no grid holds a stage) that is measured whose own rings share links most, and takes
/// so many times longer as the busiest link has more to carry when the rings of all stages run. And
/// Problem::over_joints, of a stage whose replicas are on several grids where it starts, or are moved there. Nothing
/// without replicas.
void price_sums(const PipelineProfile& profile, const std::shared_ptr<const Joints>& joints, Pricing& pricing,
                Problem& problem);

/// Of a stage's work behind the last micro-batch, what stays inside the groups of each replica.
[[nodiscard]] Work inside_replicas(const Work& update, std::size_t tensor);

}  // namespace tessera::strategy::watos
