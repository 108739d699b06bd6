// Tracking and triggering: updates are counted in any order, each DMA command
// goes once and not early, and what could never work is refused before time
// zero.
#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

#include "sim/memory/dma_table.hpp"
#include "sim/memory/tracker.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/random.hpp"

using namespace tessera;
using namespace tessera::sim;

namespace {

/// One set of so many ways.
TrackerSpec one_set(std::uint32_t ways) {
  TrackerSpec spec;
  spec.sets = 1;
  spec.bytes = (std::int64_t{ways} * spec.entry_bits() + 7) / 8;
  return spec;
}

/// An update on its way: 64 B of a WF.
struct Piece {
  std::uint32_t wg = 0, wf = 0;
};

}  // namespace

TEST_CASE("19 KiB of tracker are 8 ways of 76 bits in 256 sets") {
  // 19 x 1024 x 8 bits / 256 sets = 608 bits; an entry takes 3 + 3 + 48 + 22 =
  // 76: 8 of them, with no bit left.
  const TrackerSpec spec;
  CHECK(spec.entry_bits() == 76);
  CHECK(spec.ways() == 8);
  CHECK(spec.sets * spec.ways() * spec.entry_bits() == 19U * 1024 * 8);
  CHECK(spec.wfs_per_wg() == 8);
  CHECK(problems(spec).empty());
}

TEST_CASE("out-of-order updates of eight WFs: each completes with its last byte") {
  // WG 3 has eight WFs of 128 B; two updates of each byte are expected, so a
  // threshold is 256 B.
  Tracker tracker{TrackerSpec{}};
  tracker.begin(4);
  // The neighbour's updates overtake those of this device: whole ones for WFs 7
  // to 4, while WFs 0 to 3 store first.
  for (std::uint32_t wf = 7; wf >= 4; --wf) CHECK(tracker.update(3, wf, 128, 256) == TrackerOutcome::counted);
  for (std::uint32_t wf = 0; wf < 4; ++wf) CHECK(tracker.update(3, wf, 64, 256) == TrackerOutcome::counted);
  CHECK(tracker.live() == 8);
  // Now both halves of what is missing, interleaved: 4 to 7 have 128 B and need
  // 64 + 64; 0 to 3 have 64 and need 64 + 128. Each completes with the second
  // of these, not before.
  for (const std::uint32_t wf : {5U, 0U, 7U, 3U, 4U, 1U, 6U, 2U})
    CHECK(tracker.update(3, wf, 64, 256) == TrackerOutcome::counted);
  std::uint32_t live = 8;
  for (const std::uint32_t wf : {2U, 6U, 1U, 4U, 3U, 7U, 0U, 5U}) {
    CHECK(tracker.update(3, wf, wf < 4 ? 128 : 64, 256) == TrackerOutcome::complete);
    CHECK(tracker.live() == --live);
  }
  CHECK(tracker.counts().updates == 24);
  CHECK(tracker.counts().completed == 8);
  CHECK(tracker.counts().full == 0);
  CHECK(tracker.counts().most_live == 8);
}

TEST_CASE("partial tiles at an edge wait for what they really write") {
  // A WG tile of 64 x 32 elements of 2 B: four WFs of 16 rows, 1,024 B each. At
  // the matrix's corner 40 rows and 20 columns are left: WFs 0 and 1 write 16 x
  // 20 x 2 = 640 B, WF 2 writes 8 x 20 x 2 = 320 B, WF 3 nothing.
  Tracker tracker{TrackerSpec{}};
  tracker.begin(1);
  const std::uint32_t writes[] = {640, 640, 320};
  for (std::uint32_t wf = 0; wf < 3; ++wf) {
    CHECK(tracker.update(0, wf, writes[wf], 2 * writes[wf]) == TrackerOutcome::counted);
    CHECK(tracker.update(0, wf, writes[wf], 2 * writes[wf]) == TrackerOutcome::complete);
    CHECK(problem(TrackerSpec{}, Expectation{0, wf, writes[wf], 2, 2 * writes[wf]}).empty());
  }
  CHECK(problem(TrackerSpec{}, Expectation{0, 3, 0, 2, 0}).empty());
  CHECK(tracker.live() == 0);
}

