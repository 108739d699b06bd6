// The L2: what hits, what waits, what has to go, and when.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim/memory/cache.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/random.hpp"

using namespace tessera;
using namespace tessera::sim;

namespace {

using Dirty = std::vector<std::pair<BlockId, std::uint32_t>>;

/// `sets` sets of blocks of 64 B.
CacheSpec small(std::int64_t sets, std::uint32_t ways) {
  CacheSpec spec;
  spec.granularity = 64;
  spec.ways = ways;
  spec.capacity = sets * ways * 64;
  return spec;
}

CacheOutcome read(Cache& cache, BlockId block) { return cache.read(block, 64).outcome; }

Dirty flushed(Cache& cache) {
  Dirty dirty;
  cache.flush([&](BlockId block, std::uint32_t bytes) { dirty.emplace_back(block, bytes); });
  return dirty;
}

/// The same cache, plainly: by set, blocks in order of use, the last used one
/// first.
class PlainCache {
 public:
  PlainCache(const Cache& cache, std::uint32_t ways) : cache_(&cache), ways_(ways) {}

  CacheResult access(BlockId block, std::uint32_t bytes, bool is_write) {
    auto& set = sets_[cache_->set_of(block)];
    const auto held = std::find_if(set.begin(), set.end(), [&](const Line& line) { return line.block == block; });
    CacheResult result;
    Line line{block, 0, !is_write};
    if (held != set.end()) {
      line = *held;
      set.erase(held);
      result.outcome = line.pending && !is_write ? CacheOutcome::pending : CacheOutcome::hit;
    } else {
      if (set.size() == ways_ && !evict(set, result)) return result;
      result.outcome = CacheOutcome::miss;
    }
    if (is_write) line.dirty_bytes = bytes;
    set.insert(set.begin(), line);
    return result;
  }
  void fill(BlockId block) {
    for (Line& line : sets_[cache_->set_of(block)]) {
      if (line.block == block) line.pending = false;
    }
  }
  Dirty flush() {
    Dirty dirty;
    for (auto& [index, set] : sets_) {
      for (Line& line : set) {
        if (line.dirty_bytes > 0) dirty.emplace_back(line.block, line.dirty_bytes);
        line.dirty_bytes = 0;
      }
      set.erase(std::remove_if(set.begin(), set.end(), [](const Line& line) { return !line.pending; }), set.end());
    }
    return dirty;
  }

 private:
  struct Line {
    BlockId block = 0;
    std::uint32_t dirty_bytes = 0;
    bool pending = false;
  };
  bool evict(std::vector<Line>& set, CacheResult& result) {
    const auto last = std::find_if(set.rbegin(), set.rend(), [](const Line& line) { return !line.pending; });
    if (last == set.rend()) return false;
    if (last->dirty_bytes > 0) {
      result.victim = last->block;
      result.victim_bytes = last->dirty_bytes;
    }
    set.erase(std::next(last).base());
    return true;
  }

  const Cache* cache_;
  std::uint32_t ways_;
  std::map<std::uint32_t, std::vector<Line>> sets_;
};

}  // namespace

