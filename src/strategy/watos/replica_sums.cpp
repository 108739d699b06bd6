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

/// How many rings go over each link but those of joints: a member sends to the next one, the last one to the first.
class RingLoads {
 public:
  RingLoads(const machine::Machine& machine, const Joints& joints)
      : routes_(machine.network), joints_(&joints), rings_(machine.network.links.size()) {}

  void add(const std::vector<const Place*>& replicas) {
    for (std::size_t rank = 0; rank < replicas.front()->devices.size(); ++rank) {
      for (std::size_t i = 0; i < replicas.size(); ++i) {
        const machine::NodeId from = replicas[i]->devices[rank];
        const machine::NodeId to = replicas[(i + 1) % replicas.size()]->devices[rank];
        for (const machine::LinkId link : routes_.links(from, to))
          if (!joints_->is_joint(link)) ++rings_[link];
      }
    }
  }
  [[nodiscard]] int most() const { return *std::ranges::max_element(rings_); }

 private:
  machine::Routes routes_;
  const Joints* joints_;
  std::vector<int> rings_;
};

/// The sums of a stage by itself whose replicas stand there.
Time alone(const PipelineProfile& profile, std::size_t stage, const std::vector<const Place*>& places,
           Pricing& pricing) {
  Work sums = profile.stages[stage].update;
  sums.operators = 0;
  std::erase_if(sums.collectives, [&](const GroupWork& one) { return is_inside(one, places.front()->devices.size()); });
  return pricing.time(sums, places);
}

bool is_on_one_grid(const std::vector<const Place*>& places) {
  return std::ranges::all_of(places, [&](const Place* place) { return place->grid == places.front()->grid; });
}

Time on_one_grid(const PipelineProfile& profile, const Problem& problem, const Job& job, const Joints& joints,
                 Pricing& pricing) {
  const auto stays = [&](std::size_t stage) { return is_on_one_grid(replicas_of(problem, stage)); };
  std::size_t busiest = 0;
  while (busiest < problem.count() && !stays(busiest)) ++busiest;
  const bool any_stays = busiest < problem.count();
  if (!any_stays) busiest = 0;
  RingLoads all(job.machine, joints);
  int most = 0;
  for (std::size_t stage = 0; stage < problem.count(); ++stage) {
    RingLoads own(job.machine, joints);
    own.add(replicas_of(problem, stage));
    all.add(replicas_of(problem, stage));
    if (own.most() <= most || (any_stays && !stays(stage))) continue;
    most = own.most();
    busiest = stage;
  }
  const Time time = alone(profile, busiest, replicas_of(problem, busiest), pricing);
  return most == 0 ? time : time * all.most() / most;
}

/// Of a stage that starts on several grids, or of the first one with its last replica on another grid.
JointSums over_joints(const PipelineProfile& profile, const Problem& problem,
                      const std::shared_ptr<const Joints>& joints, Pricing& pricing) {
  std::size_t stage = 0;
  while (stage < problem.count() && is_on_one_grid(replicas_of(problem, stage))) ++stage;
  if (stage == problem.count()) stage = 0;
  std::vector<const Place*> places = replicas_of(problem, stage);
  for (const Place& place : problem.places)
    if (is_on_one_grid(places) && place.grid != places.front()->grid) places.back() = &place;
  if (is_on_one_grid(places)) return {};
  return {joints, alone(profile, stage, places, pricing), most_over_joints(*joints, places)};
}

}  // namespace

Work inside_replicas(const Work& update, std::size_t tensor) {
  Work found;
  found.operators = update.operators;
  std::ranges::copy_if(update.collectives, std::back_inserter(found.collectives),
                       [&](const GroupWork& one) { return is_inside(one, tensor); });
  return found;
}

void price_sums(const PipelineProfile& profile, const Job& job, const std::shared_ptr<const Joints>& joints,
                Pricing& pricing, Problem& problem) {
  if (problem.replicas < 2) return;
  problem.shared = on_one_grid(profile, problem, job, *joints, pricing);
  if (joints->any()) problem.over_joints = over_joints(profile, problem, joints, pricing);
}

}  // namespace tessera::strategy::watos
