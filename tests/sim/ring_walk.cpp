// Walks round rings of seats that are alike, beside the same in waves, seat by seat.
#include "sim/laws/rings/ring_walk.hpp"

#include <catch2/catch.hpp>

#include "program_case.hpp"
#include "sim/laws/rings/alike_seats.hpp"
#include "sim/laws/rings/ring_waves.hpp"
#include "support/random_cases.hpp"
#include "tessera/base/random.hpp"
#include "traffic.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

/// The members of a collective, with ways of their own: a link to a switch, and for some one on to the next member.
struct WalkCase {
  std::uint32_t members = 0, locals = 1;  ///< of which so many in a node
  std::string algorithm = "ring";
  program::CollectiveKind kind = program::CollectiveKind::all_reduce;
  std::int64_t bytes = 0;
  /// By way and rank, as often as they are repeated.
  std::vector<std::int64_t> bandwidths{1'000'000'000};
  std::vector<Time> latencies{500}, additions{0};
  std::vector<std::size_t> hops{1};

  template <class T>
  static const T& of(const std::vector<T>& values, std::size_t i) {
    return values[i % values.size()];
  }
};

class Walked {
 public:
  explicit Walked(const WalkCase& one) : machine_(machine_of_members(one)), plan_(plan_of(one)) {
    machine::NetworkBuilder builder(one.members);
    const std::uint16_t type = builder.link_class("wire");
    const sim::RingShape& shape = plan_.shape;
    for (std::uint32_t way = 0; way < shape.ways(); ++way) {
      const BytesPerSecond rate{WalkCase::of(one.bandwidths, way)};
      const Duration latency{WalkCase::of(one.latencies, way)};
      const machine::NodeId middle = builder.add_switch("middle" + std::to_string(way));
      builder.add_link(shape.device(way % shape.seats()), middle, rate, latency, type);
      builder.add_link(middle, shape.device(shape.to[way]), rate, latency, type);
    }
    network_ = finish_network(builder, 100);
    tables_.emplace(network_);
    table_.emplace(*tables_);
    for (std::uint32_t way = 0; way < shape.ways(); ++way) {
      std::vector<machine::LinkId> links = links_of(shape, way);
      links.resize(WalkCase::of(one.hops, way));
      parts.ways.emplace_back(*table_, links);
    }
    parts.shape = shape;
    parts.senders = shape.senders();
    for (std::uint32_t way = 0; way < shape.ways(); ++way) parts.hops.push_back((way * 7) % (2 * shape.ways()));
    work = plan_.work;
    complete(one);
  }

  sim::RingParts parts;
  sim::RingWork work;

  [[nodiscard]] std::uint32_t members() const { return static_cast<std::uint32_t>(parts.shape.members.size()); }
  void mark() {
    for (sim::RingWay& way : parts.ways) way.mark();
  }

 private:
  static machine::Machine machine_of_members(const WalkCase& one) {
    machine::Machine machine = connected_machine(1);
    machine.places.clear();
    for (std::uint32_t device = 0; device < one.members; ++device)
      machine.places.push_back(
          {static_cast<int>(device / one.locals), static_cast<int>(device % one.locals), 0, static_cast<int>(device)});
    return machine;
  }
  sim::RingPlan plan_of(const WalkCase& one) {
    program::Group group;
    for (program::DeviceId device = 0; device < one.members; ++device) group.members.push_back(device);
    program::Collective made = collective(one.kind, one.bytes, one.algorithm);
    made.element = Bytes{2};
    auto plan = sim::plan_rings(program::make_call(made, group, 0, machine_));
    REQUIRE(plan);
    return *plan;
  }
  [[nodiscard]] std::vector<machine::LinkId> links_of(const sim::RingShape& shape, std::uint32_t way) const {
    const machine::NodeId middle = static_cast<machine::NodeId>(shape.members.size()) + way;
    std::vector<machine::LinkId> found(2);
    for (machine::LinkId link = 0; link < network_.links.size(); ++link) {
      if (network_.links[link].to == middle) found[0] = link;
      if (network_.links[link].from == middle) found[1] = link;
    }
    return found;
  }
  void complete(const WalkCase& one) {
    for (sim::RingWay& way : parts.ways) {
      for (const std::int64_t size : work.sizes) work.numbers.push_back(way.facts().size_of(size));
    }
    for (std::uint32_t seat = 0; seat < parts.shape.seats(); ++seat) {
      for (std::size_t i = 0; i < work.sizes.size() * work.others; ++i)
        work.additions.push_back(WalkCase::of(one.additions, seat) * static_cast<Time>(1 + i));
    }
  }

