// The contract of algorithms that fit themselves to the links between the members of a group: on meshes, tori, rings
// and directly connected devices, whole ones and some with dead links, in whatever order a group lists its members.
#include <catch2/catch.hpp>

#include <chrono>

#include "contract_case.hpp"
#include "machines.hpp"
#include "tessera/base/random.hpp"

namespace tessera::program {
namespace {

constexpr CollectiveKind passes_and_both[] = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                              CollectiveKind::all_gather};

std::string dead_link(const std::string& ends) { return "[[fault]]\nlink = [" + ends + "]\ndead = true\n"; }

machine::Machine grid_of(int columns, int rows, const std::string& faults = "", const char* kind = "mesh") {
  return machine_of("kind = \"" + std::string(kind) + "\"\ncolumns = " + std::to_string(columns) +
                    "\nrows = " + std::to_string(rows) + "\nbandwidth = \"1 TB/s\"\nlatency = \"100 ns\"\n" + faults);
}

Group shuffled(Group group, std::uint64_t seed) {
  const KeyedRandom random(seed, random_stream("orders of a group"));
  for (std::size_t left = group.members.size(); left > 1; --left)
    std::swap(group.members[left - 1], group.members[random.below(left, left)]);
  return group;
}

std::string refusal_of(const char* algorithm, const Group& group, const machine::Machine& machine) {
  return check_collective(
      {CollectiveKind::all_reduce, 0, Bytes{222}, contract_element, algorithm_index(algorithm), 0, {}}, group, machine);
}

/// All kinds of the algorithm that takes the group, listed as given and at random, with sizes that divide, that leave a
/// rest, and that are smaller than the group.
void is_exact(const char* algorithm, const Group& given, const machine::Machine& machine) {
  const auto size = static_cast<std::int64_t>(given.members.size());
  INFO(algorithm << ", " << size << " members, the first one " << given.members.front());
  REQUIRE(refusal_of(algorithm, given, machine) == "");
  for (const Group& group : {given, shuffled(given, 1)}) {
    for (const CollectiveKind kind : passes_and_both) {
      for (const std::int64_t elements : {4 * size, 5 * size + size / 2 + 1, size - 1, std::int64_t{0}}) {
        INFO(name_of(kind) << ", " << elements << " elements");
        CHECK(passes(
            {Collective{kind, 0, elements * contract_element, contract_element, algorithm_index(algorithm), 0, {}},
             group, machine}));
      }
    }
  }
}

}  // namespace

TEST_CASE("ring-bi-odd is exact on odd groups of 3 to 17 dies, and on a group of one") {
  // Two columns: a cycle over the full rows, and one die below.
  for (std::uint32_t size = 1; size <= 17; size += 2) is_exact("ring-bi-odd", first_members(size), grid_of(2, 9));
  for (const auto& [columns, rows] : {std::pair(3, 3), std::pair(5, 3), std::pair(3, 7), std::pair(5, 5)})
    is_exact("ring-bi-odd", first_members(static_cast<std::uint32_t>(columns * rows)), grid_of(columns, rows));
  is_exact("ring-bi-odd", first_members(3), grid_of(3, 1));
  is_exact("ring-bi-odd", Group{{1, 4, 5, 6, 8, 9, 10}}, grid_of(4, 4));  // a tower on 2 x 3
}

TEST_CASE("ring-bi-odd finds its cycle on whole squares of up to 11 dies a side, and on rectangles") {
  for (const int side : {7, 9, 11}) {
    const machine::Machine machine = grid_of(side, side);
    CAPTURE(side);
    CHECK(refusal_of("ring-bi-odd", first_members(static_cast<std::uint32_t>(side * side)), machine) == "");
  }
  CHECK(refusal_of("ring-bi-odd", first_members(7 * 41), grid_of(41, 7)) == "");
  CHECK(refusal_of("ring-bi-odd", first_members(7 * 41), grid_of(7, 41)) == "");
}

TEST_CASE("ring-bi-odd goes round dead links and takes other neighbours than those of a mesh") {
  // A corner is the one that may stay out, or it loses a link and has to.
  is_exact("ring-bi-odd", first_members(9), grid_of(3, 3, dead_link("[0, 0], [1, 0]")));
  is_exact("ring-bi-odd", first_members(15), grid_of(5, 3, dead_link("[1, 0], [2, 0]") + dead_link("[4, 2], [4, 1]")));
  is_exact("ring-bi-odd", first_members(9), grid_of(3, 3, "", "torus"));
  is_exact("ring-bi-odd", first_members(7),
           machine_of("kind = \"cluster\"\nnodes = 1\ngpus_per_node = 7\ninside = \"fully-connected\"\n"
                      "nvlink_bandwidth = \"100 GB/s\"\nnvlink_latency = \"1 us\"\nnic_bandwidth = \"10 GB/s\"\n"
                      "nic_latency = \"5 us\"\n"));
  is_exact("ring-bi-odd", first_members(3),
           machine_of("kind = \"ring\"\ndevices = 3\nbandwidth = \"100 GB/s\"\nlatency = \"1 us\"\n"));
}

TEST_CASE("ring-bi-odd refuses groups of even size and groups without a cycle over all but one") {
  const std::string none = "ring-bi-odd found no cycle of live links both ways over all members but one";
  CHECK(refusal_of("ring-bi-odd", first_members(4), grid_of(2, 2)) ==
        "ring-bi-odd is for an odd number of members; for an even one list a cycle and take bidirectional-ring");
  CHECK(refusal_of("ring-bi-odd", first_members(7), grid_of(7, 1)) == none);
  CHECK(refusal_of("ring-bi-odd", first_members(5), line_of(5)) == none);  // behind a switch
  CHECK(refusal_of("ring-bi-odd", Group{{0, 2, 4}}, grid_of(5, 1)) == none);
  // The corners of a plus have one link each.
  CHECK(refusal_of("ring-bi-odd", Group{{1, 3, 4, 5, 7}}, grid_of(3, 3)) == none);
  // Two corners that have lost a link: one of them can stay out.
  CHECK(refusal_of("ring-bi-odd", first_members(9),
                   grid_of(3, 3, dead_link("[0, 0], [1, 0]") + dead_link("[2, 2], [2, 1]"))) == none);
}