TEST_CASE("a full set holds updates back, but never those of its own entries") {
  // A way for each of two WFs. WGs 0, 1 and 2 share the only set.
  Tracker tracker(one_set(2));
  tracker.begin(3);
  CHECK(tracker.update(0, 0, 64, 128) == TrackerOutcome::counted);
  CHECK(tracker.update(1, 0, 64, 128) == TrackerOutcome::counted);
  CHECK(tracker.update(2, 0, 64, 128) == TrackerOutcome::full);
  CHECK(tracker.update(0, 1, 64, 128) == TrackerOutcome::full);
  std::vector<std::uint32_t> wgs;
  tracker.for_each_live([&](std::uint32_t wg, std::uint32_t wf, std::uint32_t counted, std::uint32_t threshold) {
    wgs.push_back(wg);
    CHECK(wf == 0);
    CHECK(counted == 64);
    CHECK(threshold == 128);
  });
  CHECK(wgs == std::vector<std::uint32_t>{0, 1});
  // WG 1 completes, which frees its way for WG 2.
  CHECK(tracker.update(1, 0, 64, 128) == TrackerOutcome::complete);
  CHECK(tracker.update(2, 0, 64, 128) == TrackerOutcome::counted);
  CHECK(tracker.update(0, 1, 64, 128) == TrackerOutcome::full);
  CHECK(tracker.update(0, 0, 64, 128) == TrackerOutcome::complete);
  CHECK(tracker.counts().full == 3);
  CHECK(tracker.counts().updates == 5);
}

TEST_CASE("WGs share a set when their low 8 bits agree, and a tag when 11 do") {
  Tracker tracker{TrackerSpec{}};
  tracker.begin(5000);
  CHECK(tracker.set_of(5) == tracker.set_of(5 + 256));
  CHECK(tracker.set_of(5) != tracker.set_of(6));
  // Eight ways: WGs 5, 261, ... 5 + 7 x 256. The ninth, 5 + 2,048, has no way,
  // and the tag of WG 5 besides.
  for (std::uint32_t i = 0; i < 8; ++i) CHECK(tracker.update(5 + i * 256, 0, 64, 128) == TrackerOutcome::counted);
  CHECK(tracker.update(5 + 2048, 0, 64, 128) == TrackerOutcome::full);
  CHECK(tracker.update(6, 0, 64, 128) == TrackerOutcome::counted);
  // Another way is free, but the tag is still that of WG 5: it waits until WG 5
  // is complete.
  CHECK(tracker.update(5 + 256, 0, 64, 128) == TrackerOutcome::complete);
  CHECK(tracker.update(5 + 2048, 0, 64, 128) == TrackerOutcome::full);
  CHECK(tracker.update(5, 0, 64, 128) == TrackerOutcome::complete);
  CHECK(tracker.update(5 + 2048, 0, 64, 128) == TrackerOutcome::counted);
}

