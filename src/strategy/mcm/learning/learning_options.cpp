#include "learning_options.hpp"

namespace tessera::strategy::mcm {
namespace {

/// Strictly positive numbers have no way to say so in a schema but a least one.
constexpr const char* least = "0.0000001";

void add_counts(config::Schema<LearningOptions>& s) {
  s.integer("rollouts", &LearningOptions::rollouts, "partitions between two updates")
      .at_least("2")
      .at_most("10000")
      .otherwise("20");
  s.integer("mini_batches", &LearningOptions::mini_batches, "into which the rollouts of an update are cut")
      .at_least("1")
      .at_most("10000")
      .otherwise("4");
  s.integer("epochs", &LearningOptions::epochs, "how often an update goes through its rollouts")
      .at_least("1")
      .at_most("1000")
      .otherwise("10");
  s.integer("iterations", &LearningOptions::iterations,
            "T of Eq. 7: draws of a rollout, each but the first told where the one before has put all nodes")
      .at_least("1")
      .at_most("16")
      .otherwise("1");
}

void add_numbers(config::Schema<LearningOptions>& s) {
  s.number("clip", &LearningOptions::clip, "how far a node's ratio of probabilities counts, from 1")
      .at_least(least)
      .at_most("1")
      .otherwise("0.2");
  s.number("most_ratio", &LearningOptions::most_ratio,
           "a node's ratio of probabilities does not count beyond this where the reward is below what was expected")
      .at_least("1")
      .at_most("1000000")
      .otherwise("3");
  s.number("step", &LearningOptions::step, "length of Adam's steps").at_least(least).at_most("1").otherwise("0.0005");
  s.number("fine_tuning_step", &LearningOptions::fine_tuning_step, "the same, of a search that goes on from a policy")
      .at_least(least)
      .at_most("1")
      .otherwise("0.0001");
  s.number("entropy", &LearningOptions::entropy, "weight of the entropy of a node's distribution, in nats")
      .at_least("0")
      .at_most("10")
      .otherwise("0.01");
  s.number("value", &LearningOptions::value, "weight of the value function's squared error")
      .at_least("0")
      .at_most("10")
      .otherwise("0.5");
  s.number("most_norm", &LearningOptions::most_norm, "gradients that are longer are made as long as this")
      .at_least(least)
      .at_most("1000000")
      .otherwise("1");
}

}  // namespace

const config::Schema<LearningOptions>& learning_schema() {
  static const config::Schema<LearningOptions> schema = [] {
    config::Schema<LearningOptions> s("strategy.mcm.learning", "How the policy of search ppo learns.");
    add_counts(s);
    add_numbers(s);
    s.choice<Credit>("credit", &LearningOptions::credit, {{"solver", Credit::solver}, {"proposed", Credit::proposed}},
                     "which action a reward is credited to: the solver's partition, or what the policy drew")
        .otherwise("solver");
    s.choice<SolverMode>("solver", &LearningOptions::solver,
                         {{"fix", SolverMode::fix}, {"sample", SolverMode::sample}, {"none", SolverMode::none}},
                         "fix: what the policy draws, corrected; sample: drawn by the solver from its distributions; "
                         "none: as drawn, valid or not")
        .otherwise("fix");
    s.choice<Baseline>("baseline", &LearningOptions::baseline,
                       {{"rollouts", Baseline::rollouts}, {"value", Baseline::value}},
                       "what a reward is compared with: the mean of the update's rollouts, or the value function")
        .otherwise("rollouts");
    return s;
  }();
  return schema;
}

}  // namespace tessera::strategy::mcm
