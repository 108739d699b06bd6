// A memory's bandwidth as one server: by hand, and rounds at once against packet by packet.
#include <catch2/catch.hpp>

#include "sim/memory/memory_server.hpp"
#include "support/random_cases.hpp"
#include "tessera/base/random.hpp"

using namespace tessera;
using namespace tessera::test;
using sim::MemoryServer;
using sim::MemoryUser;

namespace {

constexpr MemoryUser product{MemoryUser::Kind::operators, 0};
MemoryUser message(std::uint64_t key) { return {MemoryUser::Kind::read, key}; }

/// What ends, in order.
std::vector<std::pair<MemoryUser, Time>> ends(MemoryServer& server, Time until) {
  std::vector<std::pair<MemoryUser, Time>> all;
  while (const auto end = server.end_until(until)) all.emplace_back(end->of, end->at);
  return all;
}

}  // namespace

TEST_CASE("memory server: flows take turns, a packet each") {
  // 1 GB/s, 1,000 ps a byte. Of 300, 200 and 200 B in packets of 100 B that come together: product, first and second
  // message have a packet each by 300 ns, a second one by 600 ns, of which the messages' are the last, at 500 and 600
  // ns; the product's third one is over at 700 ns.
  for (const bool takes_rounds : {false, true}) {
    MemoryServer server(1'000'000'000, 100, takes_rounds);
    server.add(0, message(2), 200);
    server.add(0, product, 300);
    server.add(0, message(1), 200);
    CHECK(ends(server, microsecond) ==
          std::vector<std::pair<MemoryUser, Time>>{{message(1), 500'000}, {message(2), 600'000}, {product, 700'000}});
  }
}

TEST_CASE("memory server: who comes later waits for the packet in service, and for those in line") {
  // The product alone has its first packet from 0 to 100 ns; what comes at 50 ns has the next one, 100 to 200 ns.
  MemoryServer server(1'000'000'000, 100, true);
  server.add(0, product, 250);
  CHECK_FALSE(server.end_until(50'000));
  server.add(50'000, message(1), 80);
  CHECK(server.end_until(microsecond)->at == 180'000);
  // 100 to 180 ns; then the product's 150 B.
  CHECK(server.end_until(microsecond)->at == 330'000);
  CHECK(server.is_idle());
}

TEST_CASE("memory server: a packet that is over when another flow comes stands before it in line") {
  MemoryServer server(1'000'000'000, 100, true);
  server.add(0, product, 200);
  CHECK_FALSE(server.end_until(100'000));
  server.add(100'000, message(1), 100);  // the product's second packet, in line again at the same time, goes first
  CHECK(server.end_until(microsecond)->of == product);
  CHECK(server.end_until(microsecond)->at == 300'000);
}

TEST_CASE("memory server: rounds at once give what packet by packet gives") {
  for (std::uint64_t index = 0; index < random_cases(2000); ++index) {
    CAPTURE(index);
    const KeyedRandom random(index, random_stream("memory server"));
    std::uint64_t draws = 0;
    const auto below = [&](std::uint64_t count) { return static_cast<std::int64_t>(random.below(draws++, count)); };
    const std::int64_t bandwidth = 1'000'000'000 + below(3) * 777'777'777, packet = 1 + below(200);
    MemoryServer rounds(bandwidth, packet, true), packets(bandwidth, packet, false);
    Time now = 0;
    std::uint64_t name = 0;
    for (int step = 0; step < 30; ++step) {
      now += below(40) * below(1000);
      CHECK(ends(rounds, now) == ends(packets, now));
      for (std::int64_t i = below(4); i > 0; --i) {
        const std::int64_t bytes = 1 + below(2000);
        rounds.add(now, message(++name), bytes);
        packets.add(now, message(name), bytes);
      }
    }
    CHECK(ends(rounds, second) == ends(packets, second));
  }
}
