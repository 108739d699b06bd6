// The contract of every algorithm, on real numbers: the result is exact on every member, every message is received once
// and has the size that is expected, nobody waits for ever, whatever the order in which members advance, for any size
// of group and buffer.
#include <catch2/catch.hpp>
#include <set>

#include "abstract_executor.hpp"
#include "machines.hpp"
#include "tessera/program/group_rank.hpp"

namespace tessera::program {
namespace {

constexpr Bytes element{2};

std::uint64_t number(std::uint32_t member, std::size_t index) {
  return (member + 1) * 0x9E37'79B9'7F4A'7C15ULL + (index + 1) * 0xC2B2'AE3D'27D4'EB4FULL;
}

struct Case {
  Collective collective;
  Group group;
  const machine::Machine& machine;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(group.members.size()); }
  [[nodiscard]] std::size_t elements() const { return static_cast<std::size_t>(collective.bytes / element); }
  [[nodiscard]] std::size_t chunk(std::uint32_t i) const {
    return static_cast<std::size_t>(chunk_bytes(collective.bytes, element, size(), i) / element);
  }
  [[nodiscard]] std::size_t begin(std::uint32_t i) const {
    std::size_t sum = 0;
    for (std::uint32_t before = 0; before < i; ++before) sum += chunk(before);
    return sum;
  }
};

std::uint64_t sum_at(const Case& test, std::size_t index) {
  std::uint64_t sum = 0;
  for (std::uint32_t member = 0; member < test.size(); ++member) sum += number(member, index);
  return sum;
}

/// What each member holds before: its own numbers; before an all-gather only in its own chunk.
void fill(const Case& test, AbstractExecutor& executor) {
  const std::uint32_t size = test.size();
  for (std::uint32_t member = 0; member < size; ++member) {
    Buffer& buffer = executor.buffers[member];
    buffer.assign(test.elements(), 0);
    const bool own_only = test.collective.kind == CollectiveKind::all_gather;
    const std::size_t begin = own_only ? test.begin(member) : 0;
    const std::size_t end = own_only ? begin + test.chunk(member) : test.elements();
    for (std::size_t i = begin; i < end; ++i) buffer[i] = number(member, i);
    executor.received[member].assign(size * test.chunk(member), 0);
  }
}

/// True when the member holds what it should afterwards.
bool is_right(const Case& test, const AbstractExecutor& executor, std::uint32_t member) {
  const Buffer& buffer = executor.buffers[member];
  switch (test.collective.kind) {
    case CollectiveKind::all_reduce:
      for (std::size_t i = 0; i < buffer.size(); ++i) {
        if (buffer[i] != sum_at(test, i)) return false;
      }
      return true;
    case CollectiveKind::reduce_scatter:
      for (std::size_t i = test.begin(member); i < test.begin(member) + test.chunk(member); ++i) {
        if (buffer[i] != sum_at(test, i)) return false;
      }
      return true;
    case CollectiveKind::all_gather:
      for (std::uint32_t owner = 0; owner < test.size(); ++owner) {
        for (std::size_t i = test.begin(owner); i < test.begin(owner) + test.chunk(owner); ++i) {
          if (buffer[i] != number(owner, i)) return false;
        }
      }
      return true;
    case CollectiveKind::broadcast:
      for (std::size_t i = 0; i < buffer.size(); ++i) {
        if (buffer[i] != number(test.collective.root, i)) return false;
      }
      return true;
    case CollectiveKind::all_to_all:
      for (std::uint32_t from = 0; from < test.size(); ++from) {
        for (std::size_t i = 0; i < test.chunk(member) && from != member; ++i) {
          if (executor.received[member][from * test.chunk(member) + i] != number(from, test.begin(member) + i))
            return false;
        }
      }
      return true;
  }
  return false;
}

/// Whom a member says that it sends to are those of its steps.
void check_destinations(const Case& test, std::uint32_t rank) {
  const CollectiveCall call = make_call(test.collective, test.group, rank, test.machine);
  const CollectiveAlgorithm& algorithm = algorithm_of(call);
  std::vector<std::uint32_t> said;
  algorithm.destinations(call, said);
  std::set<std::uint32_t> in_steps;
  for_all_steps(algorithm, call, [&](const CollectiveCall&, const Step& step) {
    for (const Transfer& transfer : step.sends) in_steps.insert(transfer.peer);
  });
  CHECK(std::set<std::uint32_t>(said.begin(), said.end()) == in_steps);
  CHECK(rank_in(test.group, test.group.members[rank]) == rank);
}

/// Who says at once whether members a turn apart do the same says what their steps say.
void check_alike(const Case& test) {
  const CollectiveCall call = make_call(test.collective, test.group, 0, test.machine);
  const CollectiveAlgorithm& algorithm = algorithm_of(call);
  for (std::uint32_t by = 0; by < test.size(); ++by)
    CHECK(algorithm.is_alike(call, call, by) == algorithm.CollectiveAlgorithm::is_alike(call, call, by));
  CHECK(algorithm.is_alike(call, call, 0));
}

/// Runs the case in two orders; false when this algorithm refuses the group, which has to be said in advance.
bool passes(const Case& test) {
  if (!check_collective(test.collective, test.group, test.machine).empty()) return false;
  for (std::uint32_t seed = 1; seed <= 2; ++seed) {
    AbstractExecutor executor(test.collective, test.group, test.machine);
    fill(test, executor);
    const std::string problem = executor.run(seed);
    CHECK(problem == "");
    bool right = true;
    for (std::uint32_t member = 0; member < test.size(); ++member) right = right && is_right(test, executor, member);
    CHECK(right);
    if (test.size() == 1) CHECK(executor.messages == 0);
  }
  for (std::uint32_t member = 0; member < test.size(); ++member) check_destinations(test, member);
  if (test.size() <= 8) check_alike(test);
  return true;
}

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
        Collective collective{kind, 0, elements * element, element, algorithm, 0, {}};
        if (kind == CollectiveKind::broadcast) collective.root = static_cast<std::uint32_t>(2 * size / 3);
        run += passes({collective, group, machine}) ? 1 : 0;
      }
    }
  }
  return run;
}

