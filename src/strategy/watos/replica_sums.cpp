#include "replica_sums.hpp"

#include <algorithm>
#include <map>

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

/// The first places on one grid that are as many as the replicas of a stage; none where no grid has so many.
std::vector<const Place*> together(const Problem& problem) {
  std::map<int, std::vector<const Place*>> by_grid;
  for (const Place& place : problem.places) {
    std::vector<const Place*>& own = by_grid[place.grid];
    own.push_back(&place);
    if (own.size() == problem.replicas) return own;
  }
  return {};
}

/// Of the stages that start on one grid that whose rings share links most; where none does, a stage that would.
Time sums_on_one_grid(const PipelineProfile& profile, const Problem& problem, const Joints& joints, Pricing& pricing) {
  const auto inside_grids = [&](machine::NodeId from, machine::NodeId to) { return joints.inside(from, to); };
  const auto rings_at = [&](const std::vector<const Place*>& places) {
    RingLoads own;
    own.add(places, inside_grids);
    return own.most();
  };
  RingLoads all;
  std::size_t busiest = 0;
  int most = 0;
  std::vector<const Place*> measured;
  for (std::size_t stage = 0; stage < problem.count(); ++stage) {
    const std::vector<const Place*> places = replicas_of(problem, problem.start, stage);
    all.add(places, inside_grids);
    if (!is_on_one_grid(places)) continue;
    const int rings = rings_at(places);
    if (!measured.empty() && rings <= most) continue;
    measured = places;
    most = rings;
    busiest = stage;
  }
  if (measured.empty()) {
    measured = together(problem);
    if (measured.empty()) return 0;
    most = rings_at(measured);
  }
  const Time time = alone(profile, busiest, measured, pricing);
  return most == 0 ? time : saturating_times(std::max(all.most(), most), time) / most;
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

void price_sums(const PipelineProfile& profile, const std::shared_ptr<const Joints>& joints, Pricing& pricing,
                Problem& problem) {
  if (problem.replicas < 2) return;
  problem.shared = sums_on_one_grid(profile, problem, *joints, pricing);
  if (joints->any()) problem.over_joints = over_joints(profile, problem, joints, pricing);
}

}  // namespace tessera::strategy::watos
