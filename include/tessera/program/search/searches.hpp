// Searches over candidates of any kind: at random, by simulated annealing, and all of them.
//
// A candidate is a value with
//   Candidate neighbour(std::uint64_t key) const   another one near it; the same for the same key
//   std::string text() const                       what the table of the search calls it
// Candidates are evaluated in batches, which Evaluations::all() spreads over the ranks; every draw is keyed by the seed
// and the number of the step, so that a search is the same on any number of ranks.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/comm.hpp"
#include "tessera/base/random.hpp"
#include "tessera/program/search/tried.hpp"

namespace tessera::program::search {

/// What a candidate's own model foretells of it (Tried::predicted), where it has `Time foretold() const`.
template <class C>
[[nodiscard]] Time foretold_by(const C& candidate) {
  if constexpr (requires { candidate.foretold(); }) {
    return candidate.foretold();
  } else {
    return 0;
  }
}

template <class C>
concept Candidate = std::copyable<C> && requires(const C& candidate, std::uint64_t key) {
  { candidate.neighbour(key) } -> std::convertible_to<C>;
  { candidate.text() } -> std::convertible_to<std::string>;
};

/// How far a search goes. Evaluations make it the same wherever it runs; time does not.
struct Budget {
  std::int64_t evaluations = 0;                          ///< at most
  std::function<bool()> is_over = [] { return false; };  ///< looked at between batches, on all ranks alike
  bool is_timed = false;                                 ///< is_over looks at a clock
};

/// From now on, and at most so many evaluations; the ranks agree on when it is over. `comm` outlives it. Annealing
/// cools by evaluations: give about as many as there is time for.
[[nodiscard]] Budget within(double seconds, std::int64_t evaluations, Communicator& comm);

template <class C>
struct Outcome {
  C best;
  Evaluation evaluation;  ///< of it; not feasible: nothing that was tried can run
  std::vector<Tried> table;
  bool is_timed = false;  ///< for strategy::Searched: another run may end elsewhere
};

/// Evaluations of candidates, in their order: the same on all ranks.
template <class C>
using Evaluate = std::function<std::vector<Evaluation>(const std::vector<C>&)>;

/// What a search has seen.
template <Candidate C>
class Record {
 public:
  Record(C start, Fidelity fidelity, bool is_timed = false)
      : outcome_{std::move(start), {}, {}, is_timed}, fidelity_(fidelity) {}

  /// `accepted`: by the search; the reason why not, or why it cannot run, stands in the table.
  void add(std::int64_t step, const C& candidate, const Evaluation& evaluation, bool accepted,
           const std::string& otherwise) {
    const bool is_best = evaluation.feasible && (!outcome_.evaluation.feasible || evaluation.time < best());
    if (is_best) {
      outcome_.best = candidate;
      outcome_.evaluation = evaluation;
    }
    outcome_.table.push_back({step,
                              candidate.text(),
                              fidelity_,
                              evaluation.feasible ? evaluation.time : 0,
                              accepted && evaluation.feasible,
                              !evaluation.feasible ? evaluation.reason
                              : accepted           ? std::string()
                                                   : otherwise,
                              outcome_.evaluation.feasible ? best() : 0,
                              {},
                              foretold_by(candidate),
                              evaluation.feasible ? evaluation.interval : 0,
                              0,
                              evaluation.most_memory()});
  }
  [[nodiscard]] Time best() const { return outcome_.evaluation.time; }
  [[nodiscard]] std::int64_t evaluations() const { return static_cast<std::int64_t>(outcome_.table.size()); }
  [[nodiscard]] Outcome<C> take() { return std::move(outcome_); }

