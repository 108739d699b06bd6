// Searches beside the optimum that looking at everything finds.
#include "tessera/program/search/searches.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "tessera/program/search/priced.hpp"

using namespace tessera;
using namespace tessera::program;
using namespace tessera::program::search;

namespace {

constexpr std::size_t jobs = 7;

/// Seven jobs in an order; two neighbours in it are exchanged.
struct Order {
  std::array<int, jobs> of{};

  [[nodiscard]] Order neighbour(std::uint64_t key) const {
    Order other = *this;
    const std::size_t i = KeyedRandom::to_below(key, jobs), j = (i + 1 + key % (jobs - 1)) % jobs;
    std::swap(other.of[i], other.of[j]);
    return other;
  }
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const int job : of) all += std::to_string(job);
    return all;
  }
  bool operator==(const Order&) const = default;
};

Order in_order() {
  Order order;
  std::iota(order.of.begin(), order.of.end(), 0);
  return order;
}

/// Sum of the times at which jobs of 3, 1, 4, ... ps are done, weighed; an order that begins with job 3 cannot run.
Evaluation cost(const Order& order) {
  constexpr std::array<Time, jobs> takes{30, 10, 40, 15, 90, 20, 60}, weighs{2, 7, 1, 9, 3, 5, 4};
  if (order.of[0] == 3) return {false, "job 3 has nothing to begin with"};
  Time now = 0, sum = 0;
  for (const int job : order.of) {
    now += takes[static_cast<std::size_t>(job)];
    sum += now * weighs[static_cast<std::size_t>(job)];
  }
  return {true, {}, sum};
}

std::vector<Evaluation> costs(const std::vector<Order>& orders) {
  std::vector<Evaluation> found;
  for (const Order& order : orders) found.push_back(cost(order));
  return found;
}

std::vector<Order> all_orders() {
  std::vector<Order> all;
  Order order = in_order();
  do all.push_back(order);
  while (std::ranges::next_permutation(order.of).found);
  return all;
}

void check_table(const Outcome<Order>& outcome, std::int64_t budget) {
  CHECK(static_cast<std::int64_t>(outcome.table.size()) <= budget);
  Time best = 0;
  for (const Tried& row : outcome.table) {
    if (row.cost > 0) best = best == 0 ? row.cost : std::min(best, row.cost);
    CHECK(row.best == best);
    CHECK((row.cost == 0) == (row.reason == "job 3 has nothing to begin with"));
  }
  CHECK(best == outcome.evaluation.time);
  CHECK(cost(outcome.best).time == best);
}

}  // namespace

TEST_CASE("search: looking at everything finds the best, the first of equals") {
  const Outcome<Order> outcome = exhaustive_search<Order>(all_orders(), costs);
  CHECK(outcome.table.size() == 5040);
  // By weight for each ps (Smith's rule): 1 (0.7), 3 (0.6), 5 (0.25), 0 and 6 (0.0667), 4 (0.0333), 2 (0.025).
  CHECK((outcome.best.text() == "1350642" || outcome.best.text() == "1356042"));
  check_table(outcome, 5040);
}

TEST_CASE("search: annealing finds the optimum of seven jobs, in the same way each time") {
  const Time optimum = exhaustive_search<Order>(all_orders(), costs).evaluation.time;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    AnnealingOptions options;
    options.seed = seed;
    options.budget.evaluations = 1500;
    const Outcome<Order> outcome = anneal<Order>(in_order(), costs, options);
    CHECK(outcome.evaluation.time == optimum);
    check_table(outcome, 1500);
    const Outcome<Order> again = anneal<Order>(in_order(), costs, options);
    CHECK(again.best == outcome.best);
    CHECK(again.table.size() == outcome.table.size());
  }
}

TEST_CASE("search: at random it comes near the optimum, and stops where it is told to") {
  const Time optimum = exhaustive_search<Order>(all_orders(), costs).evaluation.time;
  RandomOptions options;
  options.budget.evaluations = 3000;
  const Outcome<Order> outcome = random_search<Order>(in_order(), costs, options);
  check_table(outcome, 3000);
  CHECK(outcome.table.size() == 3000);
  CHECK(outcome.evaluation.time >= optimum);
  CHECK(static_cast<double>(outcome.evaluation.time) < 1.1 * static_cast<double>(optimum));
  int batches = 0;
  options.budget.is_over = [&] { return batches++ == 2; };
  CHECK(random_search<Order>(in_order(), costs, options).table.size() == 2 * 16);
  AnnealingOptions few;
  few.budget = {1000, [&] { return true; }};
  CHECK(anneal<Order>(in_order(), costs, few).table.size() == 1);
}

