// What a chip holds of an input, by the order in which it runs its nodes.
#include "strategy/mcm/chip_work.hpp"

#include <catch2/catch.hpp>

#include "mcm_packages.hpp"

using namespace tessera;
using namespace tessera::strategy::mcm;
using namespace tessera::strategy::mcm::tests;
using workload::TensorKind;

namespace {

std::vector<std::string> order_of(const Package& package, const ChipWork& work) {
  std::vector<std::string> names;
  for (const Turn& turn : work.turns) names.push_back(package.graph.nodes[turn.node].name);
  return names;
}

/// a makes 10 B for b and 50 B for c; b makes 40 B of it, c 5 B, and d one byte of both.
Package uneven_diamond(std::uint32_t chips) {
  GraphCase made;
  const auto a = made.node("a", 1, {}, {10, 50});
  const auto b = made.node("b", 1, {a[0]}, {40});
  const auto c = made.node("c", 1, {a[1]}, {5});
  made.node("d", 1, {b[0], c[0]}, {1});
  return package_of(made.graph, chips);
}

}  // namespace

TEST_CASE("mcm: a diamond holds less when the branch that shrinks what is held goes first") {
  const Package package = uneven_diamond(1);
  const Partition all_here(4, 0);
  // In the graph's order: a holds 60 B; b adds 40, which is 100, and drops 10; c adds 5 to 90, and drops 50; d adds 1.
  const ChipWork in_order = chip_work(package, all_here, {NodeSchedule::graph}).front();
  CHECK(order_of(package, in_order) == std::vector<std::string>{"a", "b", "c", "d"});
  CHECK(in_order.held == 100);
  // Behind a, c leaves 45 B fewer and b 30 more: c goes first. 60 + 5 is the most; then 15 + 40 and 45 + 1.
  const ChipWork least = chip_work(package, all_here, {NodeSchedule::least_memory}).front();
  CHECK(order_of(package, least) == std::vector<std::string>{"a", "c", "b", "d"});
  CHECK(least.held == 65);
}

TEST_CASE("mcm: what chips exchange is held in buffers, once for each that is ahead") {
  // a | b | c, d: a sends 10 B to chip 1 and 50 B to chip 2, chip 1 sends 40 B to chip 2, which is two stages behind
  // chip 0: one more input than the two of neighbours is under way.
  const Package package = uneven_diamond(3);
  const std::vector<ChipWork> work = chip_work(package, {0, 1, 2, 2}, {NodeSchedule::graph});
  REQUIRE(work[0].to.size() == 2);
  CHECK(work[0].to[0].chip == 1);
  CHECK(work[0].to[0].bytes == 10);
  CHECK(work[0].to[0].depth == 2);
  CHECK(work[0].to[1].chip == 2);
  CHECK(work[0].to[1].bytes == 50);
  CHECK(work[0].to[1].depth == 3);
  // Chip 0 holds nothing but 60 B that leave, for two inputs.
  CHECK(peak_bytes(work[0]) == 2 * 60);
  // Chip 1: two of 10 B that come, two of 40 B that leave.
  CHECK(peak_bytes(work[1]) == 2 * 10 + 2 * 40);
  // With room for one input alone, half as much.
  CHECK(peak_bytes(chip_work(package, {0, 1, 2, 2}, {NodeSchedule::graph, 2, 1})[0]) == 60);
  // Chip 2: three of 50 B, two of 40 B, and c's 5 B with d's 1 B.
  CHECK(peak_bytes(work[2]) == 3 * 50 + 2 * 40 + 6);
}

TEST_CASE("mcm: weights are held once a chip, inputs of the host from their first reader to their last") {
  GraphCase made;
  const auto table = made.tensor(TensorKind::parameter, 1000);
  const auto constant = made.tensor(TensorKind::constant, 100);
  const auto mask = made.tensor(TensorKind::input, 7);
  const auto a = made.node("a", 1, {table, constant}, {20});
  const auto b = made.node("b", 1, {a[0], table, mask}, {20});
  const auto c = made.node("c", 1, {b[0], table, mask}, {20});
  made.node("d", 1, {c[0]}, {20});
  const Package package = package_of(made.graph, 2);
  const std::vector<ChipWork> work = chip_work(package, {0, 0, 0, 1}, {NodeSchedule::graph});
  CHECK(work[0].weights == 1100);
  // b: a's 20, its own 20 and the mask's 7; c's own 20 leave the chip and are counted there.
  CHECK(work[0].held == 47);
  CHECK(work[0].turns[1].allocates == 27);
  CHECK(work[0].turns[2].allocates == 0);
  CHECK(work[0].turns[2].releases == 27);
  // Each of two chips that read the table has it.
  const std::vector<ChipWork> split = chip_work(package, {0, 0, 1, 1}, {NodeSchedule::graph});
  CHECK(split[0].weights == 1100);
  CHECK(split[1].weights == 1000);
}
