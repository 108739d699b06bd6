// What a search measures by simulating it: what groups of devices do together, and products at transaction level.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tessera/program/sublayer.hpp"
#include "tessera/strategy/strategy.hpp"

namespace tessera::strategy::primepar {

/// Groups that are active at a time, of devices of the cut.
using GroupPattern = std::vector<std::vector<int>>;

/// Time of an operation of groups of devices: alpha bytes + beta. Both are measured by the evaluator for each grouping
/// pattern, all of its groups active at once, since they may share links.
class GroupCosts {
 public:
  /// `write`: what each member does, its group in slot 0.
  using Write = std::function<void(program::BlockBuilder&, std::int64_t bytes)>;
  using Check = std::function<void(const program::Group&)>;  ///< throws InputError for a group that cannot do it
  GroupCosts(const Job& job, std::string name, Write write, Check check = {});
  /// 0 without groups.
  [[nodiscard]] Time time(const GroupPattern& groups, std::int64_t bytes);

 private:
  struct Line {
    Time small = 0, large = 0;  ///< at two sizes
  };
  [[nodiscard]] Time measure(const GroupPattern& groups, std::int64_t bytes) const;

  const Job* job_;
  std::string name_;
  Write write_;
  Check check_;
  std::vector<int> order_;
  std::map<GroupPattern, Line> known_;
};

/// All-reduces, by the experiment's algorithm.
[[nodiscard]] GroupCosts all_reduce_costs(const Job& job);

/// Time of a product whose result is summed over groups, at transaction level (program/sublayer.hpp): the product
/// alone, the reduce-scatter, the all-gather. Fused, the reduce-scatter begins when the first chunk has been computed:
/// the product makes a chunk for each member one after the other, or as many as it has waves of work-groups.
class SublayerCosts {
 public:
  /// `configuration`: one of sublayer::inline_configurations().
  SublayerCosts(const Job& job, const program::sublayer::Configuration& configuration);
  /// `speed`: of the devices that compute the product, one that the machine has.
  [[nodiscard]] Time time(const GroupPattern& groups, const workload::Operator& gemm, program::Activity activity,
                          double speed);

 private:
  /// On a device by itself.
  [[nodiscard]] Time product(const workload::Operator& gemm, program::Activity activity, double speed);
  [[nodiscard]] std::int64_t chunks_in_a_row(const GroupPattern& groups, const workload::Operator& gemm) const;

  const Job* job_;
  bool is_fused_;
  GroupCosts reduce_scatter_, all_gather_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, program::Activity, double>, Time> products_;
};

}  // namespace tessera::strategy::primepar
