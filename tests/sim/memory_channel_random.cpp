// A hundred thousand random requests against a channel that knows no shortcuts: it keeps
// every command that was given, and asks all of them when the next one may be.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>

#include "memory_channel_case.hpp"
#include "tessera/base/random.hpp"

using namespace tessera;
using namespace tessera::sim;

namespace {

/// Commands of a channel's banks. Each distance is asked of each command so far.
class PlainBanks {
 public:
  explicit PlainBanks(const ChannelSpec& spec) : spec_(spec), open_(spec.banks, none) {}

  [[nodiscard]] bool is_open(DramPlace place) const { return open_[place.bank] == place.row; }
  void open(DramPlace place, Time now) {
    Time at = now;
    if (open_[place.bank] != none) {
      Time closed = now;
      for (const Activation& one : activations_)
        if (one.bank == place.bank) closed = std::max(closed, one.at + clocks(spec_.ras));
      for (const Burst& one : bursts_)
        if (one.bank == place.bank)
          closed = std::max(closed, one.at + clocks(one.reads ? spec_.rtp : spec_.cwl + spec_.ccds + spec_.wr));
      at = closed + clocks(spec_.rp);
      for (const Activation& one : activations_)
        if (one.bank == place.bank) at = std::max(at, one.at + clocks(spec_.rc));
    }
    while (too_near(place.bank, at)) ++at;
    std::erase_if(activations_, [&](const Activation& one) { return one.bank == place.bank; });
    activations_.push_back({place.bank, at});
    open_[place.bank] = place.row;
  }
  [[nodiscard]] Time earliest(std::uint32_t bank, bool reads) const {
    Time at = bus_free;
    for (const Activation& one : activations_)
      if (one.bank == bank) at = std::max(at, one.at + clocks(spec_.rcd));
    for (const Burst& one : bursts_) {
      if (one.bank % spec_.bank_groups == bank % spec_.bank_groups) at = std::max(at, one.at + one.apart);
      if (one.reads && !reads) at = std::max(at, one.at + clocks(spec_.rtw));
      if (!one.reads && reads) at = std::max(at, one.at + clocks(spec_.cwl + spec_.ccds + spec_.wtr));
    }
    return at;
  }
  /// When the last data have been moved.
  Time serve(std::uint32_t bank, const MemoryRequest& request, Time start) {
    const bool reads = request.op == MemoryOp::read;
    const Time apart = clocks(request.op == MemoryOp::update ? spec_.ccdwl : spec_.ccdl);
    const std::uint32_t bursts = bursts_of(request.bytes);
    for (std::uint32_t i = 0; i < bursts; ++i) bursts_.push_back({bank, start + i * apart, apart, reads});
    if (bursts_.size() > 2'000) bursts_.erase(bursts_.begin(), bursts_.begin() + 1'000);  // long past
    bus_free = start + bursts * clocks(spec_.ccds);
    return bursts_.back().at + clocks((reads ? spec_.cl : spec_.cwl) + spec_.ccds);
  }
  Time bus_free = 0;

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Activation {
    std::uint32_t bank = 0;
    Time at = 0;
  };
  struct Burst {
    std::uint32_t bank = 0;
    Time at = 0;
    Time apart = 0;
    bool reads = false;
  };
  [[nodiscard]] Time clocks(std::uint32_t count) const { return count * spec_.clock_period; }
  [[nodiscard]] bool too_near(std::uint32_t bank, Time at) const {
    return std::any_of(activations_.begin(), activations_.end(), [&](const Activation& one) {
      return one.bank != bank && std::abs(one.at - at) < clocks(spec_.rrd);
    });
  }
  ChannelSpec spec_;
  std::vector<std::uint32_t> open_;
  std::vector<Activation> activations_;  // the last one of each bank
  std::vector<Burst> bursts_;
};

/// The rules as they stand in the text, without any shortcut.
class PlainChannel {
 public:
  PlainChannel(const ChannelSpec& spec, const ArbitrationSpec& rules)
      : spec_(spec), rules_(rules), banks_(spec), chosen_(spec.banks, nobody) {}

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
  static constexpr std::uint64_t nobody = ~std::uint64_t{0};
  struct Waiting {
    MemoryRequest request;
    DramPlace place;
    std::uint64_t age = 0;
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
    Time time = queue_.empty() ? never : std::max(banks_.bus_free, start_of(best()));
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
      queue_.push_back({request, dram_place(spec_, request.place), entered.size(), 0});
      if (chosen_[queue_.back().place.bank] == nobody) choose(queue_.back().place.bank, now);
      entered.push_back({request.block, now});
      turn_ = 1 - name;
      if (name == 1) waiting_since_ = now;
    }
  }
  /// The bank's oldest request to its open row; or the oldest one, whose row is opened.
  void choose(std::uint32_t bank, Time now) {
    chosen_[bank] = nobody;
    for (const Waiting& one : queue_) {
      if (chosen_[bank] == nobody && one.place.bank == bank && banks_.is_open(one.place)) chosen_[bank] = one.age;
    }
    if (chosen_[bank] != nobody) return;
    const auto first =
        std::find_if(queue_.begin(), queue_.end(), [&](const Waiting& w) { return w.place.bank == bank; });
    if (first == queue_.end()) return;
    chosen_[bank] = first->age;
    banks_.open(first->place, now);
  }
  void turn_to_the_overtaken(Time now) {
    if (queue_.empty() || queue_.front().overtaken < spec_.max_bypass) return;
    const Waiting& first = queue_.front();
    if (chosen_[first.place.bank] == first.age) return;
    chosen_[first.place.bank] = first.age;
    if (!banks_.is_open(first.place)) banks_.open(first.place, now);
  }
  [[nodiscard]] Time start_of(std::size_t index) const {
    const Waiting& one = queue_[index];
    return std::max(now_, banks_.earliest(one.place.bank, is_read(one.request)));
  }
  [[nodiscard]] std::size_t best() const {
    if (queue_.front().overtaken >= spec_.max_bypass) return 0;
    std::size_t best = queue_.size();
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      if (chosen_[queue_[i].place.bank] != queue_[i].age) continue;
      if (best == queue_.size() || start_of(i) < start_of(best)) best = i;
    }
    return best;
  }
  void serve(Time now) {
    const std::size_t index = best();
    const Waiting taken = queue_[index];
    for (std::size_t i = 0; i < index; ++i) queue_[i].overtaken += bursts_of(taken.request.bytes);
    queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(index));
    const Time data = banks_.serve(taken.place.bank, taken.request, now);
    busy += banks_.bus_free - now;
    turns += !first_ && is_read(taken.request) != reading_ ? 1 : 0;
    first_ = false;
    reading_ = is_read(taken.request);
    choose(taken.place.bank, now);
    served.push_back({taken.request.block, data + (reading_ ? spec_.latency : 0)});
  }
  void step(Time now) {
    now_ = now;
    fill(now);
    turn_to_the_overtaken(now);
    if (queue_.empty() || banks_.bus_free > now || start_of(best()) > now) return;
    serve(now);
    fill(now);
    turn_to_the_overtaken(now);
  }
  [[nodiscard]] static bool is_read(const MemoryRequest& request) { return request.op == MemoryOp::read; }

  ChannelSpec spec_;
  ArbitrationSpec rules_;
  std::array<std::deque<MemoryRequest>, 2> streams_;
  std::vector<Waiting> queue_;  // oldest first
  PlainBanks banks_;
  std::vector<std::uint64_t> chosen_;  // by bank: age of the request that its row is open for
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
  const bool communication = draws.below(8) < communication_of_8;
  MemoryRequest drawn = request(op, block, bytes, communication ? MemoryStream::communication : MemoryStream::compute);
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
