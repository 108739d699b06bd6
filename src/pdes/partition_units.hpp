// What a partitioner cuts: the groups of a model, each of which stays whole.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/pdes/partition.hpp"

namespace tessera::pdes {

/// The groups of a model in order of their first component, with what the partitioners need of them.
struct Units {
  std::vector<std::uint32_t> unit_of;         ///< by component
  std::vector<double> weight;                 ///< by unit
  std::vector<std::pair<int, int>> position;  ///< by unit; empty: no geometry
  bool consecutive = true;                    ///< the components of each group follow one another

  [[nodiscard]] std::size_t count() const { return weight.size(); }
};

[[nodiscard]] Units make_units(const ModelGraph& model);

/// A partitioner: the rank of each unit. Every rank gets at least one; units.count() >= ranks >= 1.
using RankOfUnit = std::vector<std::uint16_t>;
[[nodiscard]] RankOfUnit cut_blocks(const Units& units, int ranks);
[[nodiscard]] RankOfUnit cut_tiles(const Units& units, int ranks);
[[nodiscard]] RankOfUnit cut_with_metis(const ModelGraph& model, const Units& units, int ranks);

}  // namespace tessera::pdes
