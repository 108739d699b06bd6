// The contract of every algorithm, on real numbers: the result is exact on every member, every message is received once
// and has the size that is expected, nobody waits for ever, whatever the order in which members advance, for any size
// of group and buffer.
#include <catch2/catch.hpp>

#include "contract_case.hpp"
#include "machines.hpp"

namespace tessera::program {
namespace {

constexpr CollectiveKind all_kinds[] = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                        CollectiveKind::all_gather, CollectiveKind::all_to_all,
                                        CollectiveKind::broadcast};

/// All algorithms and kinds on one group, with sizes that divide, that leave a rest, and that are smaller than the
/// group. Returns how many combinations the group allows.
int all_collectives(const Group& group, const machine::Machine& machine) {
  int run = 0;
  const auto size = static_cast<std::int64_t>(group.members.size());
  for (std::uint32_t algorithm = 0; algorithm < built_in_collectives().all().size(); ++algorithm) {
    for (const CollectiveKind kind : all_kinds) {
      if (!built_in_collectives().all()[algorithm]->supports(kind)) continue;
      for (const std::int64_t elements : {4 * size, 5 * size + size / 2 + 1, size - 1, std::int64_t{0}}) {
        INFO(built_in_collectives().all()[algorithm]->name()
             << ", " << name_of(kind) << ", " << size << " members, " << elements << " elements");
        Collective collective{kind, 0, elements * contract_element, contract_element, algorithm, 0, {}};
        if (kind == CollectiveKind::broadcast) collective.root = static_cast<std::uint32_t>(2 * size / 3);
        run += passes({collective, group, machine}) ? 1 : 0;
      }
    }
  }
  return run;
}

}  // namespace

TEST_CASE("every algorithm gives the exact result on groups of 1 to 17 members") {
  for (std::uint32_t size = 1; size <= 17; ++size) {
    const machine::Machine machine = line_of(size);
    // 25 combinations of algorithm and kind are without conditions or run in one node: ring 4, bidirectional 3, direct
    // 5, tree 2, in-switch 1, dissemination 1, hierarchical 4, auto 4, halving-doubling's all-reduce; on powers of
    // two its reduce-scatter and all-gather as well. One member needs no links of its own either: 3 each of
    // ring-bi-odd, multitree and synthesised, which refuse all others behind a switch (collectives_own_links.cpp), and
    // the double tree, which refuses others in one node. Four sizes each.
    const bool power_of_two = (size & (size - 1)) == 0;
    CHECK(all_collectives(first_members(size), machine) == 4 * ((power_of_two ? 27 : 25) + (size == 1 ? 10 : 0)));
  }
}

TEST_CASE("larger and odd groups") {
  for (const std::uint32_t size : {31U, 32U, 33U, 63U}) {
    CHECK(all_collectives(first_members(size), line_of(size)) == 4 * (size == 32 ? 27 : 25));
  }
}

TEST_CASE("a group is ordered, and its order need not be that of the devices") {
  const Group group{{7, 2, 5, 0, 11}};
  CHECK(all_collectives(group, line_of(12)) == 4 * 25);
}

TEST_CASE("hierarchical collectives over several nodes") {
  const machine::Machine machine = nodes_of(24, 4);
  for (const Group& group : {first_members(24), first_members(8), Group{{1, 2, 5, 6, 9, 10}}, Group{{0, 4, 8, 12, 16}},
                             Group{{13, 14, 15, 1, 2, 3}}}) {
    CHECK(all_collectives(group, machine) >= 4 * 25);
  }
}

TEST_CASE("rings over several NICs, whole nodes and parts of them, NICs shared or not") {
  // The last two groups stand unevenly: one ring.
  for (const int nics : {1, 2, 4}) {
    const machine::Machine machine = nodes_of(24, 4, nics);
    for (const Group& group :
         {first_members(24), first_members(8), Group{{0, 2, 4, 6, 8, 10}}, Group{{13, 14, 15, 1, 2, 3}},
          Group{{1, 0, 5, 4}}, Group{{0, 1, 2, 4, 5}}, Group{{0, 4, 1, 5}}}) {
      CHECK(all_collectives(group, machine) >= 4 * 20);
    }
  }
}

TEST_CASE("switches add for members of one node, and for no others") {
  const machine::Machine machine = line_of(8);
  for (std::uint32_t size = 1; size <= 8; ++size) CHECK(all_collectives(first_members(size), machine) >= 4 * 25);
  Collective collective;
  collective.bytes = Bytes{1024};
  collective.algorithm = algorithm_index("in-switch");
  CHECK(check_collective(collective, Group{{0, 1, 4}}, nodes_of(8, 4)) ==
        "in-switch needs members of one node, joined by one switch");
  // Three pieces and a bit, and fewer elements than members.
  for (const std::int64_t bytes : {std::int64_t{7'000'000}, std::int64_t{6}}) {
    collective.bytes = Bytes{bytes};
    CHECK(passes({collective, first_members(3), machine}));
  }
}

TEST_CASE("hierarchical collectives refuse groups that nodes do not share evenly") {
  const machine::Machine machine = nodes_of(16, 4);
  Collective collective;
  collective.bytes = Bytes{1024};
  collective.algorithm = algorithm_index("hierarchical");
  CHECK(check_collective(collective, Group{{0, 1, 2, 3, 4, 5}}, machine) ==
        "hierarchical needs the same number of members in every node");
  CHECK(check_collective(collective, Group{{0, 4, 1, 5}}, machine) ==
        "hierarchical needs the members of a node to stand together in the group");
}

}  // namespace tessera::program
