// Which helpers take what each sender lends: WATOS, algorithms 2 (lines 6 to 14) and 3.
#pragma once

#include "fitness.hpp"

namespace tessera::strategy::watos {

/// Mem_pair of algorithm 2: the stage that lends most with the one that has most to spare, and so on; what is left goes
/// from the first sender on to the first helpers with room. (Line 13 pops an empty list where there are more helpers
/// than senders: then pairing is over.) Wherever the stages stand.
[[nodiscard]] std::vector<Pair> paired_by_amount(const Problem& problem, const Solution& solution);

/// Algorithm 3: one sender after another, those that lend most first, takes its helpers in order of what they cost
/// where they stand. (As printed it never ends: line 7 leaves OverflowMemory as it is where a helper has room for all,
/// and line 10 leaves the capacity of one that is used up.) Dies of a stage are alike, so that amounts are of one die
/// each.
[[nodiscard]] std::vector<Pair> paired_by_location(const Judge& judge, const Solution& solution);

/// The pairs of a solution that lend something; and behind them, for what is left, those of algorithm 3.
[[nodiscard]] std::vector<Pair> completed(const Judge& judge, const Solution& solution);

}  // namespace tessera::strategy::watos
