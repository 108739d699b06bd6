#include "policy_search.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tessera/base/error.hpp"

namespace tessera::strategy::mcm {

NetworkShape shape_for(const GraphInput& input, const Tensors* policy, bool may_stretch) {
  NetworkShape shape;
  shape.features = input.features;
  shape.positions = policy == nullptr ? input.chips : chips_of(*policy);
  if (shape.positions != input.chips && !may_stretch)
    throw InputError(
        fmt::format("the policy was trained for {} chips, and there are {}: stretch_policy = true takes it "
                    "all the same",
                    shape.positions, input.chips));
  return shape;
}

Worth worth_of(const RolloutSet& drawn) {
  Worth worth;
  const auto count = static_cast<double>(drawn.rollouts.size());
  for (const Rollout& rollout : drawn.rollouts) {
    worth.reward += rollout.reward / count;
    worth.best = std::max(worth.best, rollout.reward);
    worth.valid += (rollout.evaluation.feasible ? 1 : 0) / count;
  }
  worth.entropy = drawn.entropy;
  worth.value = drawn.value;
  return worth;
}

Update update_of(const Worth& worth, const UpdateReport& report, std::int64_t step, std::int64_t samples,
                 const std::string& subject) {
  return {step,           samples,       subject,     worth.reward,       worth.best,
          worth.valid,    worth.entropy, worth.value, report.value_error, report.divergence,
          report.clipped, report.norm};
}

Found search_by_policy(const Question& question, const std::string& name, bool learns,
                       const learning::Kernels<float>* kernels) {
  const auto alone = make_serial_communicator();
  Communicator& comm = question.comm != nullptr ? *question.comm : *alone;
  const LearningOptions& options = question.options.learning;
  Learned graph(question);
  Learner learner(shape_for(graph.input, question.policy, question.options.stretch_policy), options,
                  kernels != nullptr ? *kernels : learning::common_kernels(comm), question.seed);
  if (question.policy != nullptr) {
    learner.parameters = parameters_of(*question.policy, learner.layout());
    learner.step = options.fine_tuning_step;
  }
  Policy policy(learner.layout(), learner.kernels());
  std::optional<program::search::Record<Candidate>> record;
  Found found;
  const std::int64_t samples = question.options.samples;
  for (std::int64_t first = 0, step = 0; first < samples; first += options.rollouts, ++step) {
    question.go_on();
    const std::int64_t end = std::min(samples, first + options.rollouts);
    RolloutSet drawn = policy.draw(graph, learner.parameters, options, first, end - first);
    judge(graph, drawn.rollouts);
    for (std::int64_t i = first; i < end; ++i) {
      const Rollout& rollout = drawn.rollouts[static_cast<std::size_t>(i - first)];
      const Time foretold = rollout.evaluation.feasible ? question.foretell(rollout.valid) : 0;
      const Candidate candidate{rollout.valid, fmt::format("{} {}", name, i), foretold};
      if (!record) record.emplace(candidate, question.fidelity);
      record->add(step, candidate, rollout.evaluation, true, {});
    }
    const Worth worth = worth_of(drawn);
    UpdateReport report;
    if (learns && end != samples)
      report = learner.update({&graph, &drawn.rollouts, advantages_of(drawn, options.baseline), worth.reward}, step);
    found.updates.push_back(update_of(worth, report, step, end, ""));
  }
  auto outcome = record->take();
  found.partition = std::move(outcome.best.partition);
  found.evaluation = std::move(outcome.evaluation);
  found.table = std::move(outcome.table);
  found.kernels = learner.kernels().name;
  return found;
}

}  // namespace tessera::strategy::mcm
