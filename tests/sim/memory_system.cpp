// The memory of a GPU, L2 and channel together, on a scripted walk: what hits, what waits, what has to leave, and when.
#include <catch2/catch.hpp>

#include <queue>
#include <vector>

#include "memory_channel_case.hpp"
#include "sim/memory/memory_system.hpp"

using namespace tessera;
using namespace tessera::sim;

namespace {

struct Told {
  std::uint32_t owner = 0;
  Time at = 0;
  bool operator==(const Told&) const = default;
};

/// One set of two ways, one bank, one channel, blocks of 1 KiB; all clocks are 1 GHz: the bank takes 16 ns a block,
/// DRAM 32 ns, and 10 ns to turn round; data are at the L2 100 ns later, at whoever asked 50 ns after that.
class Walk final : public MemoryClient {
 public:
  using Change = void (*)(MemorySystemSpec&);
  explicit Walk(Change change = [](MemorySystemSpec&) {}) : memory_(spec(change), *this) {}

  [[nodiscard]] Time read(Time now, BlockId block, std::uint32_t owner) {
    run_until(now);
    return memory_.read(now, block, 1024, TrafficClass::gemm_read, owner);
  }
  [[nodiscard]] MemorySystem::Stored write(Time now, BlockId block, std::uint32_t owner) {
    run_until(now);
    return memory_.write(now, block, 1024, TrafficClass::gemm_write, owner);
  }
  void flush(Time now) {
    run_until(now);
    memory_.flush(now, TrafficClass::gemm_write);
  }
  void run_until(Time time) {
    while (!wakes_.empty() && wakes_.top() <= time) {
      const Time now = wakes_.top();
      wakes_.pop();
      memory_.wake(now, 0);
    }
  }
  [[nodiscard]] const Cache& cache() const { return memory_.cache(); }
  [[nodiscard]] MemorySystem& memory() { return memory_; }

  void arrived(std::uint32_t owner, Time at) override { came.push_back({owner, at}); }
  void stored(const MemoryRequest& request, Time now) override { stores.push_back({request.bytes, now}); }
  void room_made(std::uint32_t owner, Time now) override { rooms.push_back({owner, now}); }
  void served(const MemoryRequest& request, Time at) override {
    (request.op == MemoryOp::read ? reads : writes).push_back({static_cast<std::uint32_t>(request.block), at});
  }
  void wake_channel(std::uint32_t, Time at) override { wakes_.push(at); }

  std::vector<Told> came, rooms;    // by owner
  std::vector<Told> reads, writes;  // of DRAM, by block
  std::vector<Told> stores;         // past the L2, by bytes

 private:
  static MemorySystemSpec spec(Change change) {
    MemorySystemSpec spec;
    spec.cache.capacity = 2048;
    spec.cache.ways = 2;
    spec.cache.banks = 1;
    spec.cache.clock = 1'000'000'000;
    spec.cache.hit_latency = 50 * nanosecond;
    spec.channel = bus_alone();
    spec.channel.block_bursts = 32;
    spec.channel.row_blocks = 2;
    spec.channels = 1;
    change(spec);
    return spec;
  }

  std::priority_queue<Time, std::vector<Time>, std::greater<>> wakes_;
  MemorySystem memory_;
};

using Tolds = std::vector<Told>;

}  // namespace

TEST_CASE("a memory's loads: a miss, a hit on data under way, loads that wait for the same fetch") {
  Walk walk;
  // Block 0 is served at once, from 0 to 32: 32 + 100 + 50.
  CHECK(walk.read(0, 0, 1) == never);
  CHECK(walk.came == Tolds{{1, 182 * nanosecond}});
  // Its fetch is certain: whoever asks later gets it with the first, not at 32 + 50 when the bank has served it.
  CHECK(walk.read(10 * nanosecond, 0, 2) == 182 * nanosecond);
  // Block 1 waits for the channel until 32; a second load waits with it: 64 + 150, for both.
  CHECK(walk.read(20 * nanosecond, 1, 3) == never);
  CHECK(walk.read(25 * nanosecond, 1, 4) == never);
  CHECK(walk.came.size() == 1);
  walk.run_until(40 * nanosecond);
  CHECK(walk.came == Tolds{{1, 182 * nanosecond}, {4, 214 * nanosecond}, {3, 214 * nanosecond}});
  // Long after: the bank's 16, and 50. Two at the same time take their turn.
  CHECK(walk.read(300 * nanosecond, 0, 5) == 366 * nanosecond);
  CHECK(walk.read(300 * nanosecond, 1, 6) == 382 * nanosecond);
  CHECK(walk.reads == Tolds{{0, 132 * nanosecond}, {1, 164 * nanosecond}});
  CHECK(walk.cache().counts().hits == 3);
  CHECK(walk.cache().counts().merged == 1);
}

