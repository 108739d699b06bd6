#include "rollouts.hpp"

#include <algorithm>
#include <cmath>

#include "../searches/sampling.hpp"
#include "../verifier.hpp"

namespace tessera::strategy::mcm {

Learned::Learned(const Question& asked)
    : question(asked),
      input(graph_input(asked.package)),
      partitioner(make_partitioner(asked)),
      heuristic(cost_of_heuristic(asked)) {
  if (asked.options.sigma <= 0) return;
  for (const double log : prior_logs(asked)) input.prior.push_back(static_cast<float>(log));
}

template <class Scalar>
double log_softmax(std::vector<Scalar>& logits, std::size_t columns) {
  const std::size_t rows = logits.size() / columns;
  double entropy = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    Scalar* values = logits.data() + row * columns;
    const Scalar most = *std::max_element(values, values + columns);
    Scalar sum = 0, weighted = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      const Scalar below = values[i] - most;
      const Scalar weight = std::exp(below);
      sum += weight;
      weighted += weight * below;
      values[i] = below;
    }
    const Scalar log_sum = std::log(sum);
    for (std::size_t i = 0; i < columns; ++i) values[i] -= log_sum;
    entropy += static_cast<double>(log_sum - weighted / sum);
  }
  return entropy / static_cast<double>(rows);
}
template double log_softmax(std::vector<float>&, std::size_t);
template double log_softmax(std::vector<double>&, std::size_t);

namespace {

/// A chip for each node, by logs of probabilities.
Partition draw_chips(const std::vector<float>& logs, std::size_t chips, const KeyedRandom& random,
                     std::uint64_t first) {
  Partition drawn(logs.size() / chips);
  for (std::size_t node = 0; node < drawn.size(); ++node) {
    const float* row = logs.data() + node * chips;
    double rest = random.real(first + node);
    std::size_t chip = 0;
    for (; chip + 1 < chips; ++chip) {
      rest -= static_cast<double>(std::exp(row[chip]));
      if (rest < 0) break;
    }
    drawn[node] = static_cast<ChipId>(chip);
  }
  return drawn;
}

std::vector<float> logs_of(const std::vector<float>& logs, std::size_t chips, const Partition& action) {
  std::vector<float> result(action.size());
  for (std::size_t node = 0; node < action.size(); ++node) result[node] = logs[node * chips + action[node]];
  return result;
}

/// y', by what the policy says.
Partition solved(Learned& graph, const Rollout& rollout, const std::vector<float>& logs, SolverMode mode,
                 std::uint64_t number) {
  const Question& question = graph.question;
  if (mode == SolverMode::none) return rollout.proposed;
  if (mode == SolverMode::fix) return graph.partitioner.fix(rollout.proposed, question.seed, number);
  std::vector<float> weights(logs.size());
  for (std::size_t i = 0; i < logs.size(); ++i) weights[i] = std::exp(logs[i]);
  return graph.partitioner.sample(Distribution::weights(weights, graph.input.nodes, graph.input.chips), question.seed,
                                  number);
}

}  // namespace

RolloutSet Policy::draw(Learned& graph, const std::vector<float>& parameters, const LearningOptions& options,
                        std::int64_t first, std::int64_t count) {
  const GraphNetwork<float> graph_network(layout_, kernels_);
  const PolicyNetwork<float> network(layout_, kernels_, graph.input);
  const std::size_t chips = graph.input.chips;
  graph_network.forward(graph.input, parameters.data(), graph_pass_);
  network.prepare(parameters.data(), graph_pass_, shared_);
  network.forward(parameters.data(), shared_, {}, state_pass_);
  std::vector<float> first_logs = state_pass_.logits;
  RolloutSet drawn;
  drawn.entropy = log_softmax(first_logs, chips);
  drawn.value = static_cast<double>(network.value(parameters.data(), graph_pass_));
  const auto iterations = static_cast<std::size_t>(options.iterations);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint64_t>(first + i);
    const KeyedRandom random(graph.question.seed, random_stream("mcm policy") + number);
    Rollout rollout;
    std::vector<std::vector<float>> logs;  // by iteration
    for (std::size_t iteration = 0; iteration < iterations; ++iteration) {
      rollout.states.push_back(std::move(rollout.proposed));
      if (iteration == 0) {
        logs.push_back(first_logs);
      } else {
        network.forward(parameters.data(), shared_, rollout.states.back(), state_pass_);
        logs.push_back(state_pass_.logits);
        log_softmax(logs.back(), chips);
      }
      rollout.proposed = draw_chips(logs.back(), chips, random, iteration * graph.input.nodes);
    }
    rollout.valid = solved(graph, rollout, logs.back(), options.solver, number);
    for (const std::vector<float>& one : logs)
      rollout.log_probabilities.push_back(logs_of(one, chips, rollout.credited(options.credit)));
    drawn.rollouts.push_back(std::move(rollout));
  }
  return drawn;
}

void judge(Learned& graph, std::vector<Rollout>& rollouts) {
  const Problem& problem = graph.question.package.reduced.problem;
  // Without the solver most are not valid: they are not judged, and earn nothing.
  std::vector<Partition> valid;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < rollouts.size(); ++i) {
    if (const auto violation = find_violation(problem, rollouts[i].valid)) {
      rollouts[i].evaluation = {false, *violation, 0};
      continue;
    }
    valid.push_back(rollouts[i].valid);
    places.push_back(i);
  }
  const std::vector<program::Evaluation> evaluations = graph.question.judge(valid);
  for (std::size_t i = 0; i < places.size(); ++i) {
    Rollout& rollout = rollouts[places[i]];
    rollout.evaluation = evaluations[i];
    rollout.reward = evaluations[i].feasible && evaluations[i].time > 0
                         ? static_cast<double>(graph.heuristic) / static_cast<double>(evaluations[i].time)
                         : 0;
  }
}

}  // namespace tessera::strategy::mcm
