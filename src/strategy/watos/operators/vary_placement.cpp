// Op3: a stage goes to another place; who stands there comes to its own. Places are tiles of the wafer that stay where
// they are, so that those of other shapes, and those where nobody stands, are exchanged as well.
#include <algorithm>

#include "operators.hpp"

namespace tessera::strategy::watos {
namespace {

std::optional<Solution> exchanged_places(const Judge& judge, const Solution& solution, Draws& draws) {
  const std::size_t which = draws.below(solution.places.size());
  const auto place = static_cast<std::uint16_t>(draws.below(judge.problem().places.size()));
  if (solution.places[which] == place) return std::nullopt;
  Solution found = solution;
  const auto holder = std::ranges::find(found.places, place);
  if (holder != found.places.end()) *holder = found.places[which];
  found.places[which] = place;
  return found;
}

}  // namespace

Operator vary_placement() { return {"vary-placement", "two places are exchanged", exchanged_places}; }

}  // namespace tessera::strategy::watos
