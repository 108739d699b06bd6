// What searches that draw have in common: where they start, and how they draw.
#pragma once

#include <vector>

#include "../distribution.hpp"
#include "../partitioner.hpp"
#include "searches.hpp"

namespace tessera::strategy::mcm {

/// Of each node of the problem the middle of its share of the time, in chips; slow chips have a smaller share.
[[nodiscard]] std::vector<double> centres(const Question& question);

/// Uniform, or normal round each node's share of the time (Options::sigma).
[[nodiscard]] Distribution prior(const Question& question);

/// The same as logarithms of weights, nodes x chips, each a number: what a search begins with that changes them.
[[nodiscard]] std::vector<double> prior_logs(const Question& question);

/// The solver with the options' template and order.
[[nodiscard]] Partitioner make_partitioner(const Question& question);

}  // namespace tessera::strategy::mcm
