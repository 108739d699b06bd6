// A plan for a sound wafer on one that is not: what is lost where nobody looks (WATOS, section VI-D, without its
// robustness).
#pragma once

#include "candidates.hpp"

namespace tessera::strategy::watos {

/// Tensor-parallel ranks, what runs again, layers and pairs of the plan, its stages one after another along a
/// serpentine over the dies that live, replica after replica, as if all were sound. Where too few live for its
/// replicas, there are fewer; where too few live for one, its pipeline is as long as they allow: layers are dealt out
/// anew, and nothing is lent. What does not fit then runs everything again. InputError for what is no such plan.
[[nodiscard]] Searched laid_out(const Question& question, const Attachment& plan);

}  // namespace tessera::strategy::watos
