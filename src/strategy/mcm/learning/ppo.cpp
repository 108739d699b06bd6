#include "ppo.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/core.h>

#include "sharing.hpp"
#include "tessera/base/error.hpp"

namespace tessera::strategy::mcm {

std::vector<double> advantages_of(const RolloutSet& drawn, Baseline baseline) {
  const auto count = static_cast<double>(drawn.rollouts.size());
  double mean = 0, squares = 0;
  for (const Rollout& rollout : drawn.rollouts) mean += rollout.reward / count;
  for (const Rollout& rollout : drawn.rollouts) squares += (rollout.reward - mean) * (rollout.reward - mean) / count;
  const double deviation = std::sqrt(squares);
  constexpr double least_deviation = 1e-9;
  const double expected = baseline == Baseline::value ? drawn.value : mean;
  std::vector<double> advantages;
  for (const Rollout& rollout : drawn.rollouts)
    advantages.push_back(deviation > least_deviation ? (rollout.reward - expected) / deviation : 0);
  return advantages;
}

template <class Scalar>
double Loss<Scalar>::of_state(const Batch& batch, const Partition& state, const std::vector<Item>& items, Scalar part,
                              const Scalar* parameters, Scalar* gradient, UpdateReport& report) {
  const PolicyNetwork<Scalar> network(layout_, kernels_, batch.graph->input);
  const std::size_t nodes = batch.graph->input.nodes, chips = batch.graph->input.chips;
  network.forward(parameters, shared_, state, state_pass_);
  std::vector<Scalar>& logs = state_pass_.logits;
  const double entropy = log_softmax(logs, chips);
  const auto count = static_cast<double>(items.size());
  report.entropy += entropy * static_cast<double>(part) * count;
  double loss = -options_.entropy * entropy * static_cast<double>(part) * count;
  const Scalar scale = part / static_cast<Scalar>(nodes);
  // Of a node all items together: pushes by chip, and their sum by all chips' probabilities.
  of_logits_.assign(nodes * chips, 0);
  std::vector<Scalar> push(nodes, 0);
  for (const Item& item : items) {
    const Rollout& rollout = (*batch.rollouts)[item.rollout];
    const auto advantage = static_cast<Scalar>(batch.advantages[item.rollout]);
    const Partition& action = rollout.credited(options_.credit);
    const std::vector<float>& before = rollout.log_probabilities[item.iteration];
    const auto least = static_cast<Scalar>(1 - options_.clip), most = static_cast<Scalar>(1 + options_.clip);
    const auto bound = static_cast<Scalar>(options_.most_ratio), most_difference = Scalar{50};
    for (std::size_t node = 0; node < nodes; ++node) {
      // The credited action may be one that the policy would hardly take: no ratio beyond what a float holds.
      const Scalar difference =
          std::min(logs[node * chips + action[node]] - static_cast<Scalar>(before[node]), most_difference);
      const Scalar ratio = std::exp(difference), clipped = std::clamp(ratio, least, most);
      Scalar worth = std::min(ratio * advantage, clipped * advantage);
      if (advantage < 0) worth = std::max(worth, bound * advantage);
      loss -= static_cast<double>(scale * worth);
      report.divergence += static_cast<double>(scale * (ratio - 1 - difference));
      if (clipped * advantage < ratio * advantage || (advantage < 0 && ratio > bound)) {
        report.clipped += static_cast<double>(scale);
        continue;
      }
      const Scalar by_log = -scale * advantage * ratio;
      of_logits_[node * chips + action[node]] += by_log;
      push[node] += by_log;
    }
  }
  const auto weight = static_cast<Scalar>(options_.entropy * count) * scale;
  for (std::size_t node = 0; node < nodes; ++node) {
    Scalar own_entropy = 0;
    Scalar* row = of_logits_.data() + node * chips;
    Scalar* log = logs.data() + node * chips;
    for (std::size_t chip = 0; chip < chips; ++chip) own_entropy -= std::exp(log[chip]) * log[chip];
    for (std::size_t chip = 0; chip < chips; ++chip)
      row[chip] += std::exp(log[chip]) * (weight * (log[chip] + own_entropy) - push[node]);
  }
  network.backward(parameters, state, state_pass_, of_logits_, gradient, of_shared_);
  return loss;
}

template <class Scalar>
double Loss<Scalar>::gradient(const Batch& batch, const std::vector<std::size_t>& chosen, const Scalar* parameters,
                              Scalar* gradient, UpdateReport& report) {
  const GraphInput& input = batch.graph->input;
  const GraphNetwork<Scalar> graph_network(layout_, kernels_);
  const PolicyNetwork<Scalar> network(layout_, kernels_, input);
  graph_network.forward(input, parameters, graph_pass_);
  network.prepare(parameters, graph_pass_, shared_);
  of_shared_.assign(std::size_t{input.nodes} * layout_.shape.width, 0);
  const auto part = static_cast<Scalar>(1.0 / static_cast<double>(chosen.size() * options_.iterations));
  // All begin with the same state.
  std::vector<Item> items;
  for (const std::size_t rollout : chosen) items.push_back({rollout, 0});
  double loss = of_state(batch, {}, items, part, parameters, gradient, report);
  for (const std::size_t rollout : chosen) {
    const std::vector<Partition>& states = (*batch.rollouts)[rollout].states;
    for (std::size_t iteration = 1; iteration < states.size(); ++iteration)
      loss += of_state(batch, states[iteration], {{rollout, iteration}}, part, parameters, gradient, report);
  }
  network.finish(parameters, graph_pass_, of_shared_, gradient, of_last_, of_first_);
  const Scalar error = network.value(parameters, graph_pass_) - static_cast<Scalar>(batch.target);
  report.value_error += static_cast<double>(error * error);
  network.value_backward(parameters, graph_pass_, static_cast<Scalar>(2 * options_.value) * error, gradient, of_last_,
                         of_first_);
  graph_network.backward(input, parameters, graph_pass_, of_last_, of_first_, gradient);
  return loss + options_.value * static_cast<double>(error * error);
}

template class Loss<float>;
template class Loss<double>;

Learner::Learner(const NetworkShape& shape, const LearningOptions& options, const learning::Kernels<float>& kernels,
                 std::uint64_t seed)
    : adam(0),
      step(options.step),
      layout_(std::make_unique<const Layout>(shape)),
      options_(options),
      kernels_(kernels),
      seed_(seed),
      loss_(*layout_, kernels_, options_) {
  parameters = first_parameters(*layout_, seed);
  adam = learning::Adam(parameters.size());
}

namespace {

/// Of the mini-batches of an epoch: rollouts in an order of its own, cut into equal parts.
std::vector<std::vector<std::size_t>> mini_batches(std::size_t rollouts, std::int64_t parts,
                                                   const KeyedRandom& random) {
  std::vector<std::size_t> order(rollouts);
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(order, random);
  std::vector<std::vector<std::size_t>> all;
  for (std::int64_t part = 0; part < parts; ++part) {
    const WorkRange range = work_of(rollouts, static_cast<int>(part), static_cast<int>(parts));
    if (range.begin == range.end) continue;
    all.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(range.begin),
                     order.begin() + static_cast<std::ptrdiff_t>(range.end));
  }
  return all;
}

}  // namespace

