// Address maps: what could never work is refused before time zero, and T3's
// collectives work.
#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

#include "tessera/program/kernel.hpp"

using namespace tessera::program;

namespace {

bool mentions(const std::vector<std::string>& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

/// Ring reduce-scatter (T3, figures 7, 11, 12): four chunks of four tiles. Rank
/// r stores chunk r straight into rank r - 1, sends chunks r + 1 and r + 2
/// there when its own and its neighbour's updates are in, and keeps chunk r
/// + 3.
std::vector<AddressMap> ring_reduce_scatter() {
  std::vector<AddressMap> group;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    AddressMap map{rank, 4, 16, {}};
    const std::uint32_t next = (rank + 3) % 4;
    map.regions.push_back({rank * 4, 4, RegionKind::remote, next, StoreOperation::update, 0, 1, true});
    for (const std::uint32_t step : {1U, 2U})
      map.regions.push_back({(rank + step) % 4 * 4, 4, RegionKind::dma, next, StoreOperation::update, 2, 1, true});
    map.regions.push_back({(rank + 3) % 4 * 4, 4, RegionKind::local, 0, StoreOperation::update, 2, 1, true});
    group.push_back(map);
  }
  return group;
}

}  // namespace

TEST_CASE("regions that contradict each other are refused") {
  const AddressMap good = ring_reduce_scatter()[0];
  CHECK(problems(good).empty());
  // dma_map of tiles 4 to 7, moved to 2 to 5: it overlaps the remote_map of
  // tiles 0 to 3.
  AddressMap map = good;
  map.regions[1].first_tile = 2;
  REQUIRE(problems(map).size() == 1);
  CHECK(problems(map)[0] == "remote_map of WG tiles 0 to 3 overlaps dma_map of WG tiles 2 to 5");
  // The long way round: a region that covers all others. Twice it keeps what a DMA sends on; what the first one stores
  // elsewhere may well stay here too.
  map = good;
  map.regions[3] = {0, 16, RegionKind::local, 0, StoreOperation::update, 2, 1, true};
  CHECK(problems(map).size() == 2);
  // One tile may go to several devices, but once to each, and after the same
  // updates.
  map = good;
  map.regions[2] = map.regions[1];
  CHECK(mentions(problems(map), "goes to the same rank as"));
  map.regions[2].destination = 2;
  CHECK(problems(map).empty());
  map.regions[2].updates = 1;
  CHECK(mentions(problems(map), "does not expect the same updates as"));

  const auto wrong = [&](std::size_t region, const std::string& part, auto change) {
    AddressMap changed = good;
    change(changed.regions[region]);
    const std::vector<std::string> texts = problems(changed);
    CHECK(texts.size() == 1);
    CHECK(mentions(texts, part));
  };
  wrong(0, "has no tiles", [](Region& region) { region.tiles = 0; });
  wrong(3, "has 16 WG tiles", [](Region& region) { region.tiles = 5; });
  wrong(1, "rank 4 of a group of 4", [](Region& region) { region.destination = 4; });
  wrong(1, "the device itself", [](Region& region) { region.destination = 0; });
  wrong(1, "at least one update", [](Region& region) { region.updates = 0; });
  wrong(0, "not written here", [](Region& region) { region.updates = 1; });
  wrong(0, "sends nothing", [](Region& region) { region.writes = 0; });
}

TEST_CASE("updates that never come, or too many, are found over a whole group") {
  CHECK(problems(ring_reduce_scatter()).empty());
  // Rank 0 keeps chunk 0: rank 3 waits for it, so that it sends nothing to rank
  // 2, nor rank 2 to rank 1.
  std::vector<AddressMap> group = ring_reduce_scatter();
  group[0].regions.erase(group[0].regions.begin());
  REQUIRE(problems(group).size() == 3);
  CHECK(problems(group)[0] ==
        "rank 1: local region of WG tiles 0 to 3 waits for 2 update(s) of each "
        "element, but 1 come(s) to WG tile 0: it "
        "would wait for ever");
  // Half of chunk 0 only: the other half is found.
  group = ring_reduce_scatter();
  group[0].regions[0].tiles = 2;
  REQUIRE(problems(group).size() == 3);
  CHECK(mentions(problems(group), "WG tile 2"));
  // A circle: each waits for its neighbour's update before it sends its own.
  group.clear();
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    group.push_back({rank, 4, 4, {{0, 4, RegionKind::dma, (rank + 3) % 4, StoreOperation::update, 2, 1, true}}});
  CHECK(problems(group).size() == 4);
  // All of them wait for their own only: they send, and get one update more
  // than they counted on.
  for (AddressMap& map : group) map.regions[0].updates = 1;
  REQUIRE(problems(group).size() == 4);
  CHECK(mentions(problems(group), "before the last"));
  // The same into other buffers is a neighbour exchange, and well.
  for (AddressMap& map : group) map.regions[0].counted_there = false;
  CHECK(problems(group).empty());
}

