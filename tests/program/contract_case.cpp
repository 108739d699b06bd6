#include "contract_case.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "abstract_executor.hpp"
#include "tessera/program/group_rank.hpp"

namespace tessera::program {
namespace {

std::uint64_t number(std::uint32_t member, std::size_t index) {
  return (member + 1) * 0x9E37'79B9'7F4A'7C15ULL + (index + 1) * 0xC2B2'AE3D'27D4'EB4FULL;
}

std::uint64_t sum_at(const ContractCase& test, std::size_t index) {
  std::uint64_t sum = 0;
  for (std::uint32_t member = 0; member < test.size(); ++member) sum += number(member, index);
  return sum;
}

/// What each member holds before: its own numbers; before an all-gather only in its own chunk.
void fill(const ContractCase& test, AbstractExecutor& executor) {
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
bool is_right(const ContractCase& test, const AbstractExecutor& executor, std::uint32_t member) {
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
void check_destinations(const ContractCase& test, const CollectiveCall& call) {
  const CollectiveAlgorithm& algorithm = algorithm_of(call);
  std::vector<std::uint32_t> said;
  algorithm.destinations(call, said);
  std::set<std::uint32_t> in_steps;
  for_all_steps(algorithm, call, [&](const CollectiveCall&, const Step& step) {
    for (const Transfer& transfer : step.sends) in_steps.insert(transfer.peer);
  });
  CHECK(std::set<std::uint32_t>(said.begin(), said.end()) == in_steps);
  CHECK(rank_in(test.group, test.group.members[call.rank]) == call.rank);
}

/// Who says at once whether members a turn apart do the same says what their steps say.
void check_alike(const ContractCase& test) {
  const CollectiveCall call = make_call(test.collective, test.group, 0, test.machine);
  const CollectiveAlgorithm& algorithm = algorithm_of(call);
  for (std::uint32_t by = 0; by < test.size(); ++by)
    CHECK(algorithm.is_alike(call, call, by) == algorithm.CollectiveAlgorithm::is_alike(call, call, by));
  CHECK(algorithm.is_alike(call, call, 0));
}

}  // namespace

bool passes(const ContractCase& test) {
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
  CollectiveCall call = make_call(test.collective, test.group, 0, test.machine);
  for (call.rank = 0; call.rank < test.size(); ++call.rank) check_destinations(test, call);
  if (test.size() <= 8) check_alike(test);
  return true;
}

}  // namespace tessera::program