TEST_CASE("nothing completes twice or beyond its threshold") {
  Tracker tracker{TrackerSpec{}};
  CHECK_THROWS_AS(tracker.update(0, 0, 64, 64),
                  InternalError);  // no producer has begun
  tracker.begin(2);
  CHECK(tracker.update(0, 0, 64, 64) == TrackerOutcome::complete);
  CHECK_THROWS_AS(tracker.update(0, 0, 64, 64), InternalError);
  CHECK(tracker.update(0, 1, 64, 128) == TrackerOutcome::counted);
  CHECK_THROWS_AS(tracker.update(0, 1, 65, 128), InternalError);  // 129 of 128
  CHECK_THROWS_AS(tracker.update(0, 1, 64, 192),
                  InternalError);                    // another threshold than before
  CHECK_THROWS_AS(tracker.begin(2), InternalError);  // WF 1 still waits
  CHECK(tracker.update(0, 1, 64, 128) == TrackerOutcome::complete);
  CHECK_THROWS_AS(tracker.update(2, 0, 64, 128), InternalError);  // WGs 0 and 1
  CHECK_THROWS_AS(tracker.update(0, 8, 64, 128), InternalError);  // WFs 0 to 7
  CHECK_THROWS_AS(tracker.update(1, 0, 0, 128), InternalError);
  CHECK_THROWS_AS(tracker.update(1, 0, 64, 0), InternalError);
  CHECK_THROWS_AS(tracker.update(1, 0, 64, 1U << 22U),
                  InternalError);  // 22 bits of counter
  // The next producer starts afresh.
  tracker.begin(2);
  CHECK(tracker.update(0, 0, 64, 64) == TrackerOutcome::complete);
}

TEST_CASE(
    "shuffled updates through a small tracker: all complete once, with "
    "their last piece, none is lost") {
  // 24 WGs of 4 WFs, four pieces each, in sets of 4 x 3 ways: most updates have
  // to be held back at least once.
  TrackerSpec spec = one_set(3);
  spec.sets = 4;
  spec.bytes *= 4;
  REQUIRE(spec.ways() == 3);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Tracker tracker(spec);
    tracker.begin(24);
    std::vector<Piece> waiting;
    for (std::uint32_t i = 0; i < 24 * 4 * 4; ++i) waiting.push_back({i / 16, i / 4 % 4});
    shuffle(waiting, KeyedRandom(seed, random_stream("tracker")));
    std::vector<int> pieces(24 * 4, 0), completions(24 * 4, 0);
    while (!waiting.empty()) {
      std::vector<Piece> held_back;
      for (const Piece piece : waiting) {
        const std::size_t name = piece.wg * 4 + piece.wf;
        const TrackerOutcome outcome = tracker.update(piece.wg, piece.wf, 64, 256);
        if (outcome == TrackerOutcome::full) {
          held_back.push_back(piece);
          continue;
        }
        REQUIRE((outcome == TrackerOutcome::complete) == (++pieces[name] == 4));
        completions[name] += outcome == TrackerOutcome::complete ? 1 : 0;
      }
      REQUIRE(held_back.size() < waiting.size());
      waiting.swap(held_back);
    }
    CHECK(std::all_of(completions.begin(), completions.end(), [](int count) { return count == 1; }));
    CHECK(tracker.live() == 0);
    CHECK(tracker.counts().most_live == 12);
    CHECK(tracker.counts().full > 0);
  }
}

TEST_CASE("a tracker too small for a stage is refused") {
  const TrackerSpec spec;
  CHECK(fits(spec, {160, 8}));  // 160 WGs have a set each
  CHECK(fits(spec, {256, 8}));
  CHECK_FALSE(fits(spec, {257, 8}));  // WGs 0 and 256 share a set: 16 ways
  CHECK(fits(spec, {512, 4}));
  CHECK_FALSE(fits(spec, {513, 4}));  // three in a set: 12 ways
  CHECK(fits(spec, {2048, 1}));
  CHECK_FALSE(fits(spec, {2049, 1}));  // 3 bits of tag tell 8 WGs of a set apart
  CHECK_FALSE(fits(spec, {1, 9}));     // 3 bits of WF id
  CHECK(problem(spec, TrackedStage{640, 4}) ==
        "tracker: too small for a stage of 640 WGs with 4 WFs each: they need "
        "12 ways in a set, 19456 B in 256 sets of "
        "entries of 76 bits have 8");
  CHECK(problem(spec, TrackedStage{2049, 1}).find("tell 2048 apart") != std::string::npos);
  CHECK(problem(spec, TrackedStage{1, 9}).find("tell 8 apart") != std::string::npos);
}

