// The networks of a policy, and how it learns: layers and steps solved by hand, gradients beside finite differences.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "mcm_packages.hpp"
#include "strategy/mcm/analytic.hpp"
#include "strategy/mcm/learning/policy_data.hpp"
#include "strategy/mcm/learning/policy_search.hpp"
#include "strategy/mcm/learning/sharing.hpp"
#include "strategy/mcm/verifier.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::strategy::mcm;
using namespace tessera::strategy::mcm::tests;
using Catch::Contains;

namespace {

/// A graph asked of the analytic model.
struct AskedGraph {
  Package package;
  Options options;
  Question question{package, options, 7, [this](const std::vector<Partition>& all) { return judge(all); },
                    program::Fidelity::estimate};

  AskedGraph(const workload::Graph& graph, std::uint64_t chips) : package(package_of(graph, chips)) {
    options.evaluator = EvaluatorKind::analytic;
    options.samples = 40;
  }
  [[nodiscard]] std::vector<program::Evaluation> judge(const std::vector<Partition>& all) const {
    std::vector<program::Evaluation> evaluations;
    for (const Partition& partition : all) evaluations.push_back({true, {}, analytic_interval(package, partition)});
    return evaluations;
  }
};

/// Nodes of 10 us one behind another.
workload::Graph chain(int nodes) {
  GraphCase made;
  std::vector<workload::TensorId> before;
  for (int i = 0; i < nodes; ++i) before = made.node(numbered("n", i), 10 * microsecond, before, {1});
  return made.graph;
}

/// Three nodes in a row with one feature each: 1, 2, 3.
GraphInput three_nodes() {
  GraphInput input;
  input.nodes = 3;
  input.chips = 2;
  input.features = 1;
  input.values = {1, 2, 3};
  input.neighbours = {{0, 1, 3, 4}, {1, 0, 2, 1}};
  input.sources = {{0, 0, 1, 2}, {0, 1}};
  input.readers = {{0, 1, 2, 2}, {1, 2}};
  return input;
}

/// Small numbers of both signs.
template <class Scalar>
std::vector<Scalar> some_numbers(std::size_t count, const char* stream) {
  const KeyedRandom random(3, random_stream(stream));
  std::vector<Scalar> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<Scalar>(random.real(i) - 0.5));
  return values;
}

/// A rollout that was drawn by the policy as it is now, but that its probabilities were `off` times as large.
Rollout rollout_of(const Partition& valid, std::size_t iterations, double off) {
  Rollout rollout;
  rollout.valid = rollout.proposed = valid;
  rollout.states.emplace_back();
  for (std::size_t i = 1; i < iterations; ++i) rollout.states.push_back(valid);
  rollout.log_probabilities.assign(
      iterations, std::vector<float>(valid.size(), static_cast<float>(std::log(off / 2))));  // of two chips
  return rollout;
}

}  // namespace

TEST_CASE("mcm learning: a GraphSAGE layer on three nodes") {
  // Width 2. h0 = (x, 0): 1, 2, 3. Itself goes to the first number, the mean of its neighbours to the second:
  // (1, 2), (2, (1 + 3) / 2), (3, 2), each made sqrt(2) long.
  const GraphInput input = three_nodes();
  const Layout layout({1, 2, 1, 2});
  std::vector<double> parameters(layout.size, 0);
  parameters[layout.input] = 1;
  parameters[layout.graph[0].self] = 1;
  parameters[layout.graph[0].neighbours + 1] = 1;
  const learning::Kernels<double> kernels = learning::baseline_kernels<double>();
  GraphPass<double> pass;
  GraphNetwork<double>(layout, kernels).forward(input, parameters.data(), pass);
  CHECK(pass.first() == std::vector<double>{1, 0, 2, 0, 3, 0});
  const double root = std::numbers::sqrt2;
  const std::vector<double> expected{root / std::sqrt(5),      2 * root / std::sqrt(5), 1, 1,
                                     3 * root / std::sqrt(13), 2 * root / std::sqrt(13)};
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(pass.last()[i] == Approx(expected[i]).epsilon(1e-12));
}

