#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "tessera/base/random.hpp"

using namespace tessera;

TEST_CASE("a draw is the published Philox2x64-10 function of its key and counter") {
  // Random123's known answers (kat_vectors): key 0, counter (0, 0), and all bits set.
  CHECK(KeyedRandom(0, 0).pair(0) == std::array<std::uint64_t, 2>{0xca00a0459843d731U, 0x66c24222c9a845b5U});
  const std::uint64_t ones = ~std::uint64_t{0};
  CHECK(KeyedRandom(ones, ones).pair(ones) == std::array<std::uint64_t, 2>{0x65b021d60cd8310fU, 0x4d02f3222f86df20U});
}

TEST_CASE("draws of other seeds, streams and indices differ, and the order of asking is nothing") {
  const KeyedRandom a(1, 2);
  const auto later = a.bits(1000), earlier = a.bits(3);
  CHECK(a.bits(3) == earlier);
  CHECK(a.bits(1000) == later);
  CHECK(a.bits(4) != earlier);
  CHECK(KeyedRandom(2, 2).bits(3) != earlier);
  CHECK(KeyedRandom(1, 3).bits(3) != earlier);
  static_assert(random_stream("a") != random_stream("b"));
}

TEST_CASE("reals and integers cover their range evenly") {
  const KeyedRandom random(7, random_stream("test"));
  // 10,000 draws in 10 bins: 1,000 each, with a standard deviation of 30. Five of them are 150.
  std::array<int, 10> reals{}, integers{};
  double sum = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const double x = random.real(i);
    REQUIRE((x >= 0 && x < 1));
    ++reals[static_cast<std::size_t>(x * 10)];
    const auto n = random.below(20'000 + i, 10);
    REQUIRE(n < 10);
    ++integers[n];
    sum += random.exponential(40'000 + i, 2.0);
  }
  for (const int count : reals) CHECK(std::abs(count - 1000) < 150);
  for (const int count : integers) CHECK(std::abs(count - 1000) < 150);
  // The mean of 10,000 exponential draws of mean 2 has a standard deviation of 0.02.
  CHECK(sum / 10'000 == Approx(2.0).margin(0.1));
  CHECK(random.below(1, 1) == 0);
  CHECK(KeyedRandom::to_below(~std::uint64_t{0}, 7) == 6);
  CHECK(KeyedRandom::to_real(~std::uint64_t{0}) < 1.0);
  CHECK(KeyedRandom::to_exponential(0, 5) == 0);
}

TEST_CASE("a shuffle is a permutation that depends on the key alone") {
  std::vector<int> items(100), again(100), sorted(100), other(100);
  for (auto* list : {&items, &again, &sorted, &other}) std::iota(list->begin(), list->end(), 0);
  shuffle(items, KeyedRandom(1, 1));
  shuffle(again, KeyedRandom(1, 1));
  shuffle(other, KeyedRandom(1, 2));
  CHECK(items == again);
  CHECK(items != other);
  CHECK(items != sorted);
  std::sort(items.begin(), items.end());
  CHECK(items == sorted);
  std::vector<int> empty;
  shuffle(empty, KeyedRandom(1, 1));
  CHECK(empty.empty());
}
