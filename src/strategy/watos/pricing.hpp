// What the work of a profile takes where a stage stands.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "probe.hpp"
#include "problem.hpp"
#include "tessera/program/search/group_costs.hpp"
#include "tessera/strategy/job.hpp"
#include "tessera/strategy/profile.hpp"

namespace tessera::strategy::watos {

/// Collectives are measured alone, each on the dies that carry it out, by simulation on this rank at two sizes, between
/// and beyond which their time is a line. The job and the dies' health outlive it.
class Pricing {
 public:
  Pricing(const Job& job, const Health& health) : job_(&job), health_(&health) {}

  /// ps of a stage whose replicas stand at these places, with all that its dies do at once: operators at the pace of
  /// the slowest die of the first of them, and of each collective what it does not hide.
  [[nodiscard]] Time time(const Work& work, const std::vector<const Place*>& replicas);

 private:
  [[nodiscard]] Time collective(const program::Collective& collective, const program::search::GroupPattern& groups);
  [[nodiscard]] static program::search::GroupPattern groups_of(const GroupWork& work,
                                                               const std::vector<const Place*>& replicas);

  const Job* job_;
  const Health* health_;
  std::map<std::pair<program::CollectiveKind, std::uint32_t>, program::search::GroupCosts> known_;  // and algorithm
};

}  // namespace tessera::strategy::watos
