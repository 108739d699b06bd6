// Whether products and their communication can be cut as the keys say.
#pragma once

#include "cut.hpp"

namespace tessera::strategy::megatron {

/// In two dimensions, with a gate of its own, in chunks. Problems go to `diagnostics`.
void check_products(const config::Table& table, const Job& job, const Cut& cut, config::Diagnostics& diagnostics);

}  // namespace tessera::strategy::megatron