TEST_CASE("a tile walk through a small L2: hits, misses, merged loads, victims") {
  // Four sets of two ways. A run of four blocks goes once round the sets, from
  // 0, 1, 3, 0 on: set 0 gets blocks 0, 7, 9 and 12; set 1 gets 1, 4, 10, 13;
  // set 2 gets 2, 5, 11, 14; set 3 gets 3, 6, 8, 15.
  Cache cache(small(4, 2));
  const std::uint32_t sets[] = {0, 1, 2, 3, 1, 2, 3, 0, 3, 0, 1, 2, 0, 1, 2, 3};
  for (BlockId block = 0; block < 16; ++block) REQUIRE(cache.set_of(block) == sets[block]);

  // C = A B in 2 x 2 tiles. A0: blocks 0, 1. A1: 2, 3. B0: 4, 5. B1: 6, 7. C00,
  // C01, C10, C11: 8, 9, 10, 11. WG 00 loads A0 and B0 into an empty cache: all
  // miss. WG 01, at the same time, waits with it for A0, and fetches B1.
  for (const BlockId block : {0, 1, 4, 5}) CHECK(read(cache, block) == CacheOutcome::miss);
  for (const BlockId block : {0, 1}) CHECK(read(cache, block) == CacheOutcome::pending);
  for (const BlockId block : {6, 7}) CHECK(read(cache, block) == CacheOutcome::miss);
  CHECK(cache.pending() == 6);
  for (const BlockId block : {5, 4, 0, 1, 7, 6}) cache.fill(cache.entry_of(block));
  CHECK(cache.pending() == 0);

  // They store C00 and C01, which hold 40 and 64 B. C00 has room beside 6; C01
  // finds 0 and 7, and 0 was used before 7: it goes, and is clean.
  const CacheResult c00 = cache.write(8, 40);
  CHECK(c00.outcome == CacheOutcome::miss);
  CHECK(c00.victim_bytes == 0);
  CHECK(cache.holds(6));
  CHECK(cache.write(9, 64).victim_bytes == 0);
  CHECK_FALSE(cache.holds(0));
  CHECK(cache.holds(7));

  // WG 10 loads A1: 2 has room beside 5, 3 takes the way of 6, which was used
  // before 8. It finds B0.
  for (const BlockId block : {2, 3}) CHECK(cache.read(block, 64).victim_bytes == 0);
  CHECK(cache.pending() == 2);
  CHECK_FALSE(cache.holds(6));
  for (const BlockId block : {4, 5}) CHECK(read(cache, block) == CacheOutcome::hit);
  // WG 11 waits for A1. Of B1, it fetches 6 again: 3 is under way, so that 8,
  // C00, goes and has to be written back.
  for (const BlockId block : {2, 3}) CHECK(read(cache, block) == CacheOutcome::pending);
  const CacheResult b10 = cache.read(6, 64);
  CHECK(b10.outcome == CacheOutcome::miss);
  CHECK(b10.victim == 8);
  CHECK(b10.victim_bytes == 40);
  CHECK(read(cache, 7) == CacheOutcome::hit);
  for (const BlockId block : {2, 3, 6}) cache.fill(cache.entry_of(block));
  // C10 replaces 1, which was used before 4; C11 replaces 5, which was used
  // before WG 11 waited for 2.
  CHECK(cache.write(10, 64).victim_bytes == 0);
  CHECK(cache.write(11, 64).victim_bytes == 0);
  CHECK_FALSE(cache.holds(1));
  CHECK_FALSE(cache.holds(5));

  // A0 once more. 0 replaces 9, C01, which was stored before 7 was used: it is
  // written back. 1 replaces 4, which is clean.
  const CacheResult a00 = cache.read(0, 64);
  CHECK(a00.outcome == CacheOutcome::miss);
  CHECK(a00.victim == 9);
  CHECK(a00.victim_bytes == 64);
  CHECK(cache.read(1, 64).victim_bytes == 0);
  CHECK_FALSE(cache.holds(4));

  // C10 and C11 are left to the end of the kernel.
  CHECK(flushed(cache) == Dirty{{10, 64}, {11, 64}});
  CHECK(flushed(cache).empty());
  CHECK_FALSE(cache.holds(6));
  const CacheCounts& counts = cache.counts();
  CHECK(counts.misses == 11);
  CHECK(counts.hits == 3);
  CHECK(counts.merged == 4);
  CHECK(counts.read_bytes == 18 * 64);
  CHECK(counts.missed_bytes == 11 * 64);
  CHECK(counts.write_allocations == 4);
  CHECK(counts.write_hits == 0);
  CHECK(counts.write_backs == 2);
  CHECK(counts.flushed == 2);
  CHECK(counts.no_room == 0);
}

TEST_CASE("the least recently used block goes, whatever used it") {
  Cache cache(small(1, 4));
  for (const BlockId block : {1, 2, 3, 4}) {
    CHECK(read(cache, block) == CacheOutcome::miss);
    cache.fill(cache.entry_of(block));
  }
  // 1 is read, 2 is stored: the order of use is 3, 4, 1, 2.
  CHECK(read(cache, 1) == CacheOutcome::hit);
  CHECK(cache.write(2, 64).outcome == CacheOutcome::hit);
  const BlockId leaves[] = {3, 4, 1, 2};
  for (BlockId block = 10; block < 14; ++block) {
    CHECK(cache.holds(leaves[block - 10]));
    // Only 2 is dirty.
    CHECK(cache.write(block, 64).victim == (block == 13 ? 2 : 0));
    CHECK_FALSE(cache.holds(leaves[block - 10]));
  }
}

