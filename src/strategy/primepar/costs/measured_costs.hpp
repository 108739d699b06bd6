// What a search measures by simulating it: what groups of devices do together, and products at transaction level.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "tessera/program/search/group_costs.hpp"
#include "tessera/program/sublayer.hpp"
#include "tessera/strategy/strategy.hpp"

namespace tessera::strategy::primepar {

using program::search::GroupPattern;

/// All-reduces, by the experiment's algorithm.
[[nodiscard]] program::search::GroupCosts all_reduce_costs(const Job& job);

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
  program::search::GroupCosts reduce_scatter_, all_gather_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, program::Activity, double>, Time> products_;
};

}  // namespace tessera::strategy::primepar
