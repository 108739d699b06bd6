// A million random requests against a channel that is simulated burst by burst,
// request by request.
#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <map>

#include "memory_channel_case.hpp"
#include "tessera/base/random.hpp"

using namespace tessera;
using namespace tessera::sim;

namespace {

/// The rules as they stand in the text, without any shortcut. Service is worked
/// out clock edge by clock edge.
class PlainChannel {
 public:
  PlainChannel(const ChannelSpec& spec, const ArbitrationSpec& rules)
      : spec_(spec), rules_(rules), held_(spec.bank_groups, 0) {}

  /// All that happens until then, in order of time.
  void run_until(Time time) {
    while (next() <= time) step(next());
  }
  void push(Time now, const MemoryRequest& request) {
    run_until(now);
    std::deque<MemoryRequest>& stream = streams_[static_cast<std::size_t>(request.stream)];
    if (stream.empty() && request.stream == MemoryStream::communication) waiting_since_ = now;
    stream.push_back(request);
    step(now);
  }
  void set_threshold(Time now, std::uint32_t bursts) {
    run_until(now);
    rules_.threshold = bursts;
    step(now);
  }
  void set_draining(Time now, bool draining) {
    run_until(now);
    draining_ = draining;
    step(now);
  }

  std::vector<Stamp> entered;
  std::vector<Stamp> served;
  Time busy = 0;
  std::int64_t turns = 0;

 private:
  struct Waiting {
    MemoryRequest request;
    std::uint32_t overtaken = 0;  // bursts
  };

  [[nodiscard]] Time limit() const { return bursts_of(streams_[1].front().bytes) * rules_.starvation_limit; }
  [[nodiscard]] bool starves(Time now) const { return now - waiting_since_ >= limit(); }
  [[nodiscard]] std::uint32_t occupancy() const {
    std::uint32_t bursts = 0;
    for (const Waiting& waiting : queue_) bursts += bursts_of(waiting.request.bytes);
    return bursts;
  }
  /// When something may happen by itself.
  [[nodiscard]] Time next() const {
    Time time = queue_.empty() ? never : free_at_;
    if (rules_.policy == "mca" && !streams_[1].empty() && waiting_since_ + limit() > now_) {
      time = std::min(time, waiting_since_ + limit());
    }
    return time;
  }
  /// 0: compute, 1: communication, 2: none.
  [[nodiscard]] std::size_t chosen(Time now) const {
    const bool compute = !streams_[0].empty();
    const bool communication = !streams_[1].empty();
    if (rules_.policy == "mca" && communication) {
      if (starves(now)) return 1;
      if (!compute) return draining_ || occupancy() < rules_.threshold ? 1 : 2;
    }
    if (rules_.policy == "round-robin" && compute && communication) return turn_;
    return compute ? 0 : communication ? 1 : 2;
  }
  void fill(Time now) {
    for (std::size_t name = chosen(now); name < 2; name = chosen(now)) {
      const MemoryRequest request = streams_[name].front();
      if (!queue_.empty() && occupancy() + bursts_of(request.bytes) > spec_.queue) return;
      streams_[name].pop_front();
      queue_.push_back({request, 0});
      entered.push_back({request.block, now});
      turn_ = 1 - name;
      if (name == 1) waiting_since_ = now;
    }
  }
  [[nodiscard]] std::size_t best() const {
    std::size_t best = 0;
    while (best < queue_.size() && is_read(queue_[best].request) != reading_) ++best;
    if (best == queue_.size() || first_) return 0;
    for (std::size_t i = 0; i < best; ++i) {
      if (queue_[i].overtaken >= spec_.max_bypass) return i;
    }
    // Where an older one touches the same block, the oldest of the other direction is first.
    for (std::size_t i = 0; i < best; ++i) {
      if (queue_[i].request.block == queue_[best].request.block) return 0;
    }
    return best;
  }
  void serve(Time now) {
    const std::size_t index = best();
    const MemoryRequest request = queue_[index].request;
    for (std::size_t i = 0; i < index; ++i) queue_[i].overtaken += bursts_of(request.bytes);
    queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(index));
    const bool turned = !first_ && is_read(request) != reading_;
    Time start = std::max(now, free_at_ + (turned ? spec_.turnaround * spec_.clock_period : 0));
    turns += turned ? 1 : 0;
    const Time began = start;
    for (std::uint32_t i = 0; i < bursts_of(request.bytes); ++i) {
      Time& held = held_[(request.block * spec_.block_bursts + i) / spec_.group_bursts % spec_.bank_groups];
      start = std::max(start, held);
      if (request.op == MemoryOp::update) held = start + spec_.ccdwl * spec_.clock_period;
      start += spec_.ccdl * spec_.clock_period;
    }
    busy += start - began;
    free_at_ = start;
    first_ = false;
    reading_ = is_read(request);
    served.push_back({request.block, start + (reading_ ? spec_.latency : 0)});
  }
  void step(Time now) {
    now_ = now;
    fill(now);
    if (queue_.empty() || free_at_ > now) return;
    serve(now);
    fill(now);
  }
  [[nodiscard]] static bool is_read(const MemoryRequest& request) { return request.op == MemoryOp::read; }

