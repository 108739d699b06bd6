#include "replica_sums.hpp"

#include <algorithm>

#include "tessera/machine/routes.hpp"

namespace tessera::strategy::watos {
namespace {

bool is_inside(const GroupWork& work, std::size_t tensor) {
  return std::ranges::all_of(work.ranks, [&](std::uint32_t rank) { return rank < tensor; });
}

/// Places of a stage's replicas, where they start.
std::vector<const Place*> replicas_of(const Problem& problem, std::size_t stage) {
  std::vector<const Place*> places;
  for (std::uint32_t replica = 0; replica < problem.replicas; ++replica)
    places.push_back(&problem.places[problem.start[stage * problem.replicas + replica]]);
  return places;
}

/// How many rings go over each link: a member sends to the next one, the last one to the first.
class RingLoads {
 public:
  explicit RingLoads(const machine::Machine& machine)
      : routes_(machine.network), rings_(machine.network.links.size()) {}

  void add(const std::vector<const Place*>& replicas) {
    for (std::size_t rank = 0; rank < replicas.front()->devices.size(); ++rank) {
      for (std::size_t i = 0; i < replicas.size(); ++i) {
        const machine::NodeId from = replicas[i]->devices[rank];
        const machine::NodeId to = replicas[(i + 1) % replicas.size()]->devices[rank];
        for (const machine::LinkId link : routes_.links(from, to)) ++rings_[link];
      }
    }
  }
  [[nodiscard]] int most() const { return *std::ranges::max_element(rings_); }

 private:
  machine::Routes routes_;
  std::vector<int> rings_;
};

}  // namespace

Work inside_replicas(const Work& update, std::size_t tensor) {
  Work found;
  found.operators = update.operators;
  std::ranges::copy_if(update.collectives, std::back_inserter(found.collectives),
                       [&](const GroupWork& one) { return is_inside(one, tensor); });
  return found;
}

Time replica_sums(const PipelineProfile& profile, const Problem& problem, const Job& job, Pricing& pricing) {
  if (problem.replicas < 2) return 0;
  RingLoads all(job.machine);
  std::size_t busiest = 0;
  int most = 0;
  for (std::size_t stage = 0; stage < problem.count(); ++stage) {
    RingLoads own(job.machine);
    own.add(replicas_of(problem, stage));
    all.add(replicas_of(problem, stage));
    if (own.most() <= most) continue;
    most = own.most();
    busiest = stage;
  }
  const std::vector<const Place*> places = replicas_of(problem, busiest);
  Work sums = profile.stages[busiest].update;
  sums.operators = 0;
  std::erase_if(sums.collectives, [&](const GroupWork& one) { return is_inside(one, places.front()->devices.size()); });
  return pricing.time(sums, places) * all.most() / most;
}

}  // namespace tessera::strategy::watos
