// Cuts and tiles, profiled: WATOS, algorithm 1 ("early pruning-based central scheduler").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "first_order.hpp"
#include "options.hpp"
#include "places.hpp"
#include "tables.hpp"

namespace tessera::strategy::watos {

/// A cut whose groups stand in tiles of one kind.
struct Candidate {
  Cut cut;
  std::string tile;
  std::int64_t left_out = 0;  ///< slow dies on which nothing stands, as if they were dead
  std::string pruned;         ///< why it is out; empty: it is not, and the rest is known
  std::int64_t missing = 0;   ///< B of a die, where memory is why; 0: something else
  NamedProblem plain;         ///< layers as the other strategy deals them out, stages along rows
  NamedProblem named;         ///< layers by where the stages stand, of the serpentine on which that is the fastest
  std::optional<Solution> scheduled, recomputed;  ///< of these steps, where something fits
  Solution best;                                  ///< of the last step before the genetic search
  Time predicted = 0;                             ///< ps of an iteration, along a serpentine
  FirstOrder least;                               ///< what no plan of the cut beats to first order
  /// "TP 8, PP 5, 2x4, 11 slow dies left out"
  [[nodiscard]] std::string text() const;
};

/// What all candidates are made from; all of it outlives them.
struct Question {
  const StrategyKind& cut;  ///< the strategy that runs the plans
  const config::Table& table;
  const Options& options;
  const Job& job;
  const Health& health;  ///< of the wafer
};

/// Why a candidate is out, and how much memory would mend it.
struct Verdict {
  std::string why;           ///< empty: it is not out
  std::int64_t missing = 0;  ///< B of a die
};
/// Of what stays from the first to the last moment: line 1 of the algorithm.
[[nodiscard]] Verdict state_too_large(const PipelineProfile& profile, const Job& job);
/// Even if all that can run again does, and all dies' memory is one.
[[nodiscard]] Verdict pool_too_small(const Problem& problem);

/// All cuts of the machine's live devices that the table leaves open, with tiles: pruned ones as well, each with its
/// reason. Tensor-parallel groups are even, or odd where the collectives that are chosen can do that; data parallelism
/// has what the other two leave.
[[nodiscard]] std::vector<Candidate> all_candidates(const Question& question, Pricing& pricing);

}  // namespace tessera::strategy::watos