Group first_members(std::uint32_t count) {
  Group group;
  for (DeviceId i = 0; i < count; ++i) group.members.push_back(i);
  return group;
}

}  // namespace

TEST_CASE("every algorithm gives the exact result on groups of 1 to 17 members") {
  for (std::uint32_t size = 1; size <= 17; ++size) {
    const machine::Machine machine = line_of(size);
    // 24 combinations of algorithm and kind are without conditions or run in one node: ring 4, bidirectional 3, direct
    // 5, tree 2, dissemination 1, hierarchical 4, auto 4, halving-doubling's all-reduce; on powers of two its
    // reduce-scatter and all-gather as well. Four sizes each.
    const bool power_of_two = (size & (size - 1)) == 0;
    CHECK(all_collectives(first_members(size), machine) == 4 * (power_of_two ? 26 : 24));
  }
}

TEST_CASE("larger and odd groups") {
  for (const std::uint32_t size : {31U, 32U, 33U, 63U}) {
    CHECK(all_collectives(first_members(size), line_of(size)) == 4 * (size == 32 ? 26 : 24));
  }
}

TEST_CASE("a group is ordered, and its order need not be that of the devices") {
  const Group group{{7, 2, 5, 0, 11}};
  CHECK(all_collectives(group, line_of(12)) == 4 * 24);
}

TEST_CASE("hierarchical collectives over several nodes") {
  const machine::Machine machine = nodes_of(24, 4);
  for (const Group& group : {first_members(24), first_members(8), Group{{1, 2, 5, 6, 9, 10}}, Group{{0, 4, 8, 12, 16}},
                             Group{{13, 14, 15, 1, 2, 3}}}) {
    CHECK(all_collectives(group, machine) >= 4 * 24);
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

TEST_CASE("mesh all-reduces on rectangles of any shape") {
  const std::uint32_t algorithms[] = {algorithm_index("mesh"), algorithm_index("mesh-scatter")};
  for (const char* topology : {"mesh", "torus"}) {
    for (int columns = 1; columns <= 7; ++columns) {
      for (int rows = 1; rows <= 5; ++rows) {
        const machine::Machine machine = mesh_of(columns, rows, topology);
        const Group all = first_members(machine.devices());
        for (const std::uint32_t algorithm : algorithms) {
          INFO(topology << ' ' << columns << " x " << rows);
          CHECK(
              passes({Collective{CollectiveKind::all_reduce, 0, Bytes{222}, element, algorithm, 0, {}}, all, machine}));
        }
      }
    }
  }
}

TEST_CASE("mesh all-reduces on a part of the mesh, and nothing but rectangles") {
  const machine::Machine machine = mesh_of(6, 5);
  Collective collective{CollectiveKind::all_reduce, 0, Bytes{222}, element, algorithm_index("mesh"), 0, {}};
  CHECK(passes({collective, Group{{8, 9, 10, 14, 15, 16}}, machine}));  // columns 2-4 of rows 1-2
  const std::string problem = "mesh needs a full rectangle of the mesh, listed row by row";
  CHECK(check_collective(collective, Group{{8, 9, 10, 14, 15}}, machine) == problem);
  CHECK(check_collective(collective, Group{{8, 14, 9, 15}}, machine) == problem);
  CHECK(check_collective(collective, Group{{16, 8}}, machine) == problem);
  CHECK(check_collective(collective, Group{{0, 1}}, line_of(2)) == "mesh needs a mesh or a torus");
}

}  // namespace tessera::program
