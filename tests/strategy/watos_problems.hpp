// Problems of WATOS for tests: by hand, and drawn; and all ways to run a small one.
#pragma once

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "strategy/watos/fitness.hpp"
#include "strategy/watos/placement.hpp"
#include "tessera/base/random.hpp"

namespace tessera::strategy::watos {

/// A place of one die each, by rows: neighbours are two half steps apart.
inline std::vector<Place> dies_of(int columns, int rows) {
  std::vector<Place> places;
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) places.push_back({{static_cast<machine::NodeId>(places.size())}, 2 * x, 2 * y});
  return places;
}

/// Keeps one micro-batch, and runs nothing again: with 100 B a die, `bytes` beyond them are to be lent, all of it away
/// at once; less than 0: so much is to spare.
inline StageProblem stage_over(std::int64_t bytes, Time forward = 1, Time time = 3) {
  StageProblem stage;
  stage.kept = {60};
  stage.fixed = {100 + bytes - 60};
  stage.forward = {forward};
  stage.time = {{time}};
  stage.front = {0};
  return stage;
}

/// Those stages on dies of a grid.
inline Problem problem_of(std::vector<StageProblem> stages, int columns, int rows) {
  Problem problem;
  problem.stages = std::move(stages);
  problem.sets = {0};
  problem.places = dies_of(columns, rows);
  problem.memory = 100;
  problem.part_bytes = 10;
  problem.update = {0};
  return problem;
}

/// Stage after stage at the first places, all with the first set, without pairs.
inline Solution in_order(const Problem& problem) {
  Solution solution;
  solution.sets.assign(problem.count(), 0);
  solution.places.resize(problem.count() * problem.replicas);
  std::iota(solution.places.begin(), solution.places.end(), std::uint16_t{0});
  return solution;
}

struct DrawnSizes {
  std::size_t stages = 3, sections = 2;
  int columns = 2, rows = 2;
};

/// Sections of drawn times and bytes, all sets of them, by the time that they take. The first stages keep most, and can
/// lend; the memory is such that some of that is needed. Each second place is slower by a tenth.
inline Problem drawn_problem(std::uint64_t key, const DrawnSizes& sizes) {
  const KeyedRandom random(key, random_stream("watos: drawn problem"));
  std::uint64_t next = 0;
  const auto draw = [&](std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(random.below(next++, static_cast<std::uint64_t>(to - from + 1)));
  };
  std::vector<Time> times;
  std::vector<std::int64_t> bytes;
  for (std::size_t i = 0; i < sizes.sections; ++i) {
    times.push_back(draw(1, 40));
    bytes.push_back(draw(5, 50));
  }
  const auto sum_of = [&](const auto& all, std::uint64_t bits) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) sum += (bits >> i & 1U) != 0 ? all[i] : 0;
    return sum;
  };
  Problem problem;
  problem.sets.resize(std::size_t{1} << sizes.sections);
  std::iota(problem.sets.begin(), problem.sets.end(), std::uint64_t{0});
  std::ranges::stable_sort(problem.sets, {}, [&](std::uint64_t bits) { return sum_of(times, bits); });
  const std::uint64_t every = problem.sets.size() - 1;
  const auto depth = static_cast<std::int64_t>(sizes.stages);
  for (std::int64_t stage = 0; stage < depth; ++stage) {
    StageProblem one;
    one.in_flight = one.at_once = depth - stage;
    one.resident = draw(0, 1);
    const std::int64_t held = draw(0, 40), edge = draw(0, 10);
    const Time forward = draw(20, 30), backward = 2 * forward;
    one.forward = {forward, forward + forward / 10};
    one.time.resize(2);
    for (const std::uint64_t again : problem.sets) {
      one.kept.push_back(edge + sum_of(bytes, every & ~again));
      one.fixed.push_back(held);
      const Time time = forward + backward + sum_of(times, again);
      one.time[0].push_back(time);
      one.time[1].push_back(time + time / 10);
    }
    for (std::size_t set = 0; set < problem.sets.size(); ++set) {
      const auto beats = [&](std::size_t other) {
        return one.kept[other] <= one.kept[set] && one.time[0][other] <= one.time[0][set] &&
               (one.kept[other] < one.kept[set] || one.time[0][other] < one.time[0][set] || other < set);
      };
      bool is_beaten = false;
      for (std::size_t other = 0; other < problem.sets.size(); ++other) is_beaten = is_beaten || beats(other);
      if (!is_beaten) one.front.push_back(set);
    }
    problem.stages.push_back(std::move(one));
  }
  problem.places = dies_of(sizes.columns, sizes.rows);
  for (std::size_t place = 1; place < problem.places.size(); place += 2) problem.places[place].pace = 1;
  problem.memory = 60 + draw(40, 70) * depth * static_cast<std::int64_t>(sizes.sections) / 4;
  problem.part_bytes = draw(1, 20);
  problem.micro_batches = 2 * depth;
  problem.update = {0, 0};
  problem.start = serpentines(problem).front();
  return problem;
}

