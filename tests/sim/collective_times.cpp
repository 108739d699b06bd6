// Completion times of collectives on idle networks, solved by hand and compared to the picosecond. In the derivations L
// is the latency of a link, d(x) = x / bandwidth, P the packet size, S the buffer, N the members, x = S/N the largest
// chunk, r(x) the time to reduce x bytes (two operands read, one written, at memory bandwidth). A message over h hops
// takes h L + d(x) + (h-1) d(min(P, x)).
#include <catch2/catch.hpp>

#include "idle_network.hpp"

namespace tessera::sim {
namespace {

using program::CollectiveKind;

Idle ring_of(int devices, const char* direction = "both") {
  return Idle("kind = \"ring\"\ndevices = " + std::to_string(devices) +
              "\nbandwidth = \"150 GB/s\"\nlatency = \"500 ns\"\ndirection = \"" + direction + "\"\n");
}

Idle connected(int devices) {
  return Idle("kind = \"cluster\"\nnodes = 1\ngpus_per_node = " + std::to_string(devices) +
              "\ninside = \"fully-connected\"\nnvlink_bandwidth = \"200 GB/s\"\nnvlink_latency = \"600 ns\"\n"
              "nic_bandwidth = \"25 GB/s\"\nnic_latency = \"2.7 us\"\n");
}

/// Nodes of four, fully connected inside; each GPU has a NIC of its own to one switch, or they share fewer.
Idle nodes_of(int nodes, int nics = 4) {
  return Idle("kind = \"cluster\"\nnodes = " + std::to_string(nodes) +
              "\ngpus_per_node = 4\ninside = \"fully-connected\"\nnvlink_bandwidth = \"200 GB/s\"\n"
              "nvlink_latency = \"600 ns\"\nnic_bandwidth = \"25 GB/s\"\nnic_latency = \"2.7 us\"\n" +
              (nics < 4 ? "nics_per_node = " + std::to_string(nics) + "\npcie_bandwidth = \"200 GB/s\"\n" : ""));
}

}  // namespace

TEST_CASE("ring all-reduce of 24 MB on 8 devices at 150 GB/s and 500 ns: 287 us") {
  // 2 x 7 steps; each sends 24 MB / 8 = 3 MB over one link: 500 ns + 3 MB / 150 GB/s = 20.5 us. 14 x 20.5 us = 287 us.
  CHECK(ring_of(8).all_reduce("ring", 24'000'000) == 287 * microsecond);
}

TEST_CASE("a ring whose member comes late takes its own time from then on") {
  // The messages of the steps before it are there when member 3 comes, so it posts seven steps at once. They leave one
  // after another: its first is through after 20.5 us, and the chain of 14 steps round the ring that begins with it
  // takes 14 x 20.5 us.
  Idle ring = ring_of(8);
  ring.late = 100 * microsecond;
  CHECK(ring.all_reduce("ring", 24'000'000) == 387 * microsecond);
  ring.late = 3 * microsecond;
  CHECK(ring.all_reduce("ring", 24'000'000) == 290 * microsecond);
}

TEST_CASE("ring all-reduce takes 2(N-1) steps of its largest chunk") {
  // A chunk travels without rest: N-1 hops while it is summed, N-1 more while it is spread. The largest one is the last
  // to arrive.
  for (const int devices : {2, 3, 5, 8, 13}) {
    const Idle ring = ring_of(devices);
    for (const std::int64_t elements : {std::int64_t{1'000'000}, std::int64_t{1'000'001}, std::int64_t{7}}) {
      const std::int64_t chunk = (elements + devices - 1) / devices * ring.element;
      CHECK(ring.all_reduce("ring", elements * ring.element) == 2 * (devices - 1) * ring.message(chunk));
    }
  }
}

TEST_CASE("collectives of one member and of no bytes") {
  Idle alone = ring_of(4);
  alone.group.members = {2};
  CHECK(alone.all_reduce("ring", 1'000'000) == 0);
  // Without data a step is still a synchronisation: 6 latencies.
  CHECK(ring_of(4).all_reduce("ring", 0) == 6 * 500 * nanosecond);
}

TEST_CASE("reduce-scatter and all-gather are the halves of an all-reduce") {
  // N-1 steps each; only the reduce-scatter adds, after each of its receives.
  Idle ring = ring_of(6);
  ring.free_reductions = false;
  const std::int64_t chunk = 4'000'000;
  const std::int64_t bytes = 6 * chunk;
  CHECK(ring.time("ring", CollectiveKind::reduce_scatter, bytes) == 5 * (ring.message(chunk) + reduction(chunk)));
  CHECK(ring.time("ring", CollectiveKind::all_gather, bytes) == 5 * ring.message(chunk));
  CHECK(ring.all_reduce("ring", bytes) == 10 * ring.message(chunk) + 5 * reduction(chunk));
}

TEST_CASE("all-reduces in a row add up") {
  Idle ring = ring_of(8);
  ring.repeat = 20;
  CHECK(ring.all_reduce("ring", 8'000'000) == 20 * 14 * ring.message(1'000'000));
}

TEST_CASE("a ring whose members stand two links apart: (h-1)(latency + packet/bandwidth) more a step") {
  // Every second device of a ring of 12: each message passes one device in between and shares no link.
  Idle ring = ring_of(12, "up");
  ring.group.members = {0, 2, 4, 6, 8, 10};
  const std::int64_t chunk = 500'000;
  CHECK(ring.message(chunk, 2) == ring.message(chunk) + ring.latency + ring.d(Idle::packet));
  CHECK(ring.all_reduce("ring", 6 * chunk) == 10 * ring.message(chunk, 2));
  // Chunks smaller than a packet are stored and forwarded whole.
  CHECK(ring.all_reduce("ring", 6 * 1000) == 10 * (2 * ring.latency + 2 * ring.d(1000)));
}

TEST_CASE("a bidirectional ring halves what each link carries") {
  // The same steps, each half a chunk on either of two links.
  for (const int devices : {3, 4, 8}) {
    const Idle ring = ring_of(devices);
    const std::int64_t chunk = 3'000'000;
    CHECK(ring.all_reduce("bidirectional-ring", devices * chunk) == 2 * (devices - 1) * ring.message(chunk / 2));
  }
  Idle ring = ring_of(4);
  ring.free_reductions = false;
  // Both halves are here before they are added together: three reductions of a whole chunk.
  CHECK(ring.all_reduce("bidirectional-ring", 12'000'000) == 6 * ring.message(1'500'000) + 3 * reduction(3'000'000));
}

TEST_CASE("direct collectives among fully connected devices take one step each way") {
  Idle all = connected(8);
  const std::int64_t chunk = 2'000'000;
  CHECK(all.all_reduce("direct", 8 * chunk) == 2 * all.message(chunk));
  CHECK(all.time("direct", CollectiveKind::reduce_scatter, 8 * chunk) == all.message(chunk));
  CHECK(all.time("direct", CollectiveKind::all_gather, 8 * chunk) == all.message(chunk));
  CHECK(all.time("direct", CollectiveKind::all_to_all, 8 * chunk) == all.message(chunk));
  CHECK(all.time("direct", CollectiveKind::broadcast, 8 * chunk) == all.message(8 * chunk));
  all.free_reductions = false;
  // Seven chunks are added at once: 7 r(x), as one sweep over memory.
  CHECK(all.all_reduce("direct", 8 * chunk) == 2 * all.message(chunk) + reduction(7 * chunk));
}

TEST_CASE("pairwise all-to-all takes N-1 steps") {
  const Idle all = connected(6);
  CHECK(all.time("ring", CollectiveKind::all_to_all, 6'000'000) == 5 * all.message(1'000'000));
}

TEST_CASE("binomial broadcast takes log2 N messages of the whole buffer, and one more sender each round") {
  const std::int64_t bytes = 5'000'000;
  for (const auto& [devices, rounds] : {std::pair(2, 1), std::pair(4, 2), std::pair(8, 3), std::pair(16, 4)}) {
    Idle tree = connected(devices);
    tree.root = static_cast<std::uint32_t>(devices - 1);
    // The longest way goes over one link a round: k (L + d(S)).
    CHECK(tree.time("binomial-tree", CollectiveKind::broadcast, bytes) == rounds * tree.message(bytes));
  }
  // Six members: the root sends to 4, 2 and 1 one after the other, each when the one before has left: d, 2d and 3d
  // after the start. Member 4 has the data at d + L and 5 at 2d + 2L; member 2 at 2d + L and 3 at 3d + 2L; member 1 at
  // 3d + L.
  const Idle six = connected(6);
  CHECK(six.time("binomial-tree", CollectiveKind::broadcast, bytes) == 3 * six.d(bytes) + 2 * six.latency);
}

TEST_CASE("binomial all-reduce goes up the tree, adding, and down again") {
  Idle tree = connected(8);
  const std::int64_t bytes = 5'000'000;
  CHECK(tree.all_reduce("binomial-tree", bytes) == 6 * tree.message(bytes));
  tree.free_reductions = false;
  CHECK(tree.all_reduce("binomial-tree", bytes) == 6 * tree.message(bytes) + 3 * reduction(bytes));
}

TEST_CASE("dissemination takes log2 N messages of the whole buffer, each added, on groups of any size") {
  const std::int64_t bytes = 5'000'000;
  for (const auto& [devices, rounds] :
       {std::pair(2, 1), std::pair(3, 2), std::pair(6, 3), std::pair(8, 3), std::pair(9, 4)}) {
    Idle all = connected(devices);
    CHECK(all.all_reduce("dissemination", bytes) == rounds * all.message(bytes));
    all.free_reductions = false;
    CHECK(all.all_reduce("dissemination", bytes) == rounds * (all.message(bytes) + reduction(bytes)));
  }
}

TEST_CASE("recursive halving and doubling sends S/2, S/4, S/8 and back") {
  Idle all = connected(8);
  const std::int64_t bytes = 8'000'000;
  const Time once = all.message(bytes / 2) + all.message(bytes / 4) + all.message(bytes / 8);
  CHECK(all.all_reduce("halving-doubling", bytes) == 2 * once);
  all.free_reductions = false;
  CHECK(all.all_reduce("halving-doubling", bytes) ==
        2 * once + reduction(bytes / 2) + reduction(bytes / 4) + reduction(bytes / 8));
  // Six members: two fold into their neighbours first and hear from them last, with the whole buffer; four do the rest.
  const Idle six = connected(6);
  CHECK(six.all_reduce("halving-doubling", bytes) ==
        2 * six.message(bytes) + 2 * (six.message(bytes / 2) + six.message(bytes / 4)));
}

TEST_CASE("a ring over several NICs of a node: all bytes of its part on the NICs, back to back") {
  // Four rings, each with a quarter of every chunk: x = 16 MB / 16 / 4 = 250 kB, 10 us on a NIC. A NIC carries 30 of
  // them one after another, for what it sends next comes in time: a chunk needs 2.7 us + 2.6 us (the packet at the
  // switch) + 3 x (0.6 us + 1.25 us) from the NIC of a node to that of the next one behind its own 10 us, and 30 us are
  // three steps. The last one is there 2.7 + 2.6 us after it has left.
  const Idle nodes = nodes_of(4);
  const auto nic = [](std::int64_t amount) { return duration_at_rate(Bytes{amount}, BytesPerSecond{25'000'000'000}); };
  const Time last = 2700 * nanosecond + nic(Idle::packet);
  CHECK(nodes.all_reduce("ring", 16'000'000) == nic(30 * 250'000) + last);
  CHECK(nodes.time("ring", CollectiveKind::all_gather, 16'000'000) == nic(15 * 250'000) + last);
}

TEST_CASE("auto takes as long as the algorithm that it chooses, whose closed form it knows") {
  for (const int nics : {4, 2, 1}) {
    const Idle nodes = nodes_of(4, nics);
    for (const std::int64_t bytes : {1'024, 262'144, 16'000'000, 64'000'000}) {
      CAPTURE(nics, bytes);
      Time least = never;
      for (const char* algorithm : {"ring", "hierarchical", "binomial-tree"})
        least = std::min(least, nodes.all_reduce(algorithm, bytes));
      if (nics == 4) least = std::min(least, nodes.all_reduce("direct", bytes));  // others share what it passes
      const Time chosen = nodes.all_reduce("auto", bytes);
      if (nics == 4) CHECK(chosen == least);
      CHECK(static_cast<double>(chosen) <= 1.03 * static_cast<double>(least));  // forms of shared NICs are near
    }
  }
}

TEST_CASE("in-switch all-reduce: both phases beside each other, but for the first piece and the last one") {
  // Four GPUs on a switch: pieces of 4 x 2 MiB. Of one piece each phase carries all of it, 8 MiB, one after the other.
  // Of two the second one comes up while the first one goes down: 8 MiB and the quarter that a member gives back.
  const Idle node(
      "kind = \"cluster\"\nnodes = 1\ngpus_per_node = 4\ninside = \"switch\"\nnvlink_bandwidth = \"200 GB/s\"\n"
      "nvlink_latency = \"600 ns\"\n");
  const std::int64_t piece = 8'388'608;
  CHECK(node.all_reduce("in-switch", piece) == 2 * node.message(piece, 2));
  CHECK(node.all_reduce("in-switch", 2 * piece) == 2 * node.message(piece, 2) + node.message(piece + piece / 4, 2));
}

TEST_CASE("hierarchical all-reduce: rings inside the nodes, rings across them") {
  // Inside: 3 steps of S/4 over one link to scatter, 3 to gather. Across: 6 steps of S/16 over two links of half the
  // NIC's latency each.
  const Idle nodes = nodes_of(4);
  const std::int64_t bytes = 16'000'000;
  const auto nic = [](std::int64_t amount) { return duration_at_rate(Bytes{amount}, BytesPerSecond{25'000'000'000}); };
  const Time inside = 600 * nanosecond + duration_at_rate(Bytes{bytes / 4}, BytesPerSecond{200'000'000'000});
  const Time across = 2700 * nanosecond + nic(bytes / 16) + nic(Idle::packet);
  CHECK(nodes.all_reduce("hierarchical", bytes) == 6 * inside + 6 * across);
  // The halves: 3 steps inside and 3 across.
  CHECK(nodes.time("hierarchical", CollectiveKind::reduce_scatter, bytes) == 3 * inside + 3 * across);
  CHECK(nodes.time("hierarchical", CollectiveKind::all_gather, bytes) == 3 * inside + 3 * across);
}

TEST_CASE("hierarchical broadcast: a tree across nodes, then trees inside") {
  const Idle nodes = nodes_of(2);
  const std::int64_t bytes = 4'000'000;
  const auto nic = [](std::int64_t amount) { return duration_at_rate(Bytes{amount}, BytesPerSecond{25'000'000'000}); };
  const Time inside = 600 * nanosecond + duration_at_rate(Bytes{bytes}, BytesPerSecond{200'000'000'000});
  // One message across, then two rounds inside the other node.
  const Time across = 2700 * nanosecond + nic(bytes) + nic(Idle::packet);
  CHECK(nodes.time("hierarchical", CollectiveKind::broadcast, bytes) == across + 2 * inside);
}

}  // namespace tessera::sim
