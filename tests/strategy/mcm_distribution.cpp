// How SAMPLE draws a chip of what a domain has left.
#include "strategy/mcm/distribution.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "mcm_graphs.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::strategy::mcm;
using namespace tessera::strategy::mcm::tests;

namespace {

ChipSet chips_of(std::initializer_list<std::uint32_t> chips) {
  ChipSet set;
  for (const std::uint32_t chip : chips) set.insert(chip);
  return set;
}

// Shares of 100,000 draws.
std::map<ChipId, double> shares(const Distribution& distribution, NodeId node, const ChipSet& domain) {
  const KeyedRandom random(1, random_stream("mcm test draws"));
  std::map<ChipId, double> result;
  for (std::uint64_t index = 0; index < 100'000; ++index)
    result[distribution.draw(node, domain, random.bits(index))] += 1e-5;
  return result;
}

}  // namespace

TEST_CASE("uniform: all chips of the domain alike, also in its fourth word", "[mcm]") {
  const auto found = shares(Distribution::uniform(), 0, chips_of({3, 64, 200, 255}));
  REQUIRE(found.size() == 4);
  for (const auto& [chip, share] : found) CHECK(share == Approx(0.25).margin(0.01));
}

TEST_CASE("weights: in their proportion, a zero never, and alike where a domain has none", "[mcm]") {
  const std::vector<float> weights = {0, 0, 0, 0, /**/ 1, 2, 0, 5};
  const Distribution distribution = Distribution::weights(weights, 2, 4);
  // Node 1 on {0, 1, 2}: 1 to 2 to 0.
  const auto found = shares(distribution, 1, chips_of({0, 1, 2}));
  REQUIRE(found.size() == 2);
  CHECK(found.at(0) == Approx(1.0 / 3).margin(0.01));
  CHECK(found.at(1) == Approx(2.0 / 3).margin(0.01));
  CHECK(shares(distribution, 1, chips_of({2})).at(2) == Approx(1.0));
  CHECK(shares(distribution, 0, chips_of({1, 3})).at(3) == Approx(0.5).margin(0.01));
  CHECK(distribution.draw(1, chips_of({0, 3}), ~std::uint64_t{0}) == 3);  // the largest draw
}

TEST_CASE("normal: e^(-d^2 / 2) at a distance of d widths, and the nearest chip from afar", "[mcm]") {
  const Distribution distribution = Distribution::normal({2.0, -0.5, 35.5}, 0.5, 36);
  // Chips 1, 2, 3 round a centre of 2 are 2, 0 and 2 widths away.
  const auto found = shares(distribution, 0, chips_of({1, 2, 3}));
  const double side = std::exp(-2.0) / (1 + 2 * std::exp(-2.0));
  CHECK(found.at(1) == Approx(side).margin(0.01));
  CHECK(found.at(3) == Approx(side).margin(0.01));
  // 40 widths and more away no weight is left.
  CHECK(shares(distribution, 0, chips_of({25, 30})).at(25) == Approx(1.0));
  CHECK(shares(distribution, 1, chips_of({0})).at(0) == Approx(1.0));
  CHECK(shares(distribution, 2, chips_of({0, 4})).at(4) == Approx(1.0));
}

TEST_CASE("centres: the middle of each node's share of the time", "[mcm]") {
  // A chain of three on 4 chips, 1 + 2 + 1 of 4 in time: a node a chip, but the second takes two. In chips from 0 to 4
  // the middles are 0.5, 2 and 3.5; chip 0's middle is 0.
  CHECK(centres_by_time(chain_of(3, 4), std::vector<double>{1, 2, 1}) == std::vector<double>{0, 1.5, 3});
  // No node takes time: as if all took the same.
  CHECK(centres_by_time(chain_of(2, 2), std::vector<double>{0, 0}) == std::vector<double>{0, 1});
}

TEST_CASE("distributions that are none are refused", "[mcm]") {
  const std::vector<float> three = {1, 1, 1}, negative = {1, -1}, none = {1, NAN};
  CHECK_THROWS_WITH(Distribution::weights(three, 2, 2), "3 weights for 2 nodes on 2 chips");
  CHECK_THROWS_WITH(Distribution::weights(negative, 1, 2), "a weight of -1: weights are numbers from 0 on");
  CHECK_THROWS_AS(Distribution::weights(none, 1, 2), InputError);
  CHECK_THROWS_WITH(Distribution::normal({0}, 0, 4), "a prior of width 0: it must be above 0");
  Partitioner partitioner(chain_of(2, 4), "chain");
  CHECK_THROWS_WITH(partitioner.sample(Distribution::normal({0}, 1, 4), 1, 0),
                    "a distribution of 1 nodes over 4 chips for 2 over 4");
  CHECK_THROWS_WITH(centres_by_time(chain_of(2, 2), std::vector<double>{1}), "1 times for 2 nodes");
}