/// What tells two solutions apart that are run differently: sets, places, and who lends how much to whom.
using Decoded = std::tuple<std::vector<std::uint16_t>, std::vector<std::uint16_t>, std::map<Pair, std::int64_t>>;

inline Decoded decoded(const Problem& problem, const Solution& solution) {
  std::map<Pair, std::int64_t> loans;
  for (const PairedBytes& loan : lend(problem, solution).loans) loans[loan.pair] += loan.bytes;
  return {solution.sets, solution.places, loans};
}

/// All sets of all stages.
inline std::vector<std::vector<std::uint16_t>> all_sets(const Problem& problem) {
  std::vector<std::vector<std::uint16_t>> all = {{}};
  for (std::size_t stage = 0; stage < problem.count(); ++stage) {
    std::vector<std::vector<std::uint16_t>> longer;
    for (const auto& before : all) {
      for (std::uint16_t set = 0; set < problem.sets.size(); ++set) {
        longer.push_back(before);
        longer.back().push_back(set);
      }
    }
    all = std::move(longer);
  }
  return all;
}

/// All places of all stages and replicas, no two at one.
inline std::vector<std::vector<std::uint16_t>> all_places(const Problem& problem) {
  std::vector<std::vector<std::uint16_t>> all = {{}};
  for (std::size_t i = 0; i < problem.count() * problem.replicas; ++i) {
    std::vector<std::vector<std::uint16_t>> longer;
    for (const auto& before : all) {
      for (std::uint16_t place = 0; place < problem.places.size(); ++place) {
        if (std::ranges::find(before, place) != before.end()) continue;
        longer.push_back(before);
        longer.back().push_back(place);
      }
    }
    all = std::move(longer);
  }
  return all;
}

/// Of all orders of all pairs of a sender and a helper, one for each way to share out that suffices; one without pairs
/// where nobody has to lend.
inline std::vector<std::vector<Pair>> all_pairs(const Problem& problem, const std::vector<std::uint16_t>& sets) {
  std::vector<Pair> pairs;
  for (std::uint32_t sender = 0; sender < problem.count(); ++sender) {
    if (to_lend(problem, sender, sets[sender]) == 0) continue;
    for (std::uint32_t helper = 0; helper < problem.count(); ++helper)
      if (demand(problem, helper, sets[helper]) < 0) pairs.push_back({sender, helper});
  }
  Solution solution{sets, {}, pairs};
  std::set<std::map<Pair, std::int64_t>> known;
  std::vector<std::vector<Pair>> all;
  do {
    if (!lend(problem, solution).is_enough) continue;
    if (known.insert(std::get<2>(decoded(problem, solution))).second) all.push_back(solution.pairs);
  } while (std::ranges::next_permutation(solution.pairs).found);
  return all;
}

/// The least fitness of all solutions; at most is known of none: 0.
inline Int128 least_fitness(const Judge& judge) {
  const Problem& problem = judge.problem();
  const std::vector<std::vector<std::uint16_t>> places = all_places(problem);
  Int128 least = 0;
  for (const std::vector<std::uint16_t>& sets : all_sets(problem)) {
    for (const std::vector<Pair>& pairs : all_pairs(problem, sets)) {
      Solution solution{sets, {}, pairs};
      for (const std::vector<std::uint16_t>& one : places) {
        solution.places = one;
        const Int128 fitness = judge.score(solution).fitness;
        if (least == 0 || fitness < least) least = fitness;
      }
    }
  }
  return least;
}

}  // namespace tessera::strategy::watos