TEST_CASE("a result that is stored here and to several devices") {
  const Region here{0, 4, RegionKind::local, 0, StoreOperation::store, 0, 1, true};
  const auto there = [](std::uint32_t rank) {
    return Region{0, 4, RegionKind::remote, rank, StoreOperation::store, 0, 1, true};
  };
  AddressMap map{0, 4, 4, {here, there(1), there(2)}};
  CHECK(problems(map).empty());
  map.regions.push_back(there(2));
  CHECK(problems(map) == std::vector<std::string>{
                             "remote_map of WG tiles 0 to 3 goes to the same rank as remote_map of WG tiles 0 to 3"});
  map.regions.back() = here;
  CHECK(mentions(problems(map), "local region of WG tiles 0 to 3 overlaps local region"));
  map.regions.back() = there(3);
  map.regions.back().writes = 2;
  CHECK(mentions(problems(map), "is not written as often as"));
}

TEST_CASE("all-gathers: everybody ends with the shards of all, or is told who waits") {
  // Three members with two tiles each, rank 1: it makes tiles 2 and 3, sends them to rank 0, passes on what rank 2 has
  // made, and keeps rank 0's, which have come all the way round.
  const AddressMap ring = ring_all_gather_map(1, 3, 2);
  CHECK(ring.tiles == 6);
  CHECK(ring.first_own == 2);
  REQUIRE(ring.regions.size() == 3);
  const std::uint32_t first[] = {2, 4, 0};
  for (std::size_t i = 0; i < 3; ++i) {
    const Region& region = ring.regions[i];
    CHECK(region.first_tile == first[i]);
    CHECK(region.kind == (i == 2 ? RegionKind::local : RegionKind::dma));
    CHECK(region.writes == (i == 0 ? 1U : 0U));
    CHECK(region.updates == 1);
    CHECK(region.operation == StoreOperation::store);
  }
  // A member that passes nothing on: its neighbour waits for the third shard, and that one's neighbour gets it neither.
  std::vector<AddressMap> group;
  for (std::uint32_t rank = 0; rank < 4; ++rank) group.push_back(ring_all_gather_map(rank, 4, 2));
  CHECK(problems(group).empty());
  group[1].regions[1].kind = RegionKind::local;
  REQUIRE(problems(group).size() == 2);
  CHECK(mentions(problems(group), "rank 0: dma_map of WG tiles 4 to 5 waits for 1 update(s) of each element, but 0"));
  CHECK(mentions(problems(group), "rank 3: local region of WG tiles 4 to 5"));
  // Directly: a shard that is not stored to one of the others.
  group.clear();
  for (std::uint32_t rank = 0; rank < 4; ++rank) group.push_back(direct_all_gather_map(rank, 4, 2));
  CHECK(problems(group).empty());
  CHECK(group[0].regions.size() == 7);
  group[2].regions.erase(group[2].regions.begin() + 1);
  CHECK(problems(group).size() == 1);
  CHECK(mentions(problems(group), "rank 3: local region of WG tiles 4 to 5 waits for 1 update(s)"));
}

TEST_CASE("other collectives as address maps") {
  std::vector<AddressMap> direct, gather, multicast, split_k;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    // Direct reduce-scatter (7.1): all chunks go straight to their owners,
    // which wait for four updates.
    AddressMap map{rank, 4, 16, {}};
    for (std::uint32_t chunk = 0; chunk < 4; ++chunk) {
      const RegionKind kind = chunk == rank ? RegionKind::local : RegionKind::remote;
      map.regions.push_back({chunk * 4, 4, kind, chunk, StoreOperation::update, chunk == rank ? 4U : 0U, 1, true});
    }
    direct.push_back(map);
    // Two WGs for each tile (split-K, 7.7) update it twice: eight updates.
    for (Region& region : map.regions) region.writes = 2;
    map.regions[rank].updates = 8;
    split_k.push_back(map);
    // Ring all-gather: rank r writes chunk r; it and two more go on to rank r -
    // 1, the one after those ends here.
    map.regions.clear();
    for (std::uint32_t step = 0; step < 4; ++step) {
      const RegionKind kind = step == 3 ? RegionKind::local : RegionKind::dma;
      map.regions.push_back(
          {(rank + step) % 4 * 4, 4, kind, (rank + 3) % 4, StoreOperation::store, 1, step == 0 ? 1U : 0U, true});
    }
    gather.push_back(map);
    // Direct all-gather: to all others at once.
    map.regions.clear();
    for (std::uint32_t other = 0; other < 4; ++other) {
      if (other == rank) continue;
      map.regions.push_back({rank * 4, 4, RegionKind::dma, other, StoreOperation::store, 1, 1, true});
      map.regions.push_back({other * 4, 4, RegionKind::local, 0, StoreOperation::store, 1, 0, true});
    }
    multicast.push_back(map);
  }
  CHECK(problems(direct).empty());
  CHECK(problems(split_k).empty());
  CHECK(problems(gather).empty());
  CHECK(problems(multicast).empty());
  // Without the second update of one of the four, its owner gets 7 of 8.
  split_k[2].regions[0].writes = 1;
  REQUIRE(problems(split_k).size() == 1);
  CHECK(mentions(problems(split_k),
                 "rank 0: local region of WG tiles 0 to 3 waits for 8 "
                 "update(s) of each element, but 7"));
}

