// Bandwidths, latencies and sizes of a machine have types of their own: in another's place they do not compile.
#include <catch2/catch.hpp>
#include <concepts>

#include "tessera/machine/link_loads.hpp"
#include "tessera/machine/network_builder.hpp"

using namespace tessera;
using namespace tessera::machine;

namespace {

constexpr NodeId from = 0, to = 1;
constexpr std::uint16_t link_class = 0;
constexpr BytesPerSecond bandwidth{100'000'000'000};
constexpr Duration latency{500 * nanosecond};

template <class... Arguments>
concept adds_link = requires(NetworkBuilder builder, Arguments... arguments) {
  builder.add_link(arguments...);
  builder.add_links_both_ways(arguments...);
};
template <class... Fields>
concept makes_link = requires(Fields... fields) {
  Link{fields...};
};
template <class... Arguments>
concept adds_load = requires(LinkLoads loads, Arguments... arguments) {
  loads.add(arguments...);
};

}  // namespace

TEST_CASE("a link's bandwidth, latency and class cannot change places") {
  STATIC_REQUIRE(adds_link<NodeId, NodeId, BytesPerSecond, Duration, std::uint16_t>);
  STATIC_REQUIRE(!adds_link<NodeId, NodeId, Duration, BytesPerSecond, std::uint16_t>);
  STATIC_REQUIRE(!adds_link<NodeId, NodeId, BytesPerSecond, std::uint16_t, Duration>);
  STATIC_REQUIRE(!adds_link<NodeId, BytesPerSecond, NodeId, Duration, std::uint16_t>);
  STATIC_REQUIRE(!adds_link<NodeId, NodeId, std::int64_t, Time, std::uint16_t>);  // bare numbers

  STATIC_REQUIRE(makes_link<NodeId, NodeId, BytesPerSecond, Duration, std::uint16_t, bool>);
  STATIC_REQUIRE(!makes_link<NodeId, NodeId, Duration, BytesPerSecond, std::uint16_t, bool>);

  NetworkBuilder builder(2);
  REQUIRE(builder.link_class("wire") == link_class);
  builder.add_link(from, to, bandwidth, latency, link_class);
  const Network network = builder.finish();
  CHECK(network.links.at(0).bandwidth == bandwidth);
  CHECK(network.links.at(0).latency == latency);
}

TEST_CASE("bytes that a device sends another are not a device") {
  STATIC_REQUIRE(adds_load<int, int, Bytes>);
  STATIC_REQUIRE(!adds_load<Bytes, int, int>);
  STATIC_REQUIRE(!adds_load<int, Bytes, int>);
}

TEST_CASE("of a device, a rate of memory is neither its capacity nor a peak") {
  STATIC_REQUIRE(!std::assignable_from<decltype((DeviceSpec{}.memory_bandwidth)), Bytes>);
  STATIC_REQUIRE(!std::assignable_from<decltype((DeviceSpec{}.memory_capacity)), BytesPerSecond>);
  STATIC_REQUIRE(!std::assignable_from<decltype((DeviceSpec{}.peak["fp16"])), BytesPerSecond>);
  STATIC_REQUIRE(!std::assignable_from<decltype((DeviceSpec{}.cache)), std::int64_t>);
}
