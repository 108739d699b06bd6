// What the work of a profile takes where a stage stands.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "probe.hpp"
#include "problem.hpp"
#include "tessera/strategy/job.hpp"
#include "tessera/strategy/profile.hpp"

namespace tessera::strategy::watos {

/// Collectives are measured alone, each on the dies that carry it out, by simulation on this rank; nothing twice. The
/// job and the dies' health outlive it.
class Pricing {
 public:
  Pricing(const Job& job, const Health& health) : job_(&job), health_(&health) {}

  /// ps of a stage whose replicas stand at these places, with all that its dies do at once: operators at the pace of
  /// the slowest die, and of each collective what it does not hide.
  [[nodiscard]] Time time(const Work& work, const std::vector<const Place*>& replicas);

 private:
  using Groups = std::vector<std::vector<machine::NodeId>>;
  [[nodiscard]] Time collective(const program::Collective& collective, Groups groups);
  [[nodiscard]] Groups groups_of(const GroupWork& work, const std::vector<const Place*>& replicas) const;

  const Job* job_;
  const Health* health_;
  using Key = std::tuple<program::CollectiveKind, std::int64_t, std::int64_t, std::uint32_t, Groups>;
  std::map<Key, Time> known_;
};

}  // namespace tessera::strategy::watos
