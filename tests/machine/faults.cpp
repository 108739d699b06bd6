// Faults: what they do to links, devices and routes.
#include <algorithm>
#include <queue>
#include <random>

#include "machine_from.hpp"

namespace tessera::machine {
namespace {

TEST_CASE("a slow link keeps its routes; both directions unless one way") {
  const Machine slow =
      machine_from(machine_text(ring6, fault("link = [\"gpu 1\", \"gpu 2\"]\nbandwidth = \"25 %\"\n")));
  CHECK(link_between(slow, 1, 2).bandwidth.value() == 25'000'000'000);
  CHECK(link_between(slow, 2, 1).bandwidth.value() == 25'000'000'000);
  CHECK(link_between(slow, 2, 3).bandwidth.value() == 100'000'000'000);
  CHECK(way(slow, 1, 2) == Names{"gpu 1", "gpu 2"});
  const Machine one =
      machine_from(machine_text(ring6, fault("link = [\"gpu 1\", \"gpu 2\"]\nbandwidth = 0.5\none_way = true\n")));
  CHECK(link_between(one, 1, 2).bandwidth.value() == 50'000'000'000);
  CHECK(link_between(one, 2, 1).bandwidth.value() == 100'000'000'000);
}

TEST_CASE("slow and dead devices") {
  const Machine it =
      machine_from(machine_text(mesh4, fault("device = 3\nspeed = 0.5\n") + fault("die = [1, 2]\nspeed = \"75 %\"\n") +
                                           fault("die = [2, 2]\ndead = true\n")));
  CHECK(it.speed[3] == 0.5);
  CHECK(it.speed[9] == 0.75);
  CHECK(it.speed[10] == 0.0);
  CHECK(it.speed[0] == 1.0);
  CHECK(!it.alive(10));
  // All four links of (2,2) are dead, in both directions.
  CHECK(std::count_if(it.network.links.begin(), it.network.links.end(), [](const Link& link) { return link.dead; }) ==
        8);
}

TEST_CASE("a ring with a dead link goes the other way round") {
  const Machine it = machine_from(machine_text(ring6, fault("link = [\"gpu 2\", \"gpu 1\"]\ndead = true\n")));
  CHECK(way(it, 1, 2) == Names{"gpu 1", "gpu 0", "gpu 5", "gpu 4", "gpu 3", "gpu 2"});
  CHECK(way(it, 3, 1) == Names{"gpu 3", "gpu 4", "gpu 5", "gpu 0", "gpu 1"});
  // Three hops upwards are as before.
  CHECK(way(it, 2, 5) == Names{"gpu 2", "gpu 3", "gpu 4", "gpu 5"});
}

TEST_CASE("a mesh detours around a dead die, and only there") {
  const Machine it = machine_from(machine_text(mesh4, fault("die = [1, 1]\ndead = true\n")));
  // XY would go (0,1) (1,1) (2,1). Two ways of four hops; the first step up or down, (0,0) has the lower id.
  CHECK(way(it, 4, 6) == Names{"die (0,1)", "die (0,0)", "die (1,0)", "die (2,0)", "die (2,1)"});
  // (0,1) to (2,2): XY is cut at its first hop. Over (0,2) it is three hops, over (0,0) five.
  CHECK(way(it, 4, 10) == Names{"die (0,1)", "die (0,2)", "die (1,2)", "die (2,2)"});
  // (0,0) to (2,1) does not touch the die: XY as ever.
  CHECK(way(it, 0, 6) == Names{"die (0,0)", "die (1,0)", "die (2,0)", "die (2,1)"});
}

TEST_CASE("a GPU whose NIC is dead sends through its neighbour") {
  const std::string cluster =
      "kind = \"cluster\"\nnodes = 2\ngpus_per_node = 2\nnvlink_bandwidth = \"300 GB/s\"\nnvlink_latency = \"600 ns\"\n"
      "nic_bandwidth = \"25 GB/s\"\nnic_latency = \"2 us\"\n";
  const Machine it = machine_from(machine_text(cluster, fault("link = [\"gpu 1\", \"core\"]\ndead = true\n")));
  CHECK(way(it, 1, 2) == Names{"gpu 1", "nvswitch 0", "gpu 0", "core", "gpu 2"});
  CHECK(way(it, 3, 1) == Names{"gpu 3", "core", "gpu 0", "nvswitch 0", "gpu 1"});
  const Machine no_switch = machine_from(machine_text(cluster, fault("switch = \"nvswitch 0\"\ndead = true\n")));
  CHECK(way(no_switch, 0, 1) == Names{"gpu 0", "core", "gpu 1"});
}

TEST_CASE("a detour is the shortest in time, not in hops") {
  // Inside a node of 4 on a ring, link 0-1 dead. Other way round: 3 hops of 100 ns + 1 kB / 100 GB/s = 10 ns, 330 ns
  // altogether. Over the NICs: 2 hops of 5 us.
  const Machine it = machine_from(machine_text(
      "kind = \"cluster\"\nnodes = 2\ngpus_per_node = 4\ninside = \"ring\"\nnvlink_bandwidth = \"100 GB/s\"\n"
      "nvlink_latency = \"100 ns\"\nnic_bandwidth = \"25 GB/s\"\nnic_latency = \"10 us\"\n",
      fault("link = [\"gpu 0\", \"gpu 1\"]\ndead = true\n")));
  CHECK(way(it, 0, 1) == Names{"gpu 0", "gpu 3", "gpu 2", "gpu 1"});
}

/// Hops from every node to `to` over live links, by breadth-first search backwards.
std::vector<int> hops_to(const Machine& machine, NodeId to) {
  std::vector<int> hops(machine.network.nodes(), -1);
  std::queue<NodeId> queue;
  queue.push(to);
  hops[to] = 0;
  while (!queue.empty()) {
    const NodeId at = queue.front();
    queue.pop();
    for (const Link& link : machine.network.links) {
      if (link.to != at || link.dead || hops[link.from] >= 0) continue;
      hops[link.from] = hops[at] + 1;
      queue.push(link.from);
    }
  }
  return hops;
}

TEST_CASE("with any faults routes are shortest, or the machine is refused") {
  std::mt19937 random(7);
  int connected = 0;
  for (int round = 0; round < 40; ++round) {
    std::string faults;
    for (unsigned i = 0; i < 2 + random() % 5; ++i)
      faults +=
          fault("die = [" + std::to_string(random() % 6) + ", " + std::to_string(random() % 5) + "]\ndead = true\n");
    const std::string kind = round % 2 == 0 ? "mesh" : "torus";
    std::vector<std::string> errors;
    const auto machine = try_machine(
        machine_text("kind = \"" + kind + "\"\ncolumns = 6\nrows = 5\nbandwidth = \"1 GB/s\"\nlatency = \"1 ns\"\n",
                     faults),
        errors);
    INFO(kind << faults);
    if (machine == nullptr) {
      REQUIRE(errors.size() == 1);
      CHECK(errors[0].find("no route from ") != std::string::npos);
      continue;
    }
    ++connected;
    for (NodeId to = 0; to < machine->devices(); ++to) {
      if (!machine->alive(to)) continue;
      const std::vector<int> hops = hops_to(*machine, to);
      for (NodeId from = 0; from < machine->devices(); ++from)
        if (machine->alive(from))
          CHECK(static_cast<int>(Routes(machine->network).links(from, to).size()) == hops[from]);
    }
  }
  CHECK(connected >= 20);
}

std::vector<NodeId> slow_among(const std::string& rate, const std::string& draw) {
  const Machine it = machine_from(
      machine_text(mesh4, fault("among = \"devices\"\nrate = " + rate + "\ndraw = " + draw + "\nspeed = 0.5\n")));
  std::vector<NodeId> slow;
  for (NodeId device = 0; device < it.devices(); ++device)
    if (it.speed[device] < 1) slow.push_back(device);
  return slow;
}

TEST_CASE("faults among many: what fails at a rate fails at every higher one, and draws differ") {
  CHECK(slow_among("0", "1").empty());
  CHECK(slow_among("1", "1").size() == 16);
  const std::vector<NodeId> few = slow_among("0.2", "1"), more = slow_among("0.6", "1");
  CHECK(few.size() < more.size());
  CHECK(std::includes(more.begin(), more.end(), few.begin(), few.end()));
  CHECK(more == slow_among("0.6", "1"));
  CHECK(more != slow_among("0.6", "2"));
}

TEST_CASE("faults among many: both directions of a link fail together, and a link once") {
  const Machine it = machine_from(machine_text(mesh4, fault("among = \"links\"\nrate = 0.5\nbandwidth = \"50 %\"\n")));
  std::size_t slow = 0;
  for (const Link& link : it.network.links) {
    const std::int64_t there = link.bandwidth.value(), back = link_between(it, link.to, link.from).bandwidth.value();
    CHECK(there == back);
    CHECK((there == 100'000'000'000 || there == 50'000'000'000));
    slow += there == 50'000'000'000 ? 1 : 0;
  }
  CHECK(slow > 0);
  CHECK(slow < it.network.links.size());
}

TEST_CASE("faults among many: a rate that takes the machine apart is refused") {
  const auto first_error = [](const std::string& text) { return errors_of(machine_text(mesh4, fault(text))).front(); };
  CHECK(first_error("among = \"links\"\nrate = 1\ndead = true\n").find("no route from") != std::string::npos);
  CHECK(first_error("among = \"devices\"\nrate = 1\ndead = true\n").find("leave no die alive") != std::string::npos);
  CHECK(first_error("among = \"links\"\ndead = true\n").find("are given together") != std::string::npos);
}

}  // namespace
}  // namespace tessera::machine
