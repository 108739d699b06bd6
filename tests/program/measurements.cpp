#include "tessera/program/measurements.hpp"

#include <catch2/catch.hpp>

using tessera::program::Measurements;

TEST_CASE("measurements: what is known is not measured again, from one text to the next") {
  Measurements first;
  int runs = 0;
  const auto measure = [&] { return ++runs; };
  CHECK(first.time("ring of 2", measure) == 1);
  CHECK(first.time("ring of 4", measure) == 2);
  CHECK(first.time("ring of 2", measure) == 1);
  CHECK(first.is_new());

  Measurements second;
  CHECK(second.add(first.text()));
  CHECK(second.text() == first.text());
  CHECK_FALSE(second.is_new());
  CHECK(second.time("ring of 4", measure) == 2);
  CHECK_FALSE(second.is_new());
  CHECK(second.time("ring of 8", measure) == 3);
  CHECK(second.is_new());
  CHECK(runs == 3);
}

TEST_CASE("measurements: a text that is not whole adds nothing") {
  Measurements known;
  static_cast<void>(known.time("ring of 2", [] { return 7; }));
  static_cast<void>(known.time("ring of 4", [] { return 9; }));
  const std::string whole = known.text();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    Measurements cut;
    CAPTURE(length);
    REQUIRE_FALSE(cut.add(whole.substr(0, length)));
    REQUIRE(cut.text() == Measurements().text());
  }
  std::string changed = whole;
  changed[changed.find("7 ring")] = '8';
  CHECK_FALSE(Measurements().add(changed));
}