TEST_CASE("blocks that are being fetched stay, and a set full of them has no room") {
  Cache cache(small(1, 3));
  std::set<std::uint32_t> entries;
  std::uint32_t entry_of_7 = 0;
  for (const BlockId block : {7, 8, 9}) {
    const CacheResult miss = cache.read(block, 64);
    CHECK(miss.outcome == CacheOutcome::miss);
    CHECK(miss.entry < cache.entries());
    entries.insert(miss.entry);
    if (block == 7) entry_of_7 = miss.entry;
  }
  CHECK(entries.size() == 3);
  // Neither a load nor a store finds a way; nothing is counted but the
  // refusals.
  CHECK(read(cache, 10) == CacheOutcome::no_room);
  CHECK(cache.write(10, 64).outcome == CacheOutcome::no_room);
  CHECK(cache.counts().no_room == 2);
  CHECK(cache.counts().misses == 3);
  // A store into a block that is being fetched is taken; a load of it still
  // waits, at the same entry.
  CHECK(cache.write(7, 48).outcome == CacheOutcome::hit);
  const CacheResult waits = cache.read(7, 64);
  CHECK(waits.outcome == CacheOutcome::pending);
  CHECK(waits.entry == entry_of_7);
  // 8 is here, and the only one that can go. 7 keeps its entry all the while.
  cache.fill(cache.entry_of(8));
  CHECK(read(cache, 10) == CacheOutcome::miss);
  CHECK_FALSE(cache.holds(8));
  CHECK(cache.entry_of(7) == entry_of_7);
  cache.fill(entry_of_7);
  // 9 and 10 are still under way, so 7 goes, with what was stored.
  const CacheResult last = cache.read(11, 64);
  CHECK(last.victim == 7);
  CHECK(last.victim_bytes == 48);
}

TEST_CASE("flush leaves what is being fetched") {
  Cache cache(small(1, 3));
  CHECK(read(cache, 1) == CacheOutcome::miss);
  CHECK(cache.write(2, 64).outcome == CacheOutcome::miss);
  CHECK(cache.write(1, 64).outcome == CacheOutcome::hit);
  CHECK(read(cache, 3) == CacheOutcome::miss);
  Dirty dirty = flushed(cache);
  std::sort(dirty.begin(), dirty.end());
  CHECK(dirty == Dirty{{1, 64}, {2, 64}});
  CHECK(cache.pending() == 2);
  // 2 has left its way, which is taken before those of 1 and 3, which stay
  // until they are here, and are clean then.
  CHECK(read(cache, 4) == CacheOutcome::miss);
  CHECK(read(cache, 5) == CacheOutcome::no_room);
  for (const BlockId block : {3, 1, 4}) cache.fill(cache.entry_of(block));
  for (const BlockId block : {5, 6, 7}) CHECK(cache.write(block, 64).victim_bytes == 0);
}

