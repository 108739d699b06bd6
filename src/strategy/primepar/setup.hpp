// What a [strategy] table says, checked against its job.
#pragma once

#include "costs/node_costs.hpp"
#include "cuts/graph.hpp"
#include "search/space.hpp"
#include "tessera/strategy/primepar/primepar.hpp"

namespace tessera::strategy::primepar {

struct Setup {
  Options options;
  Graph graph;
  Space space;
  Passes passes;
  int bits = 0;             ///< of a stage's devices
  std::int64_t layers = 1;  ///< of a stage
};

/// What is wrong goes to `diagnostics`; the result is of no use then.
[[nodiscard]] Setup read_setup(const config::Table& strategy, const Job& job, config::Diagnostics& diagnostics);

/// Of all stages.
[[nodiscard]] std::int64_t all_layers(const Options& options, const Job& job);

/// Products and their sums at transaction level; null: they are operators and collectives.
[[nodiscard]] const program::sublayer::Configuration* sublayer_of(const Options& options);

/// What is left to be searched, and what that takes; empty: nothing is.
[[nodiscard]] std::string open_text(const Setup& setup);

}  // namespace tessera::strategy::primepar