 private:
  Outcome<C> outcome_;
  Fidelity fidelity_;
};

/// All of these, of which there is one at least; the first of the best is taken.
template <Candidate C>
[[nodiscard]] Outcome<C> exhaustive_search(const std::vector<C>& all, const Evaluate<C>& evaluate,
                                           Fidelity fidelity = Fidelity::simulated) {
  Record<C> record(all.front(), fidelity);
  const std::vector<Evaluation> found = evaluate(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_better = record.evaluations() == 0 || record.best() == 0 || found[i].time < record.best();
    record.add(static_cast<std::int64_t>(i), all[i], found[i], is_better, "not the best");
  }
  return record.take();
}

struct RandomOptions {
  std::uint64_t seed = 1;
  Budget budget;
  std::int64_t batch = 16;  ///< candidates that are evaluated together; results depend on it
  std::int64_t moves = 1;   ///< from one candidate to the next
  Fidelity fidelity = Fidelity::simulated;
};

/// A walk from neighbour to neighbour, whatever they cost, from `start` on.
template <Candidate C>
[[nodiscard]] Outcome<C> random_search(const C& start, const Evaluate<C>& evaluate, const RandomOptions& options) {
  const KeyedRandom random(options.seed, random_stream("search at random"));
  Record<C> record(start, options.fidelity, options.budget.is_timed);
  C at = start;
  std::uint64_t draw = 0;
  while (record.evaluations() < options.budget.evaluations && !options.budget.is_over()) {
    std::vector<C> batch;
    while (static_cast<std::int64_t>(batch.size()) < std::max<std::int64_t>(1, options.batch) &&
           record.evaluations() + static_cast<std::int64_t>(batch.size()) < options.budget.evaluations) {
      if (draw > 0) {
        for (std::int64_t move = 0; move < options.moves; ++move) at = at.neighbour(random.bits(draw++));
      } else {
        ++draw;
      }
      batch.push_back(at);
    }
    const std::vector<Evaluation> found = evaluate(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) record.add(record.evaluations(), batch[i], found[i], true, {});
  }
  return record.take();
}

struct AnnealingOptions {
  std::uint64_t seed = 1;
  Budget budget;
  std::int64_t chains = 8;  ///< that go on side by side, each from `start`, fewer in the last step where evaluations
                            ///< end; results depend on it
  double first = 0.1;   ///< a step that is so much slower, as a part of the time, is taken with probability 1/e, ...
  double last = 0.001;  ///< ... at the beginning and at the end; in between geometrically
  Fidelity fidelity = Fidelity::simulated;
};

/// Simulated annealing (Kirkpatrick et al., Science 220, 1983): each chain goes to a neighbour that is faster, and to
/// one that is slower by d of its time t with probability exp(-d / (t x temperature)). One that cannot run is never
/// gone to from one that can.
template <Candidate C>
[[nodiscard]] Outcome<C> anneal(const C& start, const Evaluate<C>& evaluate, const AnnealingOptions& options) {
  const KeyedRandom moves(options.seed, random_stream("annealing: moves"));
  const KeyedRandom chances(options.seed, random_stream("annealing: chances"));
  Record<C> record(start, options.fidelity, options.budget.is_timed);
  Evaluation first = evaluate({start}).front();
  record.add(0, start, first, true, {});
  const std::int64_t chains = std::max<std::int64_t>(1, options.chains);
  std::vector<std::pair<C, Evaluation>> at(static_cast<std::size_t>(chains), {start, std::move(first)});
  const std::int64_t left = std::max<std::int64_t>(0, options.budget.evaluations - 1);
  const std::int64_t steps = left / chains + (left % chains > 0 ? 1 : 0);
  for (std::int64_t step = 1; step <= steps && !options.budget.is_over(); ++step) {
    const double part = steps == 1 ? 1 : static_cast<double>(step - 1) / static_cast<double>(steps - 1);
    const double temperature = options.first * std::pow(options.last / options.first, part);
    // In the last step as many of the chains go on as there are evaluations left.
    const auto going = static_cast<std::size_t>(std::min(chains, options.budget.evaluations - record.evaluations()));
    std::vector<C> next;
    for (std::size_t chain = 0; chain < going; ++chain)
      next.push_back(at[chain].first.neighbour(moves.bits(static_cast<std::uint64_t>(step) * at.size() + chain)));
    std::vector<Evaluation> found = evaluate(next);
    for (std::size_t chain = 0; chain < going; ++chain) {
      const Evaluation& here = at[chain].second;
      const double slower = static_cast<double>(found[chain].time - here.time) / static_cast<double>(here.time);
      const double chance = chances.real(static_cast<std::uint64_t>(step) * at.size() + chain);
      // From one that cannot run to whatever is next to it: something that can may be behind.
      const bool goes =
          !here.feasible || (found[chain].feasible && (slower <= 0 || chance < std::exp(-slower / temperature)));
      record.add(step, next[chain], found[chain], goes, "slower");
      if (goes) at[chain] = {std::move(next[chain]), std::move(found[chain])};
    }
  }
  return record.take();
}

}  // namespace tessera::program::search
