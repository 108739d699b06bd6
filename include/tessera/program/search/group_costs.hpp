// What groups of devices do together, as searches add it up: a line through two simulated sizes.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "tessera/program/search/evaluations.hpp"

namespace tessera::program::search {

/// Groups that are active at a time, of numbered devices.
using GroupPattern = std::vector<std::vector<int>>;

/// Each of these devices runs the block, as the next group of the program.
void add_group(Program& program, std::vector<DeviceId> members, BlockId block);

/// The time of a program, by simulation on this rank. InfeasibleError where it cannot run.
[[nodiscard]] Time measured(const Evaluations& evaluations, const Program& program);

/// Time of an operation of groups of devices: alpha bytes + beta. Both are simulated for each grouping pattern, all of
/// its groups active at once, since they may share links.
class GroupCosts {
 public:
  /// `write`: what each member does, its group in slot 0.
  using Write = std::function<void(BlockBuilder&, std::int64_t bytes)>;
  using Check = std::function<void(const Group&)>;  ///< throws InputError for a group that cannot do it
  /// `empty`: a program in which no device does anything. `order`: the machine's device by number.
  GroupCosts(const Evaluations& evaluations, Program empty, std::vector<int> order, Write write, Check check = {})
      : evaluations_(&evaluations),
        empty_(std::move(empty)),
        order_(std::move(order)),
        write_(std::move(write)),
        check_(std::move(check)) {}
  /// 0 without groups.
  [[nodiscard]] Time time(const GroupPattern& groups, std::int64_t bytes);

 private:
  struct Line {
    Time small = 0, large = 0;  ///< at two sizes
  };
  [[nodiscard]] Time measure(const GroupPattern& groups, std::int64_t bytes) const;

  const Evaluations* evaluations_;
  Program empty_;
  std::vector<int> order_;
  Write write_;
  Check check_;
  std::map<GroupPattern, Line> known_;
};

/// All-reduces of that algorithm on this machine, which outlives it.
[[nodiscard]] GroupCosts all_reduce_costs(const Evaluations& evaluations, const machine::Machine& machine,
                                          Program empty, std::vector<int> order, const Collective& all_reduce);

}  // namespace tessera::program::search
