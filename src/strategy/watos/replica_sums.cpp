#include "replica_sums.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tessera/machine/routes.hpp"

namespace tessera::strategy::watos {
namespace {

bool is_inside(const GroupWork& work, std::size_t tensor) {
  return std::ranges::all_of(work.ranks, [&](std::uint32_t rank) { return rank < tensor; });
}

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

/// Of the stages whose replicas are on one grid, or of all where none is, that whose rings share links most.
Time on_one_grid(const PipelineProfile& profile, const Problem& problem, const Job& job, const Joints& joints,
                 Pricing& pricing) {
  const machine::Routes routes(job.machine.network);
  const auto inside_grids = [&](machine::NodeId from, machine::NodeId to) {
    std::vector<machine::LinkId> links = routes.links(from, to);
    std::erase_if(links, [&](machine::LinkId link) { return joints.is_joint(link); });
    return links;
  };
  RingLoads all;
  std::size_t busiest = 0;
  int most = 0;
  bool stays = false;
  for (std::size_t stage = 0; stage < problem.count(); ++stage) {
    const std::vector<const Place*> places = replicas_of(problem, problem.start, stage);
    RingLoads own;
    own.add(places, inside_grids);
    all.add(places, inside_grids);
    if (std::pair(is_on_one_grid(places), own.most()) <= std::pair(stays, most)) continue;
    std::tie(stays, most, busiest) = std::tuple(is_on_one_grid(places), own.most(), stage);
  }
  const Time time = alone(profile, busiest, replicas_of(problem, problem.start, busiest), pricing);
  return most == 0 ? time : time * all.most() / most;
}

/// Of a stage that starts on several grids, or of the first one with its last replica on another grid.
JointSums over_joints(const PipelineProfile& profile, const Problem& problem,
                      const std::shared_ptr<const Joints>& joints, Pricing& pricing) {
  std::size_t stage = 0;
  while (stage < problem.count() && is_on_one_grid(replicas_of(problem, problem.start, stage))) ++stage;
  if (stage == problem.count()) stage = 0;
  std::vector<const Place*> places = replicas_of(problem, problem.start, stage);
  for (const Place& place : problem.places)
    if (is_on_one_grid(places) && place.grid != places.front()->grid) places.back() = &place;
  if (is_on_one_grid(places)) return {};
  RingLoads own;
  own.add_joints(places, *joints);
  return {joints, alone(profile, stage, places, pricing), own.most()};
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
