// Ways that a program binds: what is wrong with them, and the rules that choose them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <tuple>

#include "machines.hpp"
#include "support/message_of.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/random.hpp"
#include "tessera/program/program.hpp"
#include "tessera/program/ways.hpp"

namespace tessera::program {
namespace {

using machine::BoundWay;
using machine::Connection;
using machine::LinkId;
using machine::NodeId;
using Texts = std::vector<std::string>;

LinkId link(const machine::Machine& machine, NodeId from, NodeId to) {
  for (LinkId id = machine.network.first_link[from]; id < machine.network.first_link[from + 1]; ++id)
    if (machine.network.links[id].to == to) return id;
  FAIL("no link from " << from << " to " << to);
  return machine::no_link;
}

std::vector<LinkId> along(const machine::Machine& machine, const std::vector<NodeId>& nodes) {
  std::vector<LinkId> links;
  for (std::size_t i = 1; i < nodes.size(); ++i) links.push_back(link(machine, nodes[i - 1], nodes[i]));
  return links;
}

/// Device 0 sends device 5 something on channel 0; the problems with these ways.
Texts problems(const machine::Machine& machine, std::vector<BoundWay> ways) {
  Program program;
  program.devices.resize(machine.devices());
  program.devices[0] = {{BlockBuilder(program, "send").send(0, Bytes{100}).done()}, {5}, {}, 0};
  program.devices[5] = {{BlockBuilder(program, "receive").receive(0, Bytes{100}).done()}, {0}, {}, 0};
  program.ways = std::move(ways);
  return check_program(program, machine);
}

/// Of one way of that message.
Texts problems_of(const machine::Machine& machine, std::vector<LinkId> links) {
  return problems(machine, {{{0, 5, 0}, std::move(links)}});
}

const std::string name = "the way from device 0 to device 5 on channel 0";

}  // namespace

TEST_CASE("a way that leads from its sender to its receiver has no problem") {
  const machine::Machine mesh = mesh_of(3, 2);
  CHECK(problems(mesh, {}) == Texts{});
  CHECK(problems_of(mesh, along(mesh, {0, 3, 4, 5})) == Texts{});
  CHECK(problems_of(mesh, along(mesh, {0, 3, 4, 1, 2, 5})) == Texts{});
}

TEST_CASE("a way that begins or ends elsewhere, or is broken, is refused") {
  const machine::Machine mesh = mesh_of(3, 2);
  CHECK(problems_of(mesh, along(mesh, {1, 2, 5})) == Texts{name + " begins at die (1,0)"});
  CHECK(problems_of(mesh, along(mesh, {0, 3, 4})) == Texts{name + " ends at die (1,1)"});
  CHECK(problems_of(mesh, {link(mesh, 0, 1), link(mesh, 2, 5)}) ==
        Texts{name +
              " is broken: behind the link from die (0,0) to die (1,0) comes the one from die (2,0) to die (2,1)"});
  CHECK(problems_of(mesh, {}) == Texts{name + " has no links"});
}

TEST_CASE("a way that passes a link or a die twice is refused") {
  const machine::Machine mesh = mesh_of(3, 2);
  CHECK(problems_of(mesh, along(mesh, {0, 1, 0, 1, 2, 5})) == Texts{name + " passes die (0,0) twice"});
  CHECK(problems_of(mesh, along(mesh, {0, 1, 2, 1, 4, 5})) == Texts{name + " passes die (1,0) twice"});
  CHECK(problems_of(mesh, along(mesh, {0, 1, 2, 5, 4, 5})) == Texts{name + " passes die (2,1) twice"});
}

TEST_CASE("a way over what is dead, or not there, is refused") {
  machine::Machine mesh = mesh_of(3, 2);
  const std::vector<LinkId> links = along(mesh, {0, 3, 4, 5});
  mesh.network.links[links[1]].dead = true;
  CHECK(problems_of(mesh, links) == Texts{name + " goes over the dead link from die (0,1) to die (1,1)"});
  mesh = mesh_of(3, 2);
  mesh.speed[4] = 0;
  CHECK(problems_of(mesh, links) == Texts{name + " passes die (1,1), which is dead"});
  CHECK(problems_of(mesh, {99}) == Texts{name + ": link 99 does not exist, the machine has 14"});
  CHECK(problems(mesh, {{{0, 6, 0}, links}}) ==
        Texts{"the way from device 0 to device 6 on channel 0: device 6 does not exist, the machine has 6"});
}

TEST_CASE("a binding given twice, of a device to itself, or of what is not sent, is refused") {
  const machine::Machine mesh = mesh_of(3, 2);
  const BoundWay way{{0, 5, 0}, along(mesh, {0, 3, 4, 5})};
  CHECK(problems(mesh, {way, way}) == Texts{name + " is bound twice"});
  CHECK(problems(mesh, {{{3, 3, 0}, {}}}) ==
        Texts{"the way from device 3 to device 3 on channel 0: what a device sends to itself takes no way"});
  CHECK(problems(mesh, {{{0, 5, 7}, way.links}}) ==
        Texts{"the way from device 0 to device 5 on channel 7 is bound, but nothing is sent there"});
  CHECK(problems(mesh, {{{0, 3, 0}, {link(mesh, 0, 3)}}}) ==
        Texts{"the way from device 0 to device 3 on channel 0 is bound, but nothing is sent there"});
}

TEST_CASE("a way may go over other switches than the machine's own, and through a device beside them") {
  // Two nodes of four devices, each with an NVSwitch and a NIC of its own: 0 and 5 meet in the core.
  const machine::Machine nodes = nodes_of(8, 4);
  const NodeId nvswitch = nodes.network.links[machine::Routes(nodes.network).links(0, 1)[0]].to;
  const NodeId core = nodes.network.links[machine::Routes(nodes.network).links(0, 5)[0]].to;
  CHECK(problems_of(nodes, along(nodes, {0, core, 5})) == Texts{});
  CHECK(problems_of(nodes, along(nodes, {0, nvswitch, 1, core, 5})) == Texts{});
}

namespace {

/// All shortest ways over live links, in order of the numbers of their links.
void add_all(const machine::Machine& machine, NodeId at, NodeId to, std::size_t links, std::vector<LinkId>& way,
             std::vector<std::vector<LinkId>>& ways) {
  if (at == to) {
    ways.push_back(way);
    return;
  }
  if (way.size() == links || (!way.empty() && !machine.alive(at))) return;
  for (LinkId id = machine.network.first_link[at]; id < machine.network.first_link[at + 1]; ++id) {
    if (machine.network.links[id].dead) continue;
    way.push_back(id);
    add_all(machine, machine.network.links[id].to, to, links, way, ways);
    way.pop_back();
  }
}

std::vector<std::vector<LinkId>> all_shortest(const machine::Machine& machine, NodeId from, NodeId to) {
  std::vector<std::vector<LinkId>> ways;
  for (std::size_t links = 1; ways.empty() && links < machine.network.nodes(); ++links) {
    std::vector<LinkId> way;
    add_all(machine, from, to, links, way, ways);
  }
  return ways;
}

/// The rule as it is told, by looking at all shortest ways.
std::vector<BoundWay> by_enumeration(const machine::Machine& machine, std::vector<ConnectionLoad> loads,
                                     double factor) {
  std::vector<BoundWay> ways;
  for (const ConnectionLoad& load : loads) ways.push_back({load.connection, {}});
  std::ranges::stable_sort(loads, std::ranges::greater{}, &ConnectionLoad::bytes);
  std::vector<bool> used(machine.network.links.size(), false);
  for (const ConnectionLoad& load : loads) {
    const auto cost = [&](const std::vector<LinkId>& way) {
      double sum = 0;
      for (const LinkId id : way) sum += used[id] ? factor : 1;
      return sum;
    };
    const auto all = all_shortest(machine, load.connection.from, load.connection.to);
    REQUIRE(!all.empty());
    const auto best = std::ranges::min_element(
        all, [&](const auto& a, const auto& b) { return std::tuple(cost(a), a) < std::tuple(cost(b), b); });
    for (const LinkId id : *best) used[id] = true;
    std::ranges::find(ways, load.connection, &BoundWay::connection)->links = *best;
  }
  return ways;
}

/// Of a mesh or torus up to 4 x 4, with dead links between dies that are connected all the same.
machine::Machine random_mesh(const KeyedRandom& random, std::uint64_t& draws) {
  const auto side = [&] { return static_cast<int>(2 + random.below(draws++, 3)); };
  const int columns = side(), rows = side();
  machine::Machine machine = mesh_of(columns, rows, random.below(draws++, 2) == 0 ? "mesh" : "torus");
  for (std::uint64_t i = random.below(draws++, 4); i > 0; --i) {
    machine::Link& chosen = machine.network.links[random.below(draws++, machine.network.links.size())];
    chosen.dead = true;
    for (NodeId from = 0; from < machine.devices(); ++from)
      for (NodeId to = 0; to < machine.devices(); ++to)
        if (from != to && all_shortest(machine, from, to).empty()) chosen.dead = false;
  }
  return machine;
}

}  // namespace

TEST_CASE("unused-first chooses as all shortest ways laid beside each other do, on random meshes with dead links") {
  std::uint64_t others = 0;
  for (std::uint64_t index = 0; index < 60; ++index) {
    CAPTURE(index);
    const KeyedRandom random(index, random_stream("unused first"));
    std::uint64_t draws = 0;
    const machine::Machine machine = random_mesh(random, draws);
    std::vector<ConnectionLoad> loads;
    for (std::uint64_t i = 1 + random.below(draws++, 20); i > 0; --i) {
      const auto from = static_cast<NodeId>(random.below(draws++, machine.devices()));
      const auto to = static_cast<NodeId>(random.below(draws++, machine.devices()));
      const auto bytes = static_cast<std::int64_t>(random.below(draws++, 5));
      if (from != to) loads.push_back({{from, to, static_cast<std::uint32_t>(i)}, Bytes{bytes}});
    }
    const double factor = std::array{1.0, 1.5, 3.0}[random.below(draws++, 3)];
    const std::vector<BoundWay> ways = unused_first(machine, loads, factor),
                                expected = by_enumeration(machine, loads, factor);
    REQUIRE(ways.size() == expected.size());
    for (std::size_t i = 0; i < ways.size(); ++i) {
      CHECK(ways[i].connection == expected[i].connection);
      CHECK(ways[i].links == expected[i].links);
      const Connection& connection = ways[i].connection;
      others += ways[i].links != machine::Routes(machine.network).links(connection.from, connection.to) ? 1 : 0;
    }
  }
  CHECK(others > 100);
}

TEST_CASE("unused-first: the larger one goes first, and the other one goes where nobody is") {
  const machine::Machine mesh = mesh_of(2, 2);
  // Both may go by 1 or by 2. The larger one takes the lower link, to 1.
  const std::vector<BoundWay> ways = unused_first(mesh, {{{0, 3, 0}, Bytes{10}}, {{0, 3, 1}, Bytes{20}}}, 2);
  REQUIRE(ways.size() == 2);
  CHECK(ways[0].links == along(mesh, {0, 2, 3}));
  CHECK(ways[1].links == along(mesh, {0, 1, 3}));
  // Two of one connection are one of 30 B.
  const std::vector<BoundWay> sum = unused_first(
      mesh, {{{0, 3, 0}, Bytes{15}}, {{0, 3, 1}, Bytes{20}}, {{0, 3, 0}, Bytes{15}}, {{1, 1, 0}, Bytes{9}}}, 2);
  REQUIRE(sum.size() == 2);
  CHECK(sum[0].links == along(mesh, {0, 1, 3}));
  CHECK(sum[1].links == along(mesh, {0, 2, 3}));
  // A link in use that costs no more is as good as any.
  const std::vector<BoundWay> same = unused_first(mesh, {{{0, 3, 0}, Bytes{10}}, {{0, 3, 1}, Bytes{20}}}, 1);
  CHECK(same[0].links == same[1].links);
}

TEST_CASE("unused-first goes over switches, and refuses what has no way") {
  const machine::Machine nodes = nodes_of(8, 4);
  CHECK(unused_first(nodes, {{{0, 5, 0}, Bytes{1}}}, 2).at(0).links == machine::Routes(nodes.network).links(0, 5));
  machine::Machine mesh = mesh_of(2, 1);
  const std::vector<ConnectionLoad> loads{{{0, 1, 0}, Bytes{1}}};
  CHECK(test::message_of<InputError>([&] { return unused_first(mesh, loads, 0.5); }) ==
        "a link in use counts 0.5 times an unused one, allowed: at least 1");
  CHECK(test::message_of<InputError>([&] {
          return unused_first(mesh, {{{0, 2, 0}, Bytes{1}}}, 2);
        }) == "a way to choose: device 2 does not exist, the machine has 2");
  mesh.network.links[link(mesh, 0, 1)].dead = true;
  CHECK(test::message_of<InputError>([&] { return unused_first(mesh, loads, 2); }) ==
        "there is no way from die (0,0) to die (1,0)");
}

}  // namespace tessera::program
