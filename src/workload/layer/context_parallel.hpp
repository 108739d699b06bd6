// The attention core of a rank that shares its sequences with others (docs/context-parallelism.md).
#pragma once

#include "context.hpp"

namespace tessera::workload::layer {

/// Operators and exchanges, as Transformer Engine launches them. Without fused attention, or where the scheme does not
/// fit the heads or the sequence: InputError.
[[nodiscard]] OperatorSet context_parallel_core(const Context& context);

}  // namespace tessera::workload::layer
