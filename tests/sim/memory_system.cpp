// The memory of a GPU, L2 and channel together, on a scripted walk: what hits, what waits, what has to leave, and when.
#include <catch2/catch.hpp>

#include <queue>
#include <vector>

#include "memory_channel_case.hpp"
#include "tessera/sim/memory/memory_system.hpp"

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
  Walk() : memory_(spec(), *this) {}

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

  void arrived(std::uint32_t owner, Time at) override { came.push_back({owner, at}); }
  void stored(const MemoryRequest&, Time) override { FAIL("nothing is stored past the L2"); }
  void room_made(std::uint32_t owner, Time now) override { rooms.push_back({owner, now}); }
  void served(const MemoryRequest& request, Time at) override {
    (request.op == MemoryOp::read ? reads : writes).push_back({static_cast<std::uint32_t>(request.block), at});
  }
  void wake_channel(std::uint32_t, Time at) override { wakes_.push(at); }

  std::vector<Told> came, rooms;    // by owner
  std::vector<Told> reads, writes;  // of DRAM, by block

 private:
  static MemorySystemSpec spec() {
    MemorySystemSpec spec;
    spec.cache.capacity = 2048;
    spec.cache.ways = 2;
    spec.cache.banks = 1;
    spec.cache.clock = 1'000'000'000;
    spec.cache.hit_latency = 50 * nanosecond;
    spec.channel = bus_alone();
    spec.channel.block_bursts = 32;
    spec.channel.row_blocks = 2;
    spec.channel.max_bypass = 64;
    spec.channels = 1;
    return spec;
  }

  std::priority_queue<Time, std::vector<Time>, std::greater<>> wakes_;
  MemorySystem memory_;
};

constexpr Time ns = nanosecond;
using Tolds = std::vector<Told>;

}  // namespace

TEST_CASE("a memory's loads: a miss, a hit on data under way, loads that wait for the same fetch") {
  Walk walk;
  // Block 0 is served at once, from 0 to 32: 32 + 100 + 50.
  CHECK(walk.read(0, 0, 1) == never);
  CHECK(walk.came == Tolds{{1, 182 * ns}});
  // Its fetch is certain: whoever asks later gets it with the first, not at 32 + 50 when the bank has served it.
  CHECK(walk.read(10 * ns, 0, 2) == 182 * ns);
  // Block 1 waits for the channel until 32; a second load waits with it: 64 + 150, for both.
  CHECK(walk.read(20 * ns, 1, 3) == never);
  CHECK(walk.read(25 * ns, 1, 4) == never);
  CHECK(walk.came.size() == 1);
  walk.run_until(40 * ns);
  CHECK(walk.came == Tolds{{1, 182 * ns}, {4, 214 * ns}, {3, 214 * ns}});
  // Long after: the bank's 16, and 50. Two at the same time take their turn.
  CHECK(walk.read(300 * ns, 0, 5) == 366 * ns);
  CHECK(walk.read(300 * ns, 1, 6) == 382 * ns);
  CHECK(walk.reads == Tolds{{0, 132 * ns}, {1, 164 * ns}});
  CHECK(walk.cache().counts().hits == 3);
  CHECK(walk.cache().counts().merged == 1);
}

TEST_CASE("a memory's stores: clean victims go silently, dirty ones first have to find a place in the DRAM queue") {
  Walk walk;
  CHECK(walk.read(0, 0, 1) == never);
  CHECK(walk.read(200 * ns, 1, 2) == never);
  const auto clean = walk.write(500 * ns, 2, 3);  // in place of 0
  CHECK(clean.served == 516 * ns);
  CHECK_FALSE(clean.waits);
  CHECK_FALSE(walk.write(600 * ns, 3, 4).waits);  // in place of 1
  CHECK(walk.rooms.empty());
  // A load in place of 2, which is written back first: from 700 to 732; after 10 of turning the load is served, until
  // 774. Nobody waits for the write-back.
  CHECK(walk.read(700 * ns, 0, 5) == never);
  walk.run_until(750 * ns);
  CHECK(walk.writes == Tolds{{2, 732 * ns}});
  CHECK(walk.came.back() == Told{5, (774 + 150) * ns});
  CHECK(walk.rooms.empty());
  // A store in place of 3, which enters an empty queue at once.
  const auto dirty = walk.write(1'000 * ns, 4, 6);
  CHECK(dirty.served == 1'016 * ns);
  CHECK(dirty.waits);
  CHECK(walk.rooms == Tolds{{6, 1'000 * ns}});
  // The end of the kernel: 4 is left.
  walk.flush(2'000 * ns);
  CHECK(walk.writes == Tolds{{2, 732 * ns}, {3, 1'032 * ns}, {4, 2'032 * ns}});
  walk.flush(3'000 * ns);
  CHECK(walk.writes.size() == 3);
  CHECK(walk.read(4'000 * ns, 4, 7) == never);  // the L2 is empty
}

TEST_CASE("a memory whose L2 has no way free loads past it") {
  Walk walk;
  CHECK_FALSE(walk.write(0, 1, 1).waits);
  CHECK(walk.read(1'000 * ns, 0, 2) == never);  // served until 1,032; until then others wait
  CHECK(walk.read(1'001 * ns, 2, 3) == never);  // in place of 1, which has to be written back
  CHECK(walk.read(1'002 * ns, 3, 4) == never);  // in place of 0, which is certain to come
  CHECK(walk.read(1'003 * ns, 4, 5) == never);  // both ways are being fetched
  CHECK(walk.cache().counts().no_room == 1);
  walk.run_until(2'000 * ns);
  // The bus reads on, until the write-back has been overtaken by 64 bursts, those of 2 and 4; then it turns twice. 3 is
  // in the row of what is written back, and behind it.
  for (const Told& t : walk.reads) UNSCOPED_INFO("read " << t.owner << " " << t.at);
  for (const Told& t : walk.writes) UNSCOPED_INFO("write " << t.owner << " " << t.at);
  CHECK(walk.reads ==
        Tolds{{0, 1'132 * ns}, {2, 1'164 * ns}, {4, 1'196 * ns}, {3, (1'096 + 10 + 32 + 10 + 32 + 100) * ns}});
  CHECK(walk.writes == Tolds{{1, 1'138 * ns}});
  // Past the L2 means without its 50 ns.
  CHECK(walk.came == Tolds{{2, 1'182 * ns}, {3, 1'214 * ns}, {5, 1'196 * ns}, {4, 1'330 * ns}});
  CHECK_FALSE(walk.cache().holds(4));
}
