// The genetic search on candidates whose optimum is known.
#include "tessera/program/search/genetic.hpp"

#include <catch2/catch.hpp>

#include <bit>
#include <map>

using namespace tessera;
using namespace tessera::program::search;

namespace {

/// Twenty bits; a neighbour has one turned, a child the lower ones of one parent and the upper ones of the other.
struct Bits {
  static constexpr std::uint64_t count = 20;
  std::uint64_t bits = 0;

  [[nodiscard]] Bits neighbour(std::uint64_t key) const {
    return {bits ^ (std::uint64_t{1} << KeyedRandom::to_below(key, count))};
  }
  [[nodiscard]] Bits crossed(const Bits& other, std::uint64_t key) const {
    const std::uint64_t upper = ~std::uint64_t{0} << KeyedRandom::to_below(key, count);
    return {(bits & ~upper) | (other.bits & upper)};
  }
  [[nodiscard]] std::string text() const { return std::to_string(bits); }
  auto operator<=>(const Bits&) const = default;
};

/// The bits that are not one.
Int128 zeros(const Bits& candidate) { return Bits::count - static_cast<std::uint64_t>(std::popcount(candidate.bits)); }

/// The bits that are not one, and what is asked for along the way.
struct Asked {
  std::vector<std::uint64_t> all;
  Int128 operator()(const Bits& candidate) {
    all.push_back(candidate.bits);
    return zeros(candidate);
  }
};

std::vector<std::uint64_t> asked_by(const GeneticOptions& options) {
  Asked asked;
  const auto fitness = [&](const Bits& candidate) { return asked(candidate); };
  static_cast<void>(breed(Bits(), fitness, options));
  return asked.all;
}

bool never_rises(const std::vector<Int128>& curve) { return std::ranges::is_sorted(curve, std::greater<>()); }

}  // namespace

TEST_CASE("genetic search: all bits become one, whatever share of the fittest stays") {
  for (const double elitism : {0.0, 0.5, 1.0}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(elitism, seed);
      GeneticOptions options;
      options.seed = seed;
      options.population = 40;
      options.elitism = elitism;
      const Bred<Bits> found = breed(Bits(), zeros, options);
      CHECK(found.fitness == 0);
      CHECK(found.best.bits == (1U << Bits::count) - 1);
      CHECK(found.curve.size() == 101);
      CHECK(found.curve.front() == 19);  // neighbours of the start have one bit
      CHECK(found.curve.back() == 0);
      CHECK(never_rises(found.curve));
    }
  }
}

TEST_CASE("genetic search: the same for a seed; another seed or another search draws something else") {
  GeneticOptions options;
  options.population = 20;
  options.generations = 10;
  const std::vector<std::uint64_t> first = asked_by(options);
  // The start and 19 neighbours, then 20 children a generation.
  CHECK(first.size() == 20 + 10 * 20);
  CHECK(asked_by(options) == first);
  options.seed = 2;
  CHECK(asked_by(options) != first);
  options.seed = 1;
  options.search = 1;
  CHECK(asked_by(options) != first);
}

TEST_CASE("genetic search: no generation is the start and its neighbours, and two individuals are the fewest") {
  GeneticOptions options;
  options.generations = 0;
  options.population = 50;
  Bred<Bits> found = breed(Bits(), zeros, options);
  CHECK(found.curve == std::vector<Int128>{19});
  CHECK(found.fitness == 19);
  // A start that nothing is better than stays.
  found = breed(Bits{(1U << Bits::count) - 1}, zeros, options);
  CHECK(found.fitness == 0);
  CHECK(found.curve == std::vector<Int128>{0});
  for (const std::int64_t population : {-1, 0, 1, 2}) {
    CAPTURE(population);
    options.population = population;
    CHECK(asked_by(options).size() == 2);
  }
  // Two suffice where there is time.
  options.population = 2;
  options.generations = 2000;
  CHECK(breed(Bits(), zeros, options).fitness == 0);
}

TEST_CASE("genetic search: of equals the one that comes first is taken") {
  // Each bit is as good as another one: of the start's neighbours the least number is kept, whoever drew it.
  GeneticOptions options;
  options.generations = 0;
  options.population = 500;
  CHECK(breed(Bits(), zeros, options).best.bits == 1);
}

TEST_CASE("genetic search: children have two parents as often as is said") {
  // A crossing is asked of its first parent, and counted there.
  struct Counted {
    int crossings = 0;
    [[nodiscard]] Counted neighbour(std::uint64_t) const { return {0}; }
    [[nodiscard]] Counted crossed(const Counted&, std::uint64_t) const { return {1}; }
    [[nodiscard]] std::string text() const { return {}; }
    auto operator<=>(const Counted&) const = default;
  };
  const auto crossings = [](double share) {
    GeneticOptions options;
    options.crossing = share;
    std::int64_t all = 0;
    const auto fitness = [&](const Counted& one) {
      all += one.crossings;
      return Int128{1};
    };
    static_cast<void>(breed(Counted(), fitness, options));
    return all;
  };
  CHECK(crossings(0) == 0);
  CHECK(crossings(1) == 100 * 100);
  // Of 10,000 children two in ten, within five times the deviation of 40.
  CHECK(std::abs(crossings(0.2) - 2000) < 200);
}