TEST_CASE("search: annealing evaluates as many as it is given, the last step with fewer chains") {
  // The start and 12 more: eight chains, then four of them.
  std::vector<std::size_t> together;
  const auto counted = [&](const std::vector<Order>& all) {
    together.push_back(all.size());
    return costs(all);
  };
  AnnealingOptions options;
  options.budget.evaluations = 13;
  const Outcome<Order> outcome = anneal<Order>(in_order(), counted, options);
  CHECK(together == std::vector<std::size_t>{1, 8, 4});
  CHECK(outcome.table.size() == 13);
  CHECK(outcome.table.back().step == 2);
  for (std::int64_t budget = 1; budget <= 20; ++budget) {
    options.budget.evaluations = budget;
    const Outcome<Order> one = anneal<Order>(in_order(), costs, options);
    CHECK(static_cast<std::int64_t>(one.table.size()) == budget);
    check_table(one, budget);
  }
  // The start is evaluated in any case.
  options.budget.evaluations = 0;
  CHECK(anneal<Order>(in_order(), costs, options).table.size() == 1);
}

TEST_CASE("search: rows know when they were made, one after another") {
  RandomOptions options;
  options.budget.evaluations = 40;
  const auto before = std::chrono::steady_clock::now();
  const Outcome<Order> outcome = random_search<Order>(in_order(), costs, options);
  CHECK(before <= outcome.table.front().known);
  CHECK(std::ranges::is_sorted(outcome.table, {}, &Tried::known));
  CHECK(outcome.table.back().known <= std::chrono::steady_clock::now());
}

TEST_CASE("search: one that begins where nothing can run goes on to what can") {
  Order stuck = in_order();
  std::swap(stuck.of[0], stuck.of[3]);
  AnnealingOptions options;
  options.budget.evaluations = 200;
  const Outcome<Order> outcome = anneal<Order>(stuck, costs, options);
  CHECK(outcome.table[0].cost == 0);
  CHECK_FALSE(outcome.table[0].accepted);
  CHECK(outcome.evaluation.feasible);
  CHECK(outcome.best.of[0] != 3);
}

TEST_CASE("search: behind what cannot run annealing finds what can") {
  // Numbers from 0 up: below 5 nothing can run, and a neighbour is one more or one less.
  struct Number {
    int at = 0;
    [[nodiscard]] Number neighbour(std::uint64_t key) const { return {std::max(0, at + (key % 2 == 0 ? 1 : -1))}; }
    [[nodiscard]] std::string text() const { return std::to_string(at); }
  };
  const auto evaluate = [](const std::vector<Number>& all) {
    std::vector<Evaluation> found;
    for (const Number& one : all)
      found.push_back(one.at < 5 ? Evaluation{false, "too small"} : Evaluation{true, {}, 100 + one.at});
    return found;
  };
  AnnealingOptions options;
  options.budget.evaluations = 800;
  CHECK(anneal<Number>({0}, evaluate, options).best.at == 5);
}

TEST_CASE("search: a budget of time ends, and says that it depends on the computer") {
  const auto alone = make_serial_communicator();
  RandomOptions options;
  options.budget = within(0, 1000, *alone);
  const Outcome<Order> none = random_search<Order>(in_order(), costs, options);
  CHECK(none.table.empty());
  CHECK(none.is_timed);
  options.budget = within(3600, 48, *alone);
  CHECK(random_search<Order>(in_order(), costs, options).table.size() == 48);
  options.budget = {48};
  CHECK_FALSE(random_search<Order>(in_order(), costs, options).is_timed);
}

TEST_CASE("search: of plans on a price's hull the fastest that fits is found") {
  // Time and bytes held. At 900 ps a byte, where the first and the third cost as much, {60000, 30} is the best; between
  // it and the first no price finds another, {58000, 44} is on no price's way.
  struct Plan {
    Time time;
    std::int64_t bytes;
  };
  const std::vector<Plan> all{{10000, 100}, {60000, 30}, {100000, 0}, {58000, 44}};
  std::vector<std::int64_t> prices;
  const search::PricedPlans<Plan> plans{
      [&](std::int64_t price) {
        prices.push_back(price);
        return *std::ranges::min_element(all, {}, [&](const Plan& plan) { return plan.time + price * plan.bytes; });
      },
      [](const Plan& plan) { return plan.time; }, [](const Plan& plan) { return plan.bytes; },
      [](const Plan& plan) { return plan.bytes <= 45; }};
  const Plan found = search::fastest_between(plans, all[2], all[0]);
  CHECK(found.time == 60000);
  CHECK(prices.front() == 900);  // 90,000 ps for 100 B
  CHECK(prices.size() <= 3);
}
