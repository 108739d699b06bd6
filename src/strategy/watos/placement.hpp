// Where stages stand, and which dies take what they lend: WATOS, section IV-C.
#pragma once

#include <vector>

#include "fitness.hpp"
#include "problem.hpp"

namespace tessera::strategy::watos {

/// The stages of a solution at places of least fitness, its sets and pairs as they are: of all arrangements where they
/// are few; else from serpentines on, with exchanges of two places, free ones included, until none gains. Where there
/// are more than a hundred each is exchanged with the nearest ones alone, so that a sweep has ten thousand.
[[nodiscard]] std::vector<std::uint16_t> best_places(const Problem& problem, const Solution& solution,
                                                     const Judge& judge);
/// Arrangements that are all looked at.
inline constexpr std::int64_t few_arrangements = 25'000;

/// Places along serpentines, one after another there and back: by rows and down columns, from each end. As many as the
/// stages and replicas take: where there are more, the slowest stay free, of equals the last one.
[[nodiscard]] std::vector<std::vector<std::uint16_t>> serpentines(const Problem& problem);
/// Those among them that can differ in time: the first one where all places are alike.
[[nodiscard]] std::vector<std::vector<std::uint16_t>> starts(const Problem& problem);

}  // namespace tessera::strategy::watos