TEST_CASE("a threshold that cannot be met exactly is refused") {
  const TrackerSpec spec;
  // 1,024 B, twice: 2,048 B have to come.
  CHECK(problem(spec, Expectation{5, 2, 1024, 2, 2048}).empty());
  CHECK(problem(spec, Expectation{5, 2, 1024, 2, 1024}) ==
        "tracker: WF 2 of WG 5 waits for 2048 B (1024 B x 2 updates), but only "
        "1024 B will ever come: it would wait for "
        "ever");
  CHECK(problem(spec, Expectation{5, 2, 1024, 2, 3072}).find("before the last") != std::string::npos);
  // 22 bits count to 4,194,303: 2 MiB twice are one byte too many.
  CHECK(problem(spec, Expectation{0, 0, 2'097'151, 2, 4'194'302}).empty());
  CHECK(problem(spec, Expectation{0, 0, 2'097'152, 2, 4'194'304}).find("22 bits (4194303 B)") != std::string::npos);
  CHECK_FALSE(problem(spec, Expectation{0, 8, 64, 2, 128}).empty());
  CHECK_FALSE(problem(spec, Expectation{0, 0, 64, 0, 0}).empty());
  CHECK_FALSE(problem(spec, Expectation{0, 0, -64, 1, -64}).empty());
}

TEST_CASE("bad trackers are refused") {
  const auto wrong = [](auto change) {
    TrackerSpec spec;
    change(spec);
    CHECK(problems(spec).size() == 1);
    CHECK_THROWS_AS(Tracker(spec), InputError);
  };
  wrong([](TrackerSpec& spec) { spec.sets = 0; });
  wrong([](TrackerSpec& spec) { spec.sets = 255; });
  wrong([](TrackerSpec& spec) { spec.bytes = 0; });
  wrong([](TrackerSpec& spec) { spec.bytes = 256 * 76 / 8 - 1; });  // not one entry a set
  wrong([](TrackerSpec& spec) { spec.wg_tag_bits = 16; });
  wrong([](TrackerSpec& spec) { spec.wf_bits = 6; });
  wrong([](TrackerSpec& spec) { spec.address_bits = 65; });
  wrong([](TrackerSpec& spec) { spec.counter_bits = 0; });
  wrong([](TrackerSpec& spec) { spec.counter_bits = 32; });
}

TEST_CASE(
    "a DMA command of several WF tiles goes once, when all of them are "
    "complete") {
  // A WG of eight WFs of 64 B, two updates each; commands of four WF tiles.
  DmaTable table;
  CHECK(table.add({0, 4, 4}) == 0);
  CHECK(table.add({4, 4, 4}) == 1);
  Tracker tracker{TrackerSpec{}};
  tracker.begin(1);
  for (std::uint32_t wf = 0; wf < 8; ++wf) CHECK(tracker.update(0, wf, 64, 128) == TrackerOutcome::counted);
  // Second updates in this order: command 1 has WFs 4 to 7 and is ready with 4, the sixth; command 0 with 2, the last.
  const std::uint32_t order[] = {7, 0, 5, 6, 3, 4, 1, 2};
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t command = order[i] / 4;
    CHECK_THROWS_AS(table.fire(command), InternalError);  // early
    REQUIRE(tracker.update(0, order[i], 64, 128) == TrackerOutcome::complete);
    CHECK(table.tile_complete(command) == (i == 5 || i == 7));
    if (i == 5) CHECK(table.fire(1).first_tile == 4);
  }
  CHECK_THROWS_AS(table.fire(1), InternalError);           // twice
  CHECK_THROWS_AS(table.tile_complete(1), InternalError);  // a fifth tile of four
  CHECK(table.fire(0).first_tile == 0);
  CHECK_THROWS_AS(table.fire(2), InternalError);
  CHECK_THROWS_AS(table.tile_complete(2), InternalError);
  CHECK_THROWS_AS(table.add({0, 1, 0}), InternalError);
  CHECK(table.size() == 2);
}
