// Genetic search over candidates that a number judges at once (Holland 1975; WATOS, section IV-D), beside the searches
// of searches.hpp, whose candidates are evaluated.
//
// A candidate is one of searches.hpp that also has
//   Candidate crossed(const Candidate& other, std::uint64_t key) const   a child of both; the same for the same key
//   bool operator<                                                      which of equals is taken
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "tessera/base/hash.hpp"
#include "tessera/base/random.hpp"
#include "tessera/base/time.hpp"
#include "tessera/program/search/searches.hpp"

namespace tessera::program::search {

template <class C>
concept Breeding = Candidate<C> && requires(const C& candidate, const C& other, std::uint64_t key) {
  { candidate.crossed(other, key) } -> std::convertible_to<C>;
  { candidate < other } -> std::convertible_to<bool>;
};

struct GeneticOptions {
  std::uint64_t seed = 1;
  std::uint64_t search = 0;        ///< which of several searches of a seed: their draws have nothing in common
  std::int64_t population = 100;   ///< individuals, at least 2
  std::int64_t generations = 100;  ///< each makes as many children as there are individuals
  double elitism = 0.5;   ///< omega: this share of the next generation are the fittest, the rest winners of tournaments
  double crossing = 0.2;  ///< share of the children that have two parents
};

/// What a genetic search has found.
template <class C>
struct Bred {
  C best;
  Int128 fitness = 0;         ///< of it; the smaller the better
  std::vector<Int128> curve;  ///< the best fitness up to each generation, the start being the first
};

/// From `start` on, whose neighbours make up the first generation. `fitness` is the same whenever it is asked.
template <Breeding C, class Fitness>
[[nodiscard]] Bred<C> breed(const C& start, const Fitness& fitness, const GeneticOptions& options) {
  struct Individual {
    C candidate;
    Int128 fitness = 0;
    bool operator<(const Individual& other) const {
      return fitness != other.fitness ? fitness < other.fitness : candidate < other.candidate;
    }
  };
  enum Purpose : std::uint64_t { first, mother, father, kind, step, rival, purposes };
  const KeyedRandom random(options.seed, random_stream("genetic search") + options.search);
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(2, options.population));
  // Of a generation and an individual of it, one draw for each purpose and try.
  const auto draw = [&](std::size_t generation, std::size_t individual, std::uint64_t purpose,
                        std::uint64_t again = 0) {
    return random.bits(((generation * 2 * count + individual) * purposes + purpose) * 2 + again);
  };
  const auto individual = [&](C candidate) {
    const Int128 value = fitness(candidate);
    return Individual{std::move(candidate), value};
  };
  std::vector<Individual> now = {individual(start)};
  for (std::size_t i = 1; i < count; ++i) now.push_back(individual(start.neighbour(draw(0, i, first))));
  std::ranges::sort(now, std::less<>());
  Bred<C> found{now.front().candidate, now.front().fitness, {now.front().fitness}};
  const auto elite = static_cast<std::size_t>(std::llround(options.elitism * static_cast<double>(count)));
  for (std::size_t generation = 1; generation <= static_cast<std::size_t>(options.generations); ++generation) {
    std::vector<Individual> pool = now;
    for (std::size_t i = 0; i < count; ++i) {
      const C& parent = now[KeyedRandom::to_below(draw(generation, i, mother), count)].candidate;
      if (KeyedRandom::to_real(draw(generation, i, kind)) < options.crossing) {
        const C& other = now[KeyedRandom::to_below(draw(generation, i, father), count)].candidate;
        pool.push_back(individual(parent.crossed(other, draw(generation, i, step))));
      } else {
        pool.push_back(individual(parent.neighbour(draw(generation, i, step))));
      }
    }
    std::ranges::sort(pool, std::less<>());
    // Each one once: otherwise copies of the fittest fill the population, and little that is new comes of it.
    const auto copies = std::ranges::unique(pool, [](const Individual& a, const Individual& b) { return !(a < b); });
    pool.erase(copies.begin(), copies.end());
    if (pool.front().fitness < found.fitness) {
      found.best = pool.front().candidate;
      found.fitness = pool.front().fitness;
    }
    found.curve.push_back(found.fitness);
    now.assign(pool.begin(), pool.begin() + static_cast<std::ptrdiff_t>(std::min({elite, count, pool.size()})));
    for (std::size_t i = now.size(); i < count; ++i) {
      // The pool is sorted: of two the one that comes first is the fitter one.
      const auto a = KeyedRandom::to_below(draw(generation, i, rival, 0), pool.size());
      const auto b = KeyedRandom::to_below(draw(generation, i, rival, 1), pool.size());
      now.push_back(pool[std::min(a, b)]);
    }
  }
  return found;
}

}  // namespace tessera::program::search