  ChannelSpec spec_;
  ArbitrationSpec rules_;
  std::array<std::deque<MemoryRequest>, 2> streams_;
  std::vector<Waiting> queue_;  // oldest first
  std::vector<Time> held_;      // by bank group
  Time free_at_ = 0;
  Time waiting_since_ = 0;
  Time now_ = -1;
  std::size_t turn_ = 0;
  bool draining_ = false;
  bool first_ = true;
  bool reading_ = true;
};

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
  spec.clock_period = draws.number(1, 2'000);
  spec.ccdl = draws.number(1, 3);
  spec.ccdwl = draws.number(0, 12);
  spec.bank_groups = draws.number(1, 6);
  spec.group_bursts = draws.number(1, 5);
  spec.block_bursts = draws.number(1, 9);
  spec.turnaround = draws.number(0, 15);
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
  const bool communication = draws.below(8) < communication_of_8;
  return request(op, block, bytes, communication ? MemoryStream::communication : MemoryStream::compute);
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
  const std::uint64_t mean = 7 * spec.ccdl * static_cast<std::uint64_t>(spec.clock_period) * load.together;
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

TEST_CASE("memory channel: a million requests are served as burst by burst") {
  constexpr std::uint64_t repeats = 100;
  constexpr std::uint64_t requests = 10'000;
  for (std::uint64_t repeat = 0; repeat < repeats; ++repeat) {
    INFO("repeat " << repeat);
    Draws draws(repeat);
    const ChannelSpec spec = draw_spec(draws);
    const ArbitrationSpec rules = draw_rules(draws, spec, arbitration_names()[repeat % 3]);
    ChannelCase test(spec, rules);
    PlainChannel plain(spec, rules);
    feed(draws, draw_load(draws, spec, requests), test, plain);
    REQUIRE(test.served.size() == requests);
    REQUIRE(test.entered == plain.entered);
    REQUIRE(test.served == plain.served);
    REQUIRE(test.channel().counts().busy == plain.busy);
    REQUIRE(test.channel().counts().turnarounds == plain.turns);
  }
}

TEST_CASE(
    "memory channel: what is pushed is served once, in its stream's "
    "order, and every time alike") {
  const auto served = [](const std::string& policy) {
    Draws draws(7);
    const ChannelSpec spec;
    const ArbitrationSpec rules{policy, 5, 1'000'000};
    ChannelCase test(spec, rules);
    PlainChannel plain(spec, rules);
    feed(draws, {20'000, 2, 4, 40'000}, test, plain);
    std::map<BlockId, int> times;
    for (const Stamp& stamp : test.served) ++times[stamp.block];
    CHECK(times.size() == 20'000);
    CHECK(test.served.size() == 20'000);
    CHECK(test.channel().occupancy() == 0);
    std::int64_t transactions = 0;
    for (const std::int64_t count : test.channel().counts().transactions) transactions += count;
    CHECK(transactions == 20'000);
    return test.served;
  };
  for (const std::string& policy : arbitration_names()) CHECK(served(policy) == served(policy));
}

TEST_CASE("memory channel: in steady state one event a transaction") {
  Draws draws(3);
  const ChannelSpec spec;
  const ArbitrationSpec rules{"mca", 10, 10 * microsecond};
  ChannelCase test(spec, rules);
  for (BlockId block = 0; block < 50'000; ++block) {
    test.push(static_cast<Time>(block) * 16'000, draw_request(draws, block, 4));  // of about 14,000 and more
  }
  test.run();
  CHECK(test.served.size() == 50'000);
  CHECK(test.asked.size() < 50'500);
}
