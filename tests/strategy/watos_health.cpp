#include <catch2/catch.hpp>

#include "strategy/watos/probe.hpp"

using namespace tessera::strategy::watos;

TEST_CASE("slow dies can be counted as dead from a share on", "[watos]") {
  Health health;
  health.dies = {1, 0.5003, 0.4996, 0, 0.97, 0.31};
  // 0.97 is sound and 0 is dead; both that run at half speed are alike, and 0.31 is four tenths at most.
  CHECK(slow_shares(health) == std::vector<double>{0.5, 0.4});
  CHECK(without_slow(health, 0.5).dies == std::vector<double>{1, 0, 0, 0, 0.97, 0});
  CHECK(without_slow(health, 0.4).dies == std::vector<double>{1, 0.5003, 0.4996, 0, 0.97, 0});
  CHECK(without_slow(health, 0.4).alive() == 4);
  health.dies = {1, 0.96, 0};
  CHECK(slow_shares(health).empty());
}
