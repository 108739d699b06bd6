// Op5: two senders exchange their helpers. As printed all of them; half of the time one of each, without which two
// senders that share one helper could never part.
#include <algorithm>

#include "operators.hpp"

namespace tessera::strategy::watos {
namespace {

using Pairs = std::vector<Pair>;

/// The place of one pair of that sender, drawn; as many as there are: it has none.
std::size_t one_of(const Pairs& pairs, std::uint32_t sender, Draws& draws) {
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (pairs[i].sender == sender) own.push_back(i);
  return own.empty() ? pairs.size() : own[draws.below(own.size())];
}

bool has_twice(Pairs pairs) {
  std::ranges::sort(pairs);
  return std::ranges::adjacent_find(pairs) != pairs.end();
}

std::optional<Solution> exchanged_pairs(const Judge& judge, const Solution& solution, Draws& draws) {
  const std::vector<std::uint32_t> senders = senders_of(judge.problem(), solution);
  if (senders.size() < 2) return std::nullopt;
  const std::uint32_t a = senders[draws.below(senders.size())], b = senders[draws.below(senders.size())];
  if (a == b) return std::nullopt;
  Solution found = solution;
  Pairs& pairs = found.pairs;
  if (draws.below(2) == 0) {
    for (Pair& pair : pairs) pair.sender = pair.sender == a ? b : pair.sender == b ? a : pair.sender;
    return found;
  }
  const std::size_t of_a = one_of(pairs, a, draws), of_b = one_of(pairs, b, draws);
  if (of_a == pairs.size() || of_b == pairs.size()) return std::nullopt;
  std::swap(pairs[of_a].helper, pairs[of_b].helper);
  if (has_twice(pairs)) return std::nullopt;
  return found;
}

}  // namespace

Operator cross_pairs() { return {"cross-pairs", "two senders exchange helpers", exchanged_pairs}; }

}  // namespace tessera::strategy::watos