TEST_CASE("mcm learning: the gradient of the loss is what finite differences say") {
  const GraphInput input = three_nodes();
  AskedGraph asked(chain(3), 2);
  Learned learned(asked.question);
  learned.input = input;
  for (const std::size_t iterations : {1U, 2U}) {
    for (const std::uint32_t positions : {2U, 3U}) {  // as many as chips, and stretched
      CAPTURE(iterations, positions);
      const Layout layout({1, 4, 2, positions});
      LearningOptions options;
      options.iterations = static_cast<std::int64_t>(iterations);
      options.entropy = 0.1;
      // Ratios of about 1 and of about 1/2, of which the second is clipped where the advantage is negative.
      const std::vector<Rollout> rollouts{rollout_of({0, 0, 1}, iterations, 1), rollout_of({0, 1, 1}, iterations, 2),
                                          rollout_of({1, 1, 1}, iterations, 2)};
      const Batch batch{&learned, &rollouts, {1, -0.5, 0.7}, 0.3};
      std::vector<double> parameters = some_numbers<double>(layout.size, "parameters");
      const learning::Kernels<double> kernels = learning::baseline_kernels<double>();
      Loss<double> loss(layout, kernels, options);
      std::vector<double> gradient(layout.size, 0), unused(layout.size, 0);
      UpdateReport report;
      loss.gradient(batch, {0, 1, 2}, parameters.data(), gradient.data(), report);
      const double step = 1e-6;
      for (std::size_t i = 0; i < layout.size; ++i) {
        const double at = parameters[i];
        parameters[i] = at + step;
        const double above = loss.gradient(batch, {0, 1, 2}, parameters.data(), unused.data(), report);
        parameters[i] = at - step;
        const double below = loss.gradient(batch, {0, 1, 2}, parameters.data(), unused.data(), report);
        parameters[i] = at;
        CAPTURE(i);
        CHECK(gradient[i] == Approx((above - below) / (2 * step)).margin(1e-7).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("mcm learning: a step of two nodes on two chips") {
  // All weights are 0, so that each chip is as likely and nothing but the logits' biases has a gradient. Both nodes on
  // chip 0 are worth 1 more than expected, both on chip 1 as much less. By a logit, mean over 2 rollouts and 2 nodes:
  // -(1/4) (1 (1 - 1/2) + (-1) (0 - 1/2)) = -1/4 a node for chip 0, so -1/2 for its bias and 1/2 for the other.
  AskedGraph asked(chain(2), 2);
  Learned learned(asked.question);
  LearningOptions options;
  options.mini_batches = options.epochs = 1;
  options.step = 0.1;
  options.most_norm = 100;
  const std::vector<Rollout> rollouts{rollout_of({0, 0}, 1, 1), rollout_of({1, 1}, 1, 1)};
  const Batch batch{&learned, &rollouts, {1, -1}, 0};
  NetworkShape shape;
  shape.features = learned.input.features;
  shape.positions = 2;
  Learner learner(shape, options, learning::baseline_kernels<float>(), 1);
  std::fill(learner.parameters.begin(), learner.parameters.end(), 0.0F);
  const UpdateReport report = learner.update(batch, 0);
  CHECK(report.norm == Approx(std::sqrt(0.5)));  // of (-1/2, 1/2)
  CHECK(report.entropy == Approx(std::numbers::ln2));
  CHECK(report.divergence == Approx(0).margin(1e-6));
  // Adam's first step is as long as it is told, whatever the gradient: biases of 0.1 and -0.1.
  const float* bias = learner.parameters.data() + learner.layout().logits_bias;
  CHECK(bias[0] == Approx(0.1));
  CHECK(bias[1] == Approx(-0.1));
  Policy policy(learner.layout(), learner.kernels());
  const RolloutSet drawn = policy.draw(learned, learner.parameters, options, 0, 2);
  const double likely = 1 / (1 + std::exp(-0.2));  // of chip 0
  CHECK(drawn.entropy == Approx(-likely * std::log(likely) - (1 - likely) * std::log(1 - likely)));
}

TEST_CASE("mcm learning: rewards as advantages") {
  // 1, 2, 3: mean 2, deviation sqrt(2/3).
  RolloutSet drawn;
  for (const double reward : {1, 2, 3}) drawn.rollouts.emplace_back().reward = reward;
  drawn.value = 1;
  CHECK(advantages_of(drawn, Baseline::rollouts)[0] == Approx(-std::sqrt(1.5)));
  CHECK(advantages_of(drawn, Baseline::value)[2] == Approx(2 * std::sqrt(1.5)));
  for (Rollout& rollout : drawn.rollouts) rollout.reward = 2;
  CHECK(advantages_of(drawn, Baseline::rollouts) == std::vector<double>{0, 0, 0});
}

TEST_CASE("mcm learning: chips between a policy's positions") {
  // Two chips of four positions lie in the middle of two each; four of two at 1/4 beyond and inside their middles.
  const Stretch wide(4, 2);
  CHECK(wide.places[0].low == 0);
  CHECK(wide.places[0].part_of_high == Approx(0.5));
  CHECK(wide.places[1].low == 2);
  const Stretch narrow(2, 4);
  CHECK(narrow.places[0].part_of_high == Approx(0));  // nothing lies outside
  CHECK(narrow.places[1].part_of_high == Approx(0.25));
  CHECK(narrow.places[2].part_of_high == Approx(0.75));
  const Stretch same(3, 3);
  for (std::uint32_t chip = 0; chip < 3; ++chip)
    CHECK(static_cast<float>(same.places[chip].low) + same.places[chip].part_of_high == Approx(chip));
}

TEST_CASE("mcm learning: ranks share tasks, the heaviest first") {
  // 5 to the first, 4 to the second, 3 to the second (4 < 5), 2 to the first.
  CHECK(owners_of({3, 5, 4, 2}, 2) == std::vector<int>{1, 0, 1, 0});
  CHECK(owners_of({1}, 3) == std::vector<int>{0});
}

TEST_CASE("mcm learning: a policy from scratch is uniform, learns, and is the same again") {
  // 12 nodes of 10 us over 4 chips: three each are best, 30 us. By chance a partition is one that leaves a chip four or
  // more; learning finds one within 300 samples, and its last rollouts are better than its first in the mean.
  AskedGraph asked(chain(12), 4);
  asked.options.samples = 300;
  asked.options.learning.step = 0.002;
  const Found found = search_by_policy(asked.question, "ppo", true);
  CHECK(found.evaluation.time == 30 * microsecond);
  REQUIRE(found.updates.size() == 15);
  CHECK(found.updates.front().entropy == Approx(std::log(4)));
  CHECK(found.updates.back().reward > found.updates.front().reward);
  CHECK(found.updates.back().entropy < found.updates.front().entropy);
  CHECK(found.updates.back().norm == 0);  // nothing comes behind it
  const Found again = search_by_policy(asked.question, "ppo", true);
  CHECK(again.partition == found.partition);
  CHECK(again.updates.back().reward == found.updates.back().reward);
}

TEST_CASE("mcm learning: a policy from scratch begins with the prior that the other searches begin with") {
  // Four nodes of one length over two chips: their middles lie at -1/4, 1/4, 3/4 and 5/4 chips. With sigma 1/2 the
  // first has exponents -(1/2)^2 / 2 = -1/8 and -(5/2)^2 / 2 = -25/8, so it is on the first chip with 1 / (1 + e^-3);
  // the second has -1/8 and -9/8: 1 / (1 + e^-1). The other two are their mirror images.
  const auto entropy_of = [](double log_odds) {
    const double p = 1 / (1 + std::exp(-log_odds));
    return -p * std::log(p) - (1 - p) * std::log(1 - p);
  };
  AskedGraph asked(chain(4), 2);
  asked.options.samples = 20;
  asked.options.sigma = 0.5;
  const Found found = search_by_policy(asked.question, "ppo", true);
  CHECK(found.updates.front().entropy == Approx((entropy_of(3) + entropy_of(1)) / 2));
  const Learned learned(asked.question);
  REQUIRE(learned.input.prior.size() == 8);
  CHECK(learned.input.prior[0] - learned.input.prior[1] == Approx(3));  // the first node: log odds of the first chip
  CHECK(learned.input.prior[2] - learned.input.prior[3] == Approx(1));
  CHECK(learned.input.prior[6] - learned.input.prior[7] == Approx(-3));
}

TEST_CASE("mcm learning: of a prior that is ever narrower the nearest chip remains") {
  for (const double sigma : {0.05, 0.01, 1e-6, 1e-12}) {
    AskedGraph asked(chain(4), 2);
    asked.options.samples = 20;
    asked.options.sigma = sigma;
    const Found found = search_by_policy(asked.question, "ppo", true);
    CHECK(found.updates.front().entropy < 0.01);
    CHECK(found.partition == Partition{0, 0, 1, 1});
  }
}

TEST_CASE("mcm learning: a search from a policy goes on with a step of its own") {
  AskedGraph asked(chain(12), 4);
  const Learned learned(asked.question);
  const Layout layout(shape_for(learned.input, nullptr, false));
  const Tensors policy = policy_data(layout, first_parameters(layout, 5));
  const auto entropy_with = [&](double step, double fine_tuning_step) {
    Options options = asked.options;
    options.samples = 60;
    options.learning.step = step;
    options.learning.fine_tuning_step = fine_tuning_step;
    const Question question{asked.package, options, 7, asked.question.judge, asked.question.fidelity, nullptr, &policy};
    return search_by_policy(question, "ppo", true).updates.back().entropy;
  };
  const double slow = entropy_with(0.001, 0.0001);
  CHECK(entropy_with(0.002, 0.0001) == slow);
  CHECK(entropy_with(0.001, 0.002) < slow);
}

TEST_CASE("mcm learning: without the solver most partitions are not valid, and earn nothing") {
  AskedGraph asked(chain(12), 4);
  asked.options.learning.solver = SolverMode::none;
  const Found found = search_by_policy(asked.question, "ppo", true);
  std::size_t invalid = 0;
  for (const auto& row : found.table) invalid += row.cost == 0 ? 1U : 0U;
  CHECK(invalid == found.table.size());  // 12 nodes that ascend by at most one: 1 in 80,000
  CHECK(found.table.front().reason.starts_with("edge "));
}

TEST_CASE("mcm learning: a policy as data comes back, and what is none is refused") {
  AskedGraph asked(chain(6), 3);
  Learned learned(asked.question);
  const NetworkShape shape = shape_for(learned.input, nullptr, false);
  const Layout layout(shape);
  std::vector<float> parameters = first_parameters(layout, 5);
  const Tensors data = policy_data(layout, parameters);
  CHECK(parameters_of(data, layout) == parameters);
  CHECK(chips_of(data) == 3);
  CHECK(shape_for(learned.input, &data, false) == shape);

  AskedGraph wide(chain(6), 4);
  const Learned on_more(wide.question);
  CHECK_THROWS_WITH(shape_for(on_more.input, &data, false), Contains("trained for 3 chips, and there are 4"));
  CHECK(shape_for(on_more.input, &data, true).positions == 3);

  Tensors other = data;
  other.notes[1].second = "places-0";
  CHECK_THROWS_WITH(parameters_of(other, layout), Contains("feature set \"places-0\", this program by \"places-1\""));
  other = data;
  other.all[0].rows = 2;
  CHECK_THROWS_WITH(parameters_of(other, layout), Contains("another shape: tensor \"input\" is 2 x 128"));
  other = data;
  other.all.erase(other.all.begin());
  CHECK_THROWS_WITH(parameters_of(other, layout), Contains("has no tensor \"input\""));
  other = data;
  other.all[0].values[0] = std::nanf("");
  CHECK_THROWS_WITH(parameters_of(other, layout), Contains("values that are no numbers"));
  CHECK_THROWS_WITH(parameters_of(Tensors{}, layout), Contains("no policy of strategy mcm"));
  CHECK_THROWS_AS(optimizer_of(data, layout.size), InputError);

  // It draws what it was asked to, on more chips too.
  wide.question.policy = &data;
  wide.options.stretch_policy = true;
  wide.options.learning.rollouts = 10;
  for (const bool learns : {false, true}) {
    const Found found = search_by_policy(wide.question, "stretched", learns);
    CHECK_FALSE(find_violation(wide.package.reduced.problem, found.partition));
    CHECK(found.table.size() == 40);
  }
}