  machine::Machine machine_;
  sim::RingPlan plan_;
  machine::Network network_;
  std::optional<sim::NetworkTables> tables_;
  std::optional<sim::WayTable> table_;
};

class Draw {
 public:
  explicit Draw(std::uint64_t index) : random_(index, random_stream("ring walks")) {}
  std::uint64_t below(std::uint64_t count) { return random_.below(draws_++, count); }
  template <class T>
  std::vector<T> some(const std::vector<T>& values, std::size_t count) {
    std::vector<T> found;
    for (std::size_t i = 0; i < count; ++i) found.push_back(values[below(values.size())]);
    return found;
  }
  /// How many values in a row are not alike: often as many as are in a node.
  std::size_t run(const WalkCase& one) { return std::array<std::size_t, 4>{1, one.locals, 2, 1 + below(5)}[below(4)]; }

 private:
  KeyedRandom random_;
  std::uint64_t draws_ = 0;
};

WalkCase random_walk(Draw& draw) {
  WalkCase one;
  one.locals = static_cast<std::uint32_t>(1 + draw.below(4));
  one.members = std::max<std::uint32_t>(2, one.locals * static_cast<std::uint32_t>(1 + draw.below(6)));
  one.algorithm = std::array{"ring", "ring", "bidirectional-ring", "hierarchical"}[draw.below(4)];
  one.kind = std::array{program::CollectiveKind::all_reduce, program::CollectiveKind::reduce_scatter,
                        program::CollectiveKind::all_gather}[draw.below(3)];
  one.bytes = 2 * one.members * static_cast<std::int64_t>(1 + draw.below(400)) + (draw.below(5) == 0 ? 2 : 0);
  one.bandwidths = draw.some<std::int64_t>({1'000'000'000, 333'333'333, 3'333'333'333, 9'000'000'000}, draw.run(one));
  one.latencies = draw.some<Time>({0, 1, 500, 200'000}, draw.run(one));
  one.additions = draw.some<Time>({0, 0, 100, 30'000}, draw.run(one));
  one.hops = draw.some<std::size_t>({1, 2}, draw.run(one));
  return one;
}

/// All enter behind what they did before, some of them later.
std::vector<sim::RingEntry> entries(Draw& draw, const WalkCase& one, const std::vector<sim::TakenEnd>& before) {
  const std::vector<Time> late = draw.some<Time>({0, 0, 0, 1, 40'000, 5'000'000}, draw.run(one));
  const bool are_together = draw.below(2) == 0;
  Time last = 0;
  for (const sim::TakenEnd& end : before) last = std::max(last, end.clock);
  std::vector<sim::RingEntry> found;
  for (std::uint32_t rank = 0; rank < before.size(); ++rank) {
    const Time begin = are_together ? last : before[rank].clock;
    found.push_back({{begin + WalkCase::of(late, rank), rank}, 0});
  }
  if (draw.below(8) == 0) found[draw.below(found.size())].at.time += 777;
  return found;
}

void check_same_ways(const sim::RingParts& parts, const sim::RingParts& others) {
  for (std::size_t way = 0; way < parts.ways.size(); ++way) {
    REQUIRE(parts.ways[way].clear_at() == others.ways[way].clear_at());
    REQUIRE(parts.ways[way].left() == others.ways[way].left());
    REQUIRE(parts.ways[way].delivered() == others.ways[way].delivered());
  }
}

void check_same_counts(sim::RingParts& parts, sim::RingParts& others) {
  for (std::size_t way = 0; way < parts.ways.size(); ++way) {
    const std::vector<sim::LinkCounts> counts = parts.ways[way].take_counts(), were = others.ways[way].take_counts();
    for (std::size_t link = 0; link < counts.size(); ++link) {
      REQUIRE(counts[link].bytes == were[link].bytes);
      REQUIRE(counts[link].messages == were[link].messages);
      REQUIRE(counts[link].busy == were[link].busy);
      REQUIRE(counts[link].peak_queue == were[link].peak_queue);
      REQUIRE(counts[link].alone == were[link].alone);
    }
  }
}

/// Some collectives, one after the other. Returns whether some seats were alike.
bool check_walks(std::uint64_t index) {
  Draw draw(index);
  const WalkCase one = random_walk(draw);
  Walked walked(one), waves(one);
  std::vector<sim::TakenEnd> ends(walked.members());
  bool any_alike = false;
  for (std::uint64_t left = 1 + draw.below(3); left > 0; --left) {
    const std::vector<sim::RingEntry> begin = entries(draw, one, ends);
    walked.mark();
    waves.mark();
    any_alike |= !alike_seats(walked.parts, walked.work, begin).is_all();
    ends = ends_of(walked.parts, walked.work, begin);
    sim::RingWaves beside(waves.parts, waves.work);
    for (std::uint32_t rank = 0; rank < begin.size(); ++rank) beside.enter(rank, begin[rank]);
    for (std::uint32_t rank = 0; rank < begin.size(); ++rank) {
      const sim::TakenEnd is = beside.end_of(rank);
      REQUIRE(ends[rank].at == is.at);
      REQUIRE(ends[rank].clock == is.clock);
      REQUIRE(ends[rank].left == is.left);
    }
    check_same_ways(walked.parts, waves.parts);
  }
  check_same_counts(walked.parts, waves.parts);
  return any_alike;
}

bool is_same(const sim::StepProgress& a, const sim::StepProgress& b) {
  for (std::size_t slot = 0; slot < a.slots.size(); ++slot) {
    const sim::StepProgress::Slot &one = a.slots[slot], &other = b.slots[slot];
    if (one.awaits != other.awaits || one.early != other.early || one.on_their_way != other.on_their_way) return false;
    if (one.sent != other.sent || one.tied != other.tied) return false;
  }
  return a.posted == b.posted && a.taken == b.taken && a.waited_until == b.waited_until && a.next == b.next &&
         a.ended == b.ended;
}

/// A collective up to some event, behind another one.
void check_progress(std::uint64_t index) {
  Draw draw(index);
  const WalkCase one = random_walk(draw);
  Walked walked(one), waves(one);
  const std::vector<sim::TakenEnd> none(walked.members());
  const auto first = ends_of(walked.parts, walked.work, entries(draw, one, none));
  Draw again(index);
  static_cast<void>(random_walk(again));
  static_cast<void>(ends_of(waves.parts, waves.work, entries(again, one, none)));
  std::vector<sim::RingEntry> begin = entries(draw, one, first);
  for (sim::RingEntry& entry : begin) entry.joined = static_cast<Time>(draw.below(4));
  walked.mark();
  waves.mark();
  Time last = 0;
  for (const sim::TakenEnd& end : ends_of(walked.parts, walked.work, begin)) last = std::max(last, end.clock);
  for (sim::RingWay& way : walked.parts.ways) way.rewind();
  const auto from = static_cast<std::uint64_t>(begin.front().at.time);
  const sim::Moment event{static_cast<Time>(from + draw.below(static_cast<std::uint64_t>(last) + 2 - from)),
                          static_cast<pdes::ComponentId>(draw.below(2 * walked.parts.shape.ways()))};
  const std::vector<std::vector<sim::RingPost>> no_posts;
  const std::vector<std::uint32_t> nothing;
  const std::vector<bool> to_come;
  const auto is = progress_at(event, to_come, walked.parts, walked.work, {begin, no_posts, nothing});
  sim::RingWaves beside(waves.parts, waves.work, event, to_come);
  beside.take_in({begin, no_posts, nothing});
  const auto was = beside.progress(nothing);
  for (std::size_t seat = 0; seat < is.size(); ++seat) REQUIRE(is_same(is[seat], was[seat]));
  check_same_ways(walked.parts, waves.parts);
  for (std::size_t way = 0; way < walked.parts.ways.size(); ++way) {
    const auto left = walked.parts.ways[way].take_last(event.time),
               others = waves.parts.ways[way].take_last(event.time);
    REQUIRE(left.posted == others.posted);
    REQUIRE(left.busy == others.busy);
  }
  check_same_counts(walked.parts, waves.parts);
}

}  // namespace

TEST_CASE("ring walk: seats that are alike are those whose ways, additions and senders are") {
  // Six members in nodes of three: the third one's way is slower. Each is like the one in the other node.
  WalkCase one;
  one.members = 6;
  one.bytes = 600;
  one.bandwidths = {1'000'000'000, 1'000'000'000, 500'000'000};
  Walked walked(one);
  std::vector<sim::RingEntry> begin(6, sim::RingEntry{{0, 0}, 0});
  const sim::AlikeSeats alike = alike_seats(walked.parts, walked.work, begin);
  CHECK(alike.walked == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(alike.place == std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2});
  begin[4].at.time = 1;
  CHECK(alike_seats(walked.parts, walked.work, begin).is_all());
}

TEST_CASE("ring walk: two of four ways are slow, and messages wait for them") {
  // 100 B take 100 ns on the ways of members 0 and 2 and 200 ns on those of 1 and 3, and come 0.5 ns later. Three steps
  // of an all-gather: 0 and 2 receive at 200.5, 400.5 and, of a link that is busy until 600 ns, 600.5 ns; 1 and 3
  // receive at 100.5, then what was posted at 200.5 at 301, and what was posted at 400.5 at 501 ns.
  WalkCase one;
  one.members = 4;
  one.kind = program::CollectiveKind::all_gather;
  one.bytes = 400;
  one.bandwidths = {1'000'000'000, 500'000'000};
  Walked walked(one);
  walked.mark();
  const std::vector<sim::RingEntry> begin(4, sim::RingEntry{{0, 0}, 0});
  REQUIRE(alike_seats(walked.parts, walked.work, begin).walked.size() == 2);
  const std::vector<sim::TakenEnd> ends = ends_of(walked.parts, walked.work, begin);
  for (const std::size_t rank : {0, 2}) CHECK(ends[rank].clock == 600'500);
  for (const std::size_t rank : {1, 3}) CHECK(ends[rank].clock == 501'000);
  for (sim::RingWay& way : walked.parts.ways) {
    const std::vector<sim::LinkCounts> counts = way.take_counts();
    CHECK(counts[0].bytes == 300);
    CHECK(counts[0].messages == 3);
  }
}

TEST_CASE("ring walk: 2,000 random rings stand at some event where waves lead") {
  for (std::uint64_t index = 0; index < random_cases(2000); ++index) {
    CAPTURE(index);
    check_progress(1'000'000 + index);
  }
}

TEST_CASE("ring walk: 2,000 random rings take the same picoseconds as in waves, and leave the same on their links") {
  std::uint64_t alike = 0;
  for (std::uint64_t index = 0; index < random_cases(2000); ++index) {
    CAPTURE(index);
    alike += check_walks(index) ? 1 : 0;
  }
  CHECK(alike > random_cases(500));
}
