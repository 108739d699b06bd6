// Sums over the replicas that cross what joins grids, by hand.
#include <catch2/catch.hpp>

#include "program/machines.hpp"
#include "strategy/watos/joints.hpp"
#include "strategy/watos/prediction.hpp"
#include "strategy/watos_problems.hpp"

namespace tessera::strategy::watos {
namespace {

/// Two of 2 x 1 dies: 0 1 | 2 3.
machine::Machine two_wafers() {
  return program::machine_of(
      "kind = \"wafers\"\nwafers = 2\ncolumns = 2\nrows = 1\nbandwidth = \"1 TB/s\"\nlatency = \"100 ns\"\n"
      "wafer_bandwidth = \"100 GB/s\"\nwafer_latency = \"500 ns\"\n");
}

/// Two stages of two replicas there. Sums take 4 ps on one wafer, and 10 where one ring crosses the joint.
Problem problem_on(const machine::Machine& wafers) {
  Problem problem = problem_of({stage_over(-10), stage_over(-10)}, 4, 1);
  for (Place& place : problem.places) place.grid = place.devices.front() < 2 ? 0 : 1;
  problem.replicas = 2;
  problem.shared = 4;
  problem.over_joints = {std::make_shared<const Joints>(wafers), 10, 1};
  return problem;
}

Solution at(const Problem& problem, std::vector<std::uint16_t> places) {
  Solution solution = in_order(problem);
  solution.places = std::move(places);
  return solution;
}

}  // namespace

TEST_CASE("joints: links between wafers, and from and to a switch") {
  const machine::Machine wafers = two_wafers();
  const Joints joints(wafers);
  CHECK(joints.any());
  CHECK(joints.between(0, 1).empty());
  REQUIRE(joints.between(0, 3).size() == 1);  // of three links the middle one
  CHECK(wafers.network.links[joints.between(0, 3)[0]].from == 1);
  CHECK(wafers.network.links[joints.between(0, 3)[0]].to == 2);
  CHECK(joints.between(3, 0).size() == 1);

  const machine::Machine meshes = program::machine_of(
      "kind = \"mesh-switch\"\nmeshes = 2\ncolumns = 2\nrows = 1\nbandwidth = \"1 TB/s\"\nlatency = \"100 ns\"\n"
      "switch_bandwidth = \"100 GB/s\"\nswitch_latency = \"500 ns\"\n");
  CHECK(Joints(meshes).between(0, 1).empty());
  CHECK(Joints(meshes).between(0, 2).size() == 2);  // to the switch and from it

  // Links between planes have a bandwidth of their own: die 2 is above die 0.
  const machine::Machine planes = program::machine_of(
      "kind = \"torus-3d\"\ncolumns = 2\nrows = 1\nplanes = 2\nbandwidth = \"1 TB/s\"\nlatency = \"100 ns\"\n"
      "plane_bandwidth = \"100 GB/s\"\n");
  CHECK(Joints(planes).between(0, 1).empty());
  CHECK(Joints(planes).between(0, 2).size() == 1);

  CHECK_FALSE(Joints(program::mesh_of(4, 1)).any());
}

TEST_CASE("joints: the busiest link has so many rings") {
  const machine::Machine wafers = two_wafers();
  const Problem problem = problem_on(wafers);
  const auto most = [&](std::vector<std::size_t> numbers) {
    std::vector<const Place*> places;
    for (const std::size_t number : numbers) places.push_back(&problem.places[number]);
    RingLoads loads;
    loads.add_joints(places, *problem.over_joints.joints);
    return loads.most();
  };
  CHECK(most({0, 1}) == 0);
  CHECK(most({1, 2}) == 1);        // there and back, a link each way
  CHECK(most({0, 2, 1, 3}) == 2);  // 0 to 2 and 1 to 3 go to the right
}

TEST_CASE("joints: sums where the stages stand, by hand") {
  const machine::Machine wafers = two_wafers();
  const Problem problem = problem_on(wafers);
  CHECK(sums_of(problem, at(problem, {0, 1, 2, 3})) == 4);   // no ring crosses
  CHECK(sums_of(problem, at(problem, {0, 2, 1, 3})) == 20);  // both do, on the same link: 2 x 10
  Problem one_wafer = problem;
  one_wafer.over_joints = {};
  CHECK(sums_of(one_wafer, at(problem, {0, 2, 1, 3})) == 4);
  CHECK(predicted(problem, at(problem, {0, 2, 1, 3})) == predicted(problem, at(problem, {0, 1, 2, 3})) + 16);
}

TEST_CASE("joints: both fitnesses keep replicas on one wafer") {
  // Eq. (2) alone would put replicas apart: a stage's neighbours are then beside it, 0 to 1 and 3 to 2.
  const machine::Machine wafers = two_wafers();
  const Problem problem = problem_on(wafers);
  const Solution apart = at(problem, {0, 3, 1, 2}), together = at(problem, {0, 1, 3, 2});
  for (const Fitness fitness : {Fitness::time, Fitness::product}) {
    const Judge judge(problem, fitness);
    CHECK(judge.score(together).fitness < judge.score(apart).fitness);
    CHECK(judge.score(together).fitness < judge.score(apart).fitness);  // and from what is known of the first time
    CHECK(sums_of(problem, at(problem, best_places(problem, apart, judge))) == 4);
  }
}

}  // namespace tessera::strategy::watos
