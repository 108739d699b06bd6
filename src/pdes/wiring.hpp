// One rank's part of a model: where every component is, and what crosses to which rank.
#pragma once

#include <vector>

#include "tessera/pdes/detail/kernel.hpp"
#include "tessera/pdes/model.hpp"
#include "tessera/pdes/partition.hpp"

namespace tessera::pdes {

/// A component with links that cross ranks.
struct Boundary {
  detail::Place place = 0;
  Time latency = never;  ///< the smallest of its links that cross ranks
};

/// Another rank to which links lead.
struct Neighbour {
  int rank = 0;
  Time latency = never;  ///< the smallest of the links to it
};

/// What the synchronisers need to know of the model.
struct Wiring {
  std::vector<ComponentId> local;         ///< this rank's components, in order of id
  std::vector<detail::Station> stations;  ///< of each of them
  std::vector<Neighbour> out;             ///< by rank; out[k] belongs to outbox k
  std::vector<int> in;                    ///< ranks with links to this one
  std::vector<Boundary> boundary;
  bool all_pairs = false;  ///< links lead from every rank to every other
  Time lookahead = never;  ///< the smallest latency of any link that crosses ranks, anywhere in the model
};

/// Fills everything in `kernel` but the components themselves.
[[nodiscard]] Wiring wire(const ModelGraph& model, const Partition& partition, int rank, detail::Kernel& kernel);

}  // namespace tessera::pdes
