// Random requests against a channel that knows no shortcuts.
#include <catch2/catch.hpp>

#include <array>
#include <map>

#include "plain_channel.hpp"
#include "tessera/base/config.hpp"
#include "tessera/base/random.hpp"

using namespace tessera;
using namespace tessera::sim;

namespace {

/// Numbers drawn one after the other.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed, random_stream("memory channel")) {}
  std::uint64_t below(std::uint64_t count) { return random_.below(next_++, count); }
  std::uint32_t number(std::uint32_t from, std::uint32_t to) {
    return from + static_cast<std::uint32_t>(below(to - from + 1));
  }
  template <class T, std::size_t n>
  T one_of(const std::array<T, n>& choices) {
    return choices[below(n)];
  }

 private:
  KeyedRandom random_;
  std::uint64_t next_ = 0;
};

ChannelSpec draw_spec(Draws& draws) {
  ChannelSpec spec;
  spec.clock_period = draws.number(1, 20);
  spec.banks = draws.one_of(std::array<std::uint32_t, 4>{1, 3, 8, 16});
  spec.bank_groups = draws.number(1, 6);
  spec.row_blocks = draws.number(1, 8);
  spec.ccds = draws.number(1, 2);
  spec.ccdl = draws.number(1, 4);
  spec.ccdwl = draws.number(1, 8);
  for (std::uint32_t* timing :
       {&spec.rcd, &spec.rp, &spec.rrd, &spec.rtp, &spec.wr, &spec.wtr, &spec.rtw, &spec.cl, &spec.cwl})
    *timing = draws.number(0, 20);
  // A row is open only when the next one of another bank may be: no real memory is otherwise.
  spec.rcdwr = std::max(spec.rrd, draws.number(0, spec.rcd));
  spec.rcd = std::max(spec.rcd, spec.rcdwr);
  spec.ras = draws.number(0, 40);
  spec.rc = draws.number(0, 60);
  spec.latency = draws.number(0, 100'000);
  spec.queue = draws.one_of(std::array<std::uint32_t, 4>{1, 8, 30, 64});
  spec.max_bypass = draws.one_of(std::array<std::uint32_t, 4>{0, 4, 32, 1'000'000});
  return spec;
}

ArbitrationSpec draw_rules(Draws& draws, const ChannelSpec& spec, const std::string& policy) {
  return {policy, draws.one_of(std::array<std::uint32_t, 5>{0, 5, 10, 30, unlimited_occupancy}),
          draws.number(0, 400) * spec.clock_period + draws.number(0, 3)};
}

/// From 1 to 20 bursts, often 4.
MemoryRequest draw_request(Draws& draws, BlockId block, std::uint32_t communication_of_8) {
  const std::uint32_t bytes = draws.below(2) == 0 ? 256 : draws.number(1, 20 * 64);
  const auto op = static_cast<MemoryOp>(draws.below(3));
  const bool is_communication = draws.below(8) < communication_of_8;
  MemoryRequest drawn =
      request(op, block, bytes, is_communication ? MemoryStream::communication : MemoryStream::compute);
  drawn.place = static_cast<std::uint32_t>(draws.below(512));
  return drawn;
}

/// Now and then the producer begins, ends or changes its threshold.
void draw_change(Draws& draws, Time now, ChannelCase& test, PlainChannel& plain) {
  test.run_until(now);
  const std::uint64_t what = draws.below(3);
  if (what == 2) {
    const std::uint32_t bursts = draws.number(1, 40);
    test.channel().set_threshold(now, bursts);
    plain.set_threshold(now, bursts);
  } else {
    what == 0 ? test.channel().producer_began(now) : test.channel().producer_ended(now);
    plain.set_draining(now, what == 1);
  }
}

struct Load {
  std::uint64_t requests = 0;
  std::uint64_t together = 0;  ///< one in so many comes at another time than the one before it
  std::uint32_t communication_of_8 = 0;
  std::uint64_t gap = 0;         ///< ps, at most
  std::uint64_t again_of_8 = 0;  ///< touch the block of one of the eight before; the others the one of their number
};

Load draw_load(Draws& draws, const ChannelSpec& spec, std::uint64_t requests) {
  Load load;
  load.requests = requests;
  load.together = 1 + draws.below(8);
  load.communication_of_8 = draws.number(1, 7);
  // About 7 bursts a request; from a quarter to twice of what the bus can
  // carry.
  const std::uint64_t mean = 14 * spec.ccdl * static_cast<std::uint64_t>(spec.clock_period) * load.together;
  load.gap = 1 + mean * (1 + draws.below(8));
  load.again_of_8 = draws.below(4);
  return load;
}

void feed(Draws& draws, const Load& load, ChannelCase& test, PlainChannel& plain) {
  Time now = 0;
  for (BlockId number = 0; number < load.requests; ++number) {
    if (draws.below(load.together) == 0) now += static_cast<Time>(draws.below(load.gap));
    if (draws.below(100) == 0) draw_change(draws, now, test, plain);
    const bool again = number >= 8 && draws.below(8) < load.again_of_8;
    const MemoryRequest drawn =
        draw_request(draws, again ? number - 1 - draws.below(8) : number, load.communication_of_8);
    test.push(now, drawn);
    plain.push(now, drawn);
  }
  test.run();
  plain.run_until(never - 1);
}

}  // namespace

