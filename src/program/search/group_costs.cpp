#include "tessera/program/search/group_costs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tessera/base/error.hpp"
#include "tessera/program/collective.hpp"

namespace tessera::program::search {
namespace {

constexpr std::int64_t small_size = 1 << 20, large_size = 64 << 20;  // B

}  // namespace

void add_group(Program& program, std::vector<DeviceId> members, BlockId block) {
  for (const DeviceId member : members) {
    program.devices[member].streams = {block};
    program.devices[member].groups = {static_cast<GroupId>(program.groups.size())};
  }
  program.groups.push_back({std::move(members)});
}

Time measured(const Evaluations& evaluations, const Program& program) {
  const Evaluation evaluation = evaluations.one(program);
  if (!evaluation.feasible) throw InfeasibleError("a part of an operator alone cannot run: " + evaluation.reason);
  return evaluation.time;
}

Time GroupCosts::time(const GroupPattern& groups, std::int64_t bytes) {
  if (groups.empty()) return 0;
  auto found = known_.find(groups);
  if (found == known_.end())
    found = known_.emplace(groups, Line{measure(groups, small_size), measure(groups, large_size)}).first;
  const Line& line = found->second;
  const double slope = static_cast<double>(line.large - line.small) / (large_size - small_size);
  double time = static_cast<double>(line.small) + slope * static_cast<double>(bytes - small_size);
  // Where steps overlap on a slow link the line passes below zero; what is smaller takes its share at least.
  if (bytes < small_size)
    time = std::max(time, static_cast<double>(line.small) * static_cast<double>(bytes) / small_size);
  return time < static_cast<double>(latest) ? std::max<Time>(0, static_cast<Time>(time)) : never;
}

Time GroupCosts::measure(const GroupPattern& groups, std::int64_t bytes) const {
  Program program = empty_;
  BlockBuilder builder(program, "alone");
  write_(builder, bytes);
  const BlockId block = builder.done();
  for (const std::vector<int>& group : groups) {
    std::vector<DeviceId> members;
    for (const int member : group) members.push_back(static_cast<DeviceId>(order_[static_cast<std::size_t>(member)]));
    add_group(program, std::move(members), block);
    if (check_) check_(program.groups.back());
  }
  return measured(*evaluations_, program);
}

GroupCosts all_reduce_costs(const Evaluations& evaluations, const machine::Machine& machine, Program empty,
                            std::vector<int> order, const Collective& all_reduce) {
  const CollectiveAlgorithm& algorithm = algorithm_of(all_reduce.algorithm);
  const auto write = [collective = all_reduce](BlockBuilder& builder, std::int64_t bytes) mutable {
    collective.bytes = Bytes{bytes};
    builder.collective(collective);
  };
  const auto check = [&algorithm, &machine, collective = all_reduce](const Group& group) {
    const std::string problem = algorithm.check(collective, group, machine);
    if (problem.empty()) return;
    throw InputError(fmt::format("collectives.all_reduce = \"{}\" cannot sum over devices {}: {}; \"ring\" can",
                                 algorithm.name(), fmt::join(group.members, ", "), problem));
  };
  return {evaluations, std::move(empty), std::move(order), write, check};
}

}  // namespace tessera::program::search