std::vector<UpdateReport> Learner::update(const std::vector<Batch>& batches, const std::vector<int>& owners,
                                          std::int64_t rollouts, std::int64_t number, Communicator& comm) {
  const std::size_t size = parameters.size();
  std::vector<UpdateReport> reports(batches.size());
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (owners[i] == comm.rank()) own.push_back(i);
  }
  std::vector<float> gradients;  // of own batches, behind each other
  double steps = 0, norm = 0;
  for (std::int64_t epoch = 0; epoch < options_.epochs; ++epoch) {
    const KeyedRandom random(
        seed_, random_stream("mcm mini-batches") + static_cast<std::uint64_t>(number * options_.epochs + epoch));
    for (const std::vector<std::size_t>& chosen :
         mini_batches(static_cast<std::size_t>(rollouts), options_.mini_batches, random)) {
      gradients.assign(own.size() * size, 0.0F);
      for (std::size_t i = 0; i < own.size(); ++i)
        loss_.gradient(batches[own[i]], chosen, parameters.data(), gradients.data() + i * size, reports[own[i]]);
      const std::vector<float> sum = sum_in_order(owners, gradients, size, comm);
      const double length = adam.step(parameters, sum, step, options_.most_norm);
      if (!std::isfinite(length))
        throw InfeasibleError(
            fmt::format("learning has diverged at update {}: take a smaller strategy.learning.step", number));
      norm += length;
      ++steps;
    }
  }
  share(owners, reports, comm);
  for (UpdateReport& report : reports)
    report = {report.entropy / steps, report.divergence / steps, report.clipped / steps, report.value_error / steps,
              norm / steps};
  return reports;
}

UpdateReport Learner::update(const Batch& batch, std::int64_t number) {
  const auto alone = make_serial_communicator();
  return update({batch}, {0}, static_cast<std::int64_t>(batch.rollouts->size()), number, *alone).front();
}

}  // namespace tessera::strategy::mcm
