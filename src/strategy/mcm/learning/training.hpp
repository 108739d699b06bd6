// Training of a policy on many graphs, and which of its checkpoints is kept (section 4.3, Figure 4).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "policy_search.hpp"
#include "tessera/strategy/strategy.hpp"

namespace tessera::strategy::mcm {

/// A graph of a training with all that asking about it takes.
struct TrainingGraph {
  std::string name;
  Package package;
  Options options;
  Question question;
  Learned learned;

  TrainingGraph(std::string name, const Options& options, const Job& job, std::uint64_t seed);
  TrainingGraph(const TrainingGraph&) = delete;
  TrainingGraph& operator=(const TrainingGraph&) = delete;
};

/// A policy at a checkpoint, and how it does on the validation graphs without learning more.
struct Finalist {
  std::int64_t checkpoint = 0;
  double zero_shot = 0, fine_tuned = 0;  ///< mean over graphs of the mean reward; of the best reward
  std::vector<float> parameters;
};

/// The best of all checkpoints so far by their score, the earlier one of equals first.
class Finalists {
 public:
  explicit Finalists(std::size_t most) : most_(most) {}
  void add(Finalist finalist);
  [[nodiscard]] std::vector<Finalist>& all() { return all_; }
  [[nodiscard]] const std::vector<Finalist>& all() const { return all_; }

 private:
  std::size_t most_;
  std::vector<Finalist> all_;
};

class Trainer {
 public:
  /// `training` outlives it. Goes on from Training::resume. InputError as parameters_of().
  Trainer(const Options& options, const Training& training);
  /// To the end, a checkpoint after another.
  [[nodiscard]] Trained run();

 private:
  using Graphs = std::vector<std::unique_ptr<TrainingGraph>>;
  void go_on_from(const Tensors& state);
  void update();
  /// A graph in its place in a round, in which each has one.
  struct Turn {
    std::size_t graph = 0;
    std::int64_t round = 0;
  };
  void draw(const std::vector<Turn>& chosen, const std::vector<int>& owners, std::vector<RolloutSet>& drawn,
            std::vector<Batch>& batches);
  [[nodiscard]] std::vector<Turn> graphs_of(std::int64_t number) const;
  [[nodiscard]] double zero_shot();
  [[nodiscard]] Tensors policy_of(const std::vector<float>& parameters) const;
  [[nodiscard]] Tensors state() const;
  [[nodiscard]] double fine_tuned(const Finalist& finalist, const TrainingGraph& graph) const;
  void fine_tune(std::vector<Finalist>& finalists);
  [[nodiscard]] std::int64_t samples_of_update() const;

  const Training& training_;
  Options options_;
  Graphs graphs_, validation_;
  std::unique_ptr<Learner> learner_;
  std::unique_ptr<Policy> policy_;
  Finalists finalists_;
  std::vector<Update> updates_;
  std::int64_t done_ = 0;  ///< updates
};

}  // namespace tessera::strategy::mcm