namespace {

const char* const of_any_size[] = {"multitree", "synthesised"};

void are_exact(const Group& group, const machine::Machine& machine) {
  for (const char* algorithm : of_any_size) is_exact(algorithm, group, machine);
}

std::string ring_of(int devices, const char* direction = "both") {
  return "kind = \"ring\"\ndevices = " + std::to_string(devices) +
         "\nbandwidth = \"100 GB/s\"\nlatency = \"1 us\"\ndirection = \"" + direction + "\"\n";
}

}  // namespace

TEST_CASE("multitree and synthesised are exact on groups of 1 to 17 dies") {
  const machine::Machine whole = grid_of(4, 5);
  for (std::uint32_t size = 1; size <= 17; ++size) are_exact(first_members(size), whole);
  for (const int columns : {7, 12}) are_exact(first_members(static_cast<std::uint32_t>(columns)), grid_of(columns, 1));
  are_exact(Group{{1, 4, 5, 6, 9}}, grid_of(4, 4));  // a plus
  are_exact(first_members(31), grid_of(7, 8));
}

TEST_CASE("multitree and synthesised are exact with dead and slow links") {
  const std::string dead = dead_link("[1, 0], [2, 0]") + dead_link("[0, 1], [0, 2]") + dead_link("[2, 2], [3, 2]");
  const std::string one_way = "[[fault]]\nlink = [[1, 1], [1, 0]]\ndead = true\none_way = true\n";
  const std::string slow =
      "[[fault]]\nlink = [[1, 1], [2, 1]]\nbandwidth = \"30 %\"\n"
      "[[fault]]\nlink = [[3, 1], [3, 2]]\nbandwidth = 0.01\none_way = true\n";
  for (const std::uint32_t size : {4U, 7U, 13U}) {
    are_exact(first_members(size), grid_of(4, 4, one_way + slow));
    are_exact(first_members(size), grid_of(4, 4, slow));
  }
  for (const std::uint32_t size : {12U, 16U}) are_exact(first_members(size), grid_of(4, 4, dead + one_way + slow));
}

TEST_CASE("multitree and synthesised are exact on other networks than meshes") {
  are_exact(first_members(12), grid_of(4, 3, "", "torus"));
  for (const int devices : {2, 3, 6}) {
    are_exact(first_members(static_cast<std::uint32_t>(devices)), machine_of(ring_of(devices)));
    are_exact(first_members(static_cast<std::uint32_t>(devices)), machine_of(ring_of(devices, "up")));
  }
  are_exact(first_members(5),
            machine_of("kind = \"cluster\"\nnodes = 1\ngpus_per_node = 8\ninside = \"fully-connected\"\n"
                       "nvlink_bandwidth = \"100 GB/s\"\nnvlink_latency = \"1 us\"\nnic_bandwidth = \"10 GB/s\"\n"
                       "nic_latency = \"5 us\"\n"));
}

TEST_CASE("multitree and synthesised refuse members that do not reach each other over their own links") {
  const machine::Machine mesh = grid_of(4, 4);
  CHECK(refusal_of("multitree", Group{{0, 1, 3}}, mesh) ==
        "multitree needs live links from member to member, but over them die (0,0) does not reach die (3,0)");
  CHECK(refusal_of("synthesised", first_members(2), line_of(2)) ==
        "synthesised needs live links from member to member, but over them gpu 0 does not reach gpu 1");
  // One way is not enough, whichever it is.
  const auto cut = [](const char* ends) {
    return grid_of(2, 2, "[[fault]]\nlink = [" + std::string(ends) + "]\ndead = true\none_way = true\n");
  };
  CHECK(refusal_of("synthesised", first_members(2), cut("[0, 0], [1, 0]")) ==
        "synthesised needs live links from member to member, but over them die (0,0) does not reach die (1,0)");
  CHECK(refusal_of("multitree", first_members(2), cut("[1, 0], [0, 0]")) ==
        "multitree needs live links from member to member, but over them die (1,0) does not reach die (0,0)");
  CHECK(refusal_of("synthesised", first_members(2), grid_of(2, 2, dead_link("[0, 0], [1, 0]"))) ==
        "synthesised needs live links from member to member, but over them die (0,0) does not reach die (1,0)");
  CHECK(refusal_of("multitree", first_members(257), grid_of(257, 1)) == "multitree is for at most 256 members");
}

TEST_CASE(
    "a group has one schedule: found again, it has the same steps; 16 members take less than a tenth of a second") {
  const machine::Machine mesh = grid_of(4, 4, dead_link("[1, 1], [2, 1]"));
  const Group group = first_members(16);
  const Collective collective{
      CollectiveKind::all_reduce, 0, Bytes{3'200}, contract_element, algorithm_index("synthesised"), 0, {}};
  const auto begin = std::chrono::steady_clock::now();
  const CollectiveCall once = make_call(collective, group, 0, mesh);
  [[maybe_unused]] const auto took = std::chrono::steady_clock::now() - begin;
#ifndef __SANITIZE_ADDRESS__
  CHECK(took < std::chrono::milliseconds(100));
#endif
  CHECK(algorithm_of(once).is_alike(once, make_call(collective, group, 0, mesh), 0));
}

}  // namespace tessera::program
