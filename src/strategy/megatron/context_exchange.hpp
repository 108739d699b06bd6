// What the ranks that share sequences send each other in the attention core (docs/context-parallelism.md).
#pragma once

#include "writer.hpp"

namespace tessera::strategy::megatron {

/// What exchanges are counted as; of programs without them some other activity, for nothing is.
[[nodiscard]] Activity context_communication(program::Program& program, const Cut& cut);

/// The core, with its exchanges, and room for what they bring while it runs.
void core_forward(Writer& writer, const workload::OperatorSet& set, Activity activity, Activity exchange);
void core_backward(Writer& writer, const workload::OperatorSet& set, Activity exchange);

/// Refuses what context parallelism does not go together with, and sequences that it cannot cut.
void check_context(const config::Table& table, const Job& job, const Cut& cut, config::Diagnostics& diagnostics);

}  // namespace tessera::strategy::megatron
