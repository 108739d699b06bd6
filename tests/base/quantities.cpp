#include "tessera/base/quantities.hpp"

#include <catch2/catch.hpp>
#include <concepts>
#include <type_traits>

#include "tessera/base/config.hpp"

using namespace tessera;

namespace {

template <class A, class B>
concept adds = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept multiplies = requires(A a, B b) {
  a* b;
};
template <class A, class B>
concept divides = requires(A a, B b) {
  a / b;
};
template <class A, class B>
concept compares = requires(A a, B b) {
  a == b;
};
template <class Amount, class Rate>
concept lasts = requires(Amount amount, Rate rate) {
  duration_at_rate(amount, rate);
};

}  // namespace

TEST_CASE("a quantity is a 64-bit count") {
  STATIC_REQUIRE(sizeof(Bytes) == sizeof(std::int64_t));
  STATIC_REQUIRE(std::is_trivially_copyable_v<Bytes>);
  STATIC_REQUIRE(Bytes{}.value() == 0);
  STATIC_REQUIRE(Bytes{4096}.value() == 4096);
}

TEST_CASE("a quantity is made explicitly, and is not another one") {
  STATIC_REQUIRE(!std::convertible_to<std::int64_t, Bytes>);
  STATIC_REQUIRE(!std::convertible_to<Bytes, std::int64_t>);
  STATIC_REQUIRE(!std::constructible_from<Bytes, Flop>);
  STATIC_REQUIRE(!std::constructible_from<BytesPerSecond, Duration>);
  STATIC_REQUIRE(!std::assignable_from<Bytes&, std::int64_t>);
}

TEST_CASE("what makes sense can be computed") {
  STATIC_REQUIRE(Bytes{3} + Bytes{4} == Bytes{7});
  STATIC_REQUIRE(Bytes{3} - Bytes{4} == Bytes{-1});
  STATIC_REQUIRE(3 * Bytes{4} == Bytes{4} * 3);
  STATIC_REQUIRE(Bytes{14} / 3 == Bytes{4});
  STATIC_REQUIRE(Bytes{14} / Bytes{4} == 3);
  STATIC_REQUIRE(Bytes{14} % Bytes{4} == Bytes{2});
  STATIC_REQUIRE(Bytes{4} < Bytes{14});
  Bytes sum{1};
  sum += Bytes{9};
  sum -= Bytes{2};
  sum *= 4;
  CHECK(sum == Bytes{32});
}

TEST_CASE("what makes no sense does not compile") {
  STATIC_REQUIRE(adds<Bytes, Bytes>);
  STATIC_REQUIRE(!adds<Bytes, Flop>);
  STATIC_REQUIRE(!adds<Bytes, std::int64_t>);
  STATIC_REQUIRE(multiplies<Bytes, std::int64_t>);
  STATIC_REQUIRE(!multiplies<Bytes, Bytes>);
  STATIC_REQUIRE(!divides<Bytes, Flop>);
  STATIC_REQUIRE(!divides<Bytes, BytesPerSecond>);  // duration_at_rate says how it rounds
  STATIC_REQUIRE(!compares<Bytes, BytesPerSecond>);
  STATIC_REQUIRE(!compares<Bytes, int>);
}

TEST_CASE("an amount takes its time at a rate of its own kind, in that order") {
  STATIC_REQUIRE(lasts<Bytes, BytesPerSecond>);
  STATIC_REQUIRE(lasts<Flop, FlopPerSecond>);
  STATIC_REQUIRE(!lasts<BytesPerSecond, Bytes>);
  STATIC_REQUIRE(!lasts<Bytes, FlopPerSecond>);
  STATIC_REQUIRE(!lasts<Flop, BytesPerSecond>);
  STATIC_REQUIRE(!lasts<std::int64_t, std::int64_t>);
  STATIC_REQUIRE(duration_at_rate(Flop{1}, FlopPerSecond{3}) == 333'333'333'334);
}

TEST_CASE("the type of a key's member says how the key is written") {
  struct Spec {
    BytesPerSecond bandwidth;
    Duration latency;
    Bytes buffer;
    FlopPerSecond peak;
  };
  config::Schema<Spec> schema("spec", "a spec");
  schema.quantity("bandwidth", &Spec::bandwidth, "of a link").at_least("1 B/s");
  schema.quantity("latency", &Spec::latency, "of a link").otherwise("500 ns");
  schema.quantity("buffer", &Spec::buffer, "in front of it").optional();
  schema.quantity("peak", &Spec::peak, "of all cores");

  config::Diagnostics diagnostics;
  const auto table = config::parse_toml("bandwidth = \"150 GB/s\"\npeak = \"2 TFLOP/s\"\n", "spec.toml", diagnostics);
  const Spec spec = schema.read(*table, diagnostics);
  CHECK(diagnostics.ok());
  CHECK(spec.bandwidth == BytesPerSecond{150'000'000'000});
  CHECK(spec.latency == Duration{500 * nanosecond});
  CHECK(spec.buffer == Bytes{0});
  CHECK(spec.peak == FlopPerSecond{2'000'000'000'000});

  config::Table written;
  schema.write({spec.bandwidth, spec.latency, Bytes{4096}, spec.peak}, written);
  CHECK(*written.find("buffer")->string() == "4 KiB");
  CHECK(*written.find("latency")->string() == "500 ns");

  const auto swapped = config::parse_toml("bandwidth = \"150 GB\"\npeak = \"2 TB/s\"\n", "spec.toml", diagnostics);
  (void)schema.read(*swapped, diagnostics);
  CHECK(diagnostics.errors().size() == 2);
  CHECK(config::format_quantity(Bytes{4096}) == "4 KiB");
  CHECK(config::format_rounded(BytesPerSecond{150'000'000'000}) == "150 GB/s");
}