TEST_CASE("a memory's stores: clean victims go silently, dirty ones first have to find a place in the DRAM queue") {
  Walk walk;
  CHECK(walk.read(0, 0, 1) == never);
  CHECK(walk.read(200 * nanosecond, 1, 2) == never);
  const auto clean = walk.write(500 * nanosecond, 2, 3);  // in place of 0
  CHECK(clean.served == 516 * nanosecond);
  CHECK_FALSE(clean.waits);
  CHECK_FALSE(walk.write(600 * nanosecond, 3, 4).waits);  // in place of 1
  CHECK(walk.rooms.empty());
  // A load in place of 2, which is written back first: from 700 to 732; after 10 of turning the load is served, until
  // 774. Nobody waits for the write-back.
  CHECK(walk.read(700 * nanosecond, 0, 5) == never);
  walk.run_until(750 * nanosecond);
  CHECK(walk.writes == Tolds{{2, 732 * nanosecond}});
  CHECK(walk.came.back() == Told{5, (774 + 150) * nanosecond});
  CHECK(walk.rooms.empty());
  // A store in place of 3, which enters an empty queue at once.
  const auto dirty = walk.write(1'000 * nanosecond, 4, 6);
  CHECK(dirty.served == 1'016 * nanosecond);
  CHECK(dirty.waits);
  CHECK(walk.rooms == Tolds{{6, 1'000 * nanosecond}});
  // The end of the kernel: 4 is left.
  walk.flush(2'000 * nanosecond);
  CHECK(walk.writes == Tolds{{2, 732 * nanosecond}, {3, 1'032 * nanosecond}, {4, 2'032 * nanosecond}});
  walk.flush(3'000 * nanosecond);
  CHECK(walk.writes.size() == 3);
  CHECK(walk.read(4'000 * nanosecond, 4, 7) == never);  // the L2 is empty
}

TEST_CASE("a memory whose L2 has no way free loads past it") {
  Walk walk;
  CHECK_FALSE(walk.write(0, 1, 1).waits);
  CHECK(walk.read(1'000 * nanosecond, 0, 2) == never);  // served until 1,032; until then others wait
  CHECK(walk.read(1'001 * nanosecond, 2, 3) == never);  // in place of 1, which has to be written back
  CHECK(walk.read(1'002 * nanosecond, 3, 4) == never);  // in place of 0, which is certain to come
  CHECK(walk.read(1'003 * nanosecond, 4, 5) == never);  // both ways are being fetched
  CHECK(walk.cache().counts().no_room == 1);
  walk.run_until(2'000 * nanosecond);
  // The DRAM queue holds the write-back and 2, then the write-back and 3, which is behind it in its row: the bus turns
  // for the one and again for the other. 4 comes last.
  const Time turned = (1'064 + 10 + 32 + 10 + 32) * nanosecond;
  CHECK(walk.reads == Tolds{{0, 1'132 * nanosecond},
                            {2, 1'164 * nanosecond},
                            {3, turned + 100 * nanosecond},
                            {4, turned + 132 * nanosecond}});
  CHECK(walk.writes == Tolds{{1, 1'106 * nanosecond}});
  // Past the L2 means without its 50 ns.
  CHECK(walk.came == Tolds{{2, 1'182 * nanosecond},
                           {3, 1'214 * nanosecond},
                           {4, turned + 150 * nanosecond},
                           {5, turned + 132 * nanosecond}});
  CHECK_FALSE(walk.cache().holds(4));
}

TEST_CASE("a memory's banks of the L2 stop while the queue behind them is full, hits too") {
  // One channel, one bank of the L2. 16 bursts may wait for the DRAM queue, which holds 32: a block of 1 KiB.
  Walk walk([](MemorySystemSpec& spec) {
    spec.cache.capacity = 8192;
    spec.cache.ways = 8;
    spec.channel.queue = 32;
    spec.limits.waiting_bursts = 16;
  });
  CHECK(walk.read(0, 0, 1) == never);                          // served from 0 to 32
  CHECK(walk.read(0, 1, 2) == never);                          // in the DRAM queue until 32
  CHECK(walk.read(0, 2, 3) == never);                          // waits for it: 32 bursts, more than 16
  CHECK(walk.read(1 * nanosecond, 0, 4) == 182 * nanosecond);  // a hit passes: nothing is ahead of it
  CHECK(walk.read(2 * nanosecond, 3, 5) == never);             // needs the DRAM: it stops the bank ...
  CHECK(walk.read(3 * nanosecond, 0, 6) == never);             // ... and the hit behind it
  CHECK(walk.came == Tolds{{1, 182 * nanosecond}});
  // At 32, 1 is taken, 2 enters, and the bank goes on: 3 waits for the queue in its turn, and the hit is answered.
  walk.run_until(32 * nanosecond);
  CHECK(walk.came == Tolds{{1, 182 * nanosecond}, {2, 214 * nanosecond}, {6, 182 * nanosecond}});
  walk.run_until(1'000 * nanosecond);
  CHECK(walk.reads ==
        Tolds{{0, 132 * nanosecond}, {1, 164 * nanosecond}, {2, 196 * nanosecond}, {3, 228 * nanosecond}});
}

TEST_CASE("a memory's banks of the L2 take turns while the queue behind them is full") {
  // One channel, even blocks in bank 0, odd ones in bank 1. As above: one block in the queue, one waits for it.
  Walk walk([](MemorySystemSpec& spec) {
    spec.cache.capacity = 16'384;
    spec.cache.ways = 16;
    spec.cache.banks = 2;
    spec.channel.queue = 32;
    spec.limits.waiting_bursts = 16;
  });
  for (const BlockId block : {0, 2, 4, 6, 8, 1, 3}) CHECK(walk.read(0, block, 1) == never);
  walk.run_until(1'000 * nanosecond);
  // 0, 2 and 4 find room; then there is room for one block each 32 ns: of bank 0, of bank 1, and so on.
  std::vector<std::uint32_t> order;
  for (const Told& read : walk.reads) order.push_back(read.owner);
  CHECK(order == std::vector<std::uint32_t>{0, 2, 4, 6, 1, 8, 3});
}

TEST_CASE("a memory's accesses past the L2 go where their pieces are; a read is told once, a store of each") {
  Walk walk;
  // Two blocks, four lines of half a block each, one behind the other: 16 ns each.
  MatrixPlace place;
  place.part_blocks = 2;
  place.per_block = place.accesses = 2;
  place.lines = place.matrix = 4;
  MemoryLayout layout;
  layout.add(2, place);
  walk.memory().lay_out(layout);
  walk.memory().read_uncached(0, 1, 1024, MemoryStream::communication, TrafficClass::gemm_read, 7);
  walk.run_until(1'000 * nanosecond);
  CHECK(walk.reads == Tolds{{1, 116 * nanosecond}, {1, 132 * nanosecond}});
  CHECK(walk.came == Tolds{{7, 132 * nanosecond}});
  const MemoryRequest store{0, 1000, MemoryOp::write, MemoryStream::communication, TrafficClass::gemm_write, 8, 9};
  walk.memory().push_uncached(2'000 * nanosecond, store);
  walk.run_until(3'000 * nanosecond);
  CHECK(walk.stores == Tolds{{500, 2'000 * nanosecond}, {500, 2'000 * nanosecond}});
  CHECK(walk.writes == Tolds{{0, 2'016 * nanosecond}, {0, 2'032 * nanosecond}});
}

TEST_CASE("a memory's bank of the L2 stops while no miss register is free") {
  Walk walk([](MemorySystemSpec& spec) {
    spec.cache.capacity = 8192;
    spec.cache.ways = 8;
    spec.limits.fetches = 2;
  });
  CHECK(walk.read(0, 0, 1) == never);  // data at the L2 at 132
  CHECK(walk.read(0, 1, 2) == never);  // at 164
  CHECK(walk.read(0, 2, 3) == never);  // waits until the first register is free, at 132: 132 + 32 + 150
  walk.run_until(1'000 * nanosecond);
  CHECK(walk.came == Tolds{{1, 182 * nanosecond}, {2, 214 * nanosecond}, {3, 314 * nanosecond}});
}