TEST_CASE(
    "the maps of ring, direct reduce-scatter and all-to-all reach their "
    "numbers of updates") {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 8U}) {
    for (const std::uint32_t tiles : {8U, 17U, 1088U}) {
      for (const std::uint32_t writes : {1U, 2U}) {
        std::vector<AddressMap> ring, direct, exchange;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
          ring.push_back(ring_reduce_scatter_map(rank, ranks, tiles, writes));
          direct.push_back(direct_reduce_scatter_map(rank, ranks, tiles, writes));
          exchange.push_back(all_to_all_map(rank, ranks, tiles));
        }
        CAPTURE(ranks, tiles, writes);
        CHECK(problems(ring) == std::vector<std::string>{});
        CHECK(problems(direct) == std::vector<std::string>{});
        CHECK(problems(exchange) == std::vector<std::string>{});
      }
    }
  }
}

TEST_CASE("every registered map ends on groups of any size") {
  for (const AddressMapKind& kind : address_map_kinds()) {
    for (std::uint32_t ranks = 2; ranks <= 5; ++ranks) {
      for (const std::uint32_t tiles : {1U, 4U, 13U}) {
        for (const std::uint32_t writes : {1U, 2U}) {
          CAPTURE(kind.name, ranks, tiles, writes);
          std::vector<AddressMap> group;
          for (std::uint32_t rank = 0; rank < ranks; ++rank) group.push_back(kind.make(rank, ranks, tiles, writes));
          CHECK(problems(group).empty());
          CHECK(&address_map_kinds()[address_map_index(kind.name)] == &kind);
        }
      }
    }
  }
}

TEST_CASE("what a switch adds comes once, when all others have sent it") {
  for (std::uint32_t ranks = 2; ranks <= 5; ++ranks) {
    for (const std::uint32_t writes : {1U, 2U}) {
      CAPTURE(ranks, writes);
      std::vector<AddressMap> group;
      for (std::uint32_t rank = 0; rank < ranks; ++rank)
        group.push_back(combined(direct_reduce_scatter_map(rank, ranks, 13, writes)));
      CHECK(problems(group).empty());
      // All begin with chunk 0, so that what is added comes at one time.
      for (const AddressMap& map : group) CHECK(map.regions.front().first_tile == 0);
      // One that does not send its part of chunk 0: its owner waits for the sum.
      if (ranks == 2) continue;
      group[1].regions.erase(group[1].regions.begin());
      REQUIRE(problems(group).size() == 1);
      CHECK(mentions(problems(group), "rank 0: local region of WG tiles 0 to"));
    }
  }
  // On a ring nothing meets: what one stores to its neighbour is no sum of all.
  std::vector<AddressMap> ring;
  for (std::uint32_t rank = 0; rank < 4; ++rank) ring.push_back(combined(ring_reduce_scatter_map(rank, 4, 8)));
  CHECK(!problems(ring).empty());
}

TEST_CASE("rows of A that are gathered come to all members, whatever the map") {
  // Directly: rank 1 of 3 with two rows of tiles each sends its own to both others by DMA, and waits for theirs.
  GemmKernel gemm;
  gemm.shape.m = 6 * 128;
  gemm.shape.n = gemm.shape.k = 64;
  gemm.input_map = static_cast<std::uint16_t>(address_map_index("direct-all-gather"));
  const AddressMap direct = gemm.input_address_map(1, 3);
  REQUIRE(direct.regions.size() == 4);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(direct.regions[i].kind == RegionKind::dma);
    CHECK(direct.regions[i].first_tile == 2);
    CHECK(direct.regions[i].destination == (i == 0 ? 2U : 0U));
    CHECK(direct.regions[i + 2].kind == RegionKind::local);
    CHECK(direct.regions[i + 2].updates == 1);
  }
  for (const AddressMapKind& kind : address_map_kinds()) {
    if (!kind.gathers) continue;
    gemm.input_map = static_cast<std::uint16_t>(address_map_index(kind.name));
    for (std::uint32_t ranks = 2; ranks <= 6; ++ranks) {
      CAPTURE(kind.name, ranks);
      gemm.shape.m = 2 * ranks * 128;
      std::vector<AddressMap> group;
      for (std::uint32_t rank = 0; rank < ranks; ++rank) group.push_back(gemm.input_address_map(rank, ranks));
      CHECK(problems(group).empty());
    }
  }
}
