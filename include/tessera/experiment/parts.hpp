// What experiments can name: lists that a program may add parts of its own to.
//
//   experiment::Parts parts;
//   parts.strategies.push_back(toy::kind());
//   parts.topologies.push_back(star_topology());
//   parts.collectives.add(std::make_shared<StarCollective>());
//   experiment::load(path, {}, {}, diagnostics, {}, parts);
#pragma once

#include "tessera/machine/topology.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/strategy/strategy.hpp"

namespace tessera::experiment {

/// The same for all that is done with one experiment: loading, building, sweeps, help.
struct Parts {
  strategy::Strategies strategies = strategy::built_in_strategies();
  machine::Topologies topologies = machine::built_in_topologies();
  program::Collectives collectives = program::built_in_collectives();
};

}  // namespace tessera::experiment