TEST_CASE("memory channel: a hundred thousand requests are served as one by one") {
  constexpr std::uint64_t repeats = 100;
  constexpr std::uint64_t requests = 1'000;
  for (std::uint64_t repeat = 0; repeat < repeats; ++repeat) {
    INFO("repeat " << repeat);
    Draws draws(repeat);
    const ChannelSpec spec = draw_spec(draws);
    const ArbitrationSpec rules = draw_rules(draws, spec, config::names_of(arbitration_kinds())[repeat % 3]);
    ChannelCase test(spec, rules);
    PlainChannel plain(spec, rules);
    feed(draws, draw_load(draws, spec, requests), test, plain);
    REQUIRE(test.served.size() == requests);
    REQUIRE(test.entered == plain.entered);
    REQUIRE(test.served == plain.served);
    REQUIRE(test.channel().counts().busy == plain.busy);
    REQUIRE(test.channel().counts().turnarounds == plain.turns);
    REQUIRE(test.channel().counts().activations == plain.banks().activations);
    REQUIRE(test.channel().counts().row_hits == plain.banks().row_hits);
  }
}

TEST_CASE("memory channel: what is pushed is served once") {
  for (const std::string& policy : config::names_of(arbitration_kinds())) {
    Draws draws(7);
    const ChannelSpec spec;
    ChannelCase test(spec, {policy, 5, 1'000'000});
    for (BlockId block = 0; block < 20'000; ++block)
      test.push(static_cast<Time>(block) * 10'000, draw_request(draws, block, 4));
    test.run();
    std::map<BlockId, int> times;
    for (const Stamp& stamp : test.served) ++times[stamp.block];
    CHECK(times.size() == 20'000);
    CHECK(test.served.size() == 20'000);
    CHECK(test.channel().occupancy() == 0);
    std::int64_t transactions = 0;
    for (const std::int64_t count : test.channel().counts().transactions) transactions += count;
    CHECK(transactions == 20'000);
  }
}

TEST_CASE("memory channel: in steady state about one event a transaction") {
  Draws draws(3);
  const ChannelSpec spec;
  const ArbitrationSpec rules{"mca", 10, 10 * microsecond};
  ChannelCase test(spec, rules);
  for (BlockId block = 0; block < 50'000; ++block) {
    test.push(static_cast<Time>(block) * 16'000, draw_request(draws, block, 4));  // of about 14,000 and more
  }
  test.run();
  CHECK(test.served.size() == 50'000);
  CHECK(test.asked.size() < 52'000);
}