TEST_CASE("a run of blocks goes once round all places, and is found again") {
  for (const std::uint32_t count : {1U, 2U, 3U, 12U, 64U, 1000U, 1024U, 65'535U}) {
    const BlockSpread spread(count);
    for (const BlockId run : {BlockId{0}, BlockId{1}, BlockId{77}, BlockId{0xFFFF'FFFEU} / count - 1}) {
      std::vector<bool> taken(count, false);
      for (BlockId block = run * count; block < (run + 1) * count; ++block) {
        const BlockSpread::Place place = spread.place(block);
        REQUIRE(place.run == run);
        REQUIRE(place.index < count);
        REQUIRE_FALSE(taken[place.index]);
        taken[place.index] = true;
        REQUIRE(spread.block(place) == block);
      }
    }
  }
  // 64 blocks at a stride of 1, 2, 3, ... 16 runs: plain remainders would put
  // all of them into one of 64 places. Thrown at random, they would hit 64 (1 -
  // 1/e) = 40 of them.
  const BlockSpread spread(64);
  for (BlockId stride = 1; stride <= 16; ++stride) {
    std::set<std::uint32_t> places;
    for (BlockId i = 0; i < 64; ++i) places.insert(spread.place(i * stride * 64).index);
    CHECK(places.size() >= 32);
  }
}

TEST_CASE("banks serve first in, first out, to the picosecond") {
  CacheSpec spec;  // 64 B a clock, and a clock is 1000 / 1.4 = 714 2/7 ps
  Cache cache(spec);
  // 1 KiB takes 16 clocks, which are 11,428 4/7 ps: it is served at 11,429. The
  // next one waits: 32 clocks, 22,857 1/7.
  CHECK(cache.bank_time(0, 1024, 0) == 11'429);
  CHECK(cache.bank_time(0, 1024, 1) == 22'858);
  // Another bank is free.
  CHECK(cache.bank_time(1, 1024, 1) == 11'430);
  // Seven together take 112 clocks, exactly 80,000 ps; rounded one by one it
  // would be 80,003.
  for (int i = 3; i < 7; ++i) CHECK(cache.bank_time(0, 1024, 20'000) < 80'000);
  CHECK(cache.bank_time(0, 1024, 20'000) == 80'000);
  // At that very time the bank is free. 65 B take two whole clocks: 1,428 4/7.
  CHECK(cache.bank_time(0, 65, 80'000) == 81'429);
  // After a pause, a busy period begins where the access comes.
  CHECK(cache.bank_time(0, 64, 90'000) == 90'715);
  CHECK(cache.bank_time(0, 64, 90'000) == 91'429);
}

TEST_CASE("a random run equals a plain model of the cache") {
  struct Shape {
    std::int64_t sets;
    std::uint32_t ways;
  };
  for (const Shape shape : {Shape{1, 1}, Shape{1, 16}, Shape{3, 2}, Shape{5, 7}, Shape{8, 16}}) {
    Cache cache(small(shape.sets, shape.ways));
    PlainCache plain(cache, shape.ways);
    const KeyedRandom random(static_cast<std::uint64_t>(shape.sets * 100 + shape.ways), random_stream("cache"));
    const auto blocks = static_cast<std::uint64_t>(shape.sets) * shape.ways * 2;
    std::map<BlockId, std::uint32_t> fetched;  // entry by block
    std::int64_t draws = 0;
    const auto below = [&](std::uint64_t count) { return random.below(static_cast<std::uint64_t>(draws++), count); };
    for (int step = 0; step < 30'000; ++step) {
      const std::uint64_t what = below(1000);
      // In turns of 1,000 steps, memory is fast enough, or the sets fill up
      // with fetches.
      if (what < (step / 1000 % 2 == 0 ? 400U : 100U) && !fetched.empty()) {
        const auto next = std::next(fetched.begin(), static_cast<std::ptrdiff_t>(below(fetched.size())));
        REQUIRE(cache.entry_of(next->first) == next->second);
        cache.fill(next->second);
        plain.fill(next->first);
        fetched.erase(next);
      } else if (what == 999) {
        Dirty ours = flushed(cache), theirs = plain.flush();
        std::sort(ours.begin(), ours.end());
        std::sort(theirs.begin(), theirs.end());
        REQUIRE(ours == theirs);
      } else {
        const BlockId block = below(blocks);
        const auto bytes = static_cast<std::uint32_t>(1 + block % 64);
        const bool is_write = what > 800;
        const CacheResult ours = is_write ? cache.write(block, bytes) : cache.read(block, bytes);
        const CacheResult theirs = plain.access(block, bytes, is_write);
        REQUIRE(ours.outcome == theirs.outcome);
        REQUIRE(ours.victim_bytes == theirs.victim_bytes);
        if (theirs.victim_bytes > 0) REQUIRE(ours.victim == theirs.victim);
        if (!is_write && ours.outcome == CacheOutcome::miss) fetched[block] = ours.entry;
        if (ours.outcome == CacheOutcome::pending) REQUIRE(fetched.at(block) == ours.entry);
      }
      REQUIRE(cache.pending() == fetched.size());
    }
    const CacheCounts& counts = cache.counts();
    CHECK(counts.hits > 0);
    CHECK(counts.merged > 0);
    CHECK(counts.write_backs > 0);
    CHECK(counts.no_room > 0);
  }
}

TEST_CASE("bad caches, blocks and fills are refused") {
  CHECK(problems(CacheSpec{}).empty());
  CHECK(CacheSpec{}.sets() == 1024);
  const auto wrong = [](auto change) {
    CacheSpec spec;
    change(spec);
    CHECK(problems(spec).size() == 1);
    CHECK_THROWS_AS(Cache(spec), InputError);
  };
  wrong([](CacheSpec& spec) { spec.ways = 0; });
  wrong([](CacheSpec& spec) { spec.ways = 17; });
  wrong([](CacheSpec& spec) { spec.banks = 0; });
  wrong([](CacheSpec& spec) { spec.granularity = 0; });
  wrong([](CacheSpec& spec) { spec.granularity = std::int64_t{1} << 32U; });
  wrong([](CacheSpec& spec) { spec.bank_bytes_per_clock = 0; });
  wrong([](CacheSpec& spec) { spec.clock = -1; });
  wrong([](CacheSpec& spec) { spec.hit_latency = -1; });
  wrong([](CacheSpec& spec) { spec.capacity = 16 * 1024 - 1; });
  wrong([](CacheSpec& spec) { spec.capacity = -1; });
  wrong([](CacheSpec& spec) { spec.capacity = std::int64_t{1} << 62U; });

  // Three sets and a part of a fourth one.
  CacheSpec odd;
  odd.capacity = 3 * 16 * 1024 + 100;
  CHECK(odd.sets() == 3);

  Cache cache(small(2, 2));
  CHECK_THROWS_AS(cache.fill(Cache::no_entry), InternalError);
  CHECK_THROWS_AS(cache.fill(0), InternalError);
  CHECK(read(cache, 1) == CacheOutcome::miss);
  cache.fill(cache.entry_of(1));
  CHECK_THROWS_AS(cache.fill(cache.entry_of(1)), InternalError);
  CHECK(read(cache, 0xFFFF'FFFEU) == CacheOutcome::miss);
  CHECK_THROWS_AS(cache.read(0xFFFF'FFFFU, 64), InternalError);
  CHECK_THROWS_AS(cache.write(BlockId{1} << 40U, 64), InternalError);
}
