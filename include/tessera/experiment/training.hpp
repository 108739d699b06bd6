// What `tessera train` does: a policy that a strategy's searches begin with, learnt from many graphs, or a network that
// predicts how long products take.
//
// The training of a policy is an experiment that is carried out with each graph of a split (inputs/graphs/splits) as
// its model.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tessera/experiment/experiment.hpp"
#include "tessera/results/results.hpp"

namespace tessera::experiment {

/// The experiment, and for a policy the same with each graph of the training and of the validation as its model.
struct TrainingSources {
  struct Graph {
    std::string name;
    Source source;
  };
  Source experiment;
  std::vector<Graph> graphs, validation;
  std::string hash;  ///< of all that it is learnt from, 16 hexadecimal digits

  /// One that is learnt from.
  [[nodiscard]] const Source& first() const { return graphs.empty() ? experiment : graphs.front().source; }
};

/// By one rank, as load(). Problems go to `diagnostics`: a split that cannot be read, that has no graphs, or that lists
/// one in two of its lists.
[[nodiscard]] TrainingSources load_training(const std::string& path, const std::vector<Setting>& settings,
                                            const std::vector<std::filesystem::path>& folders,
                                            config::Diagnostics& diagnostics);
/// Rank 0's on all ranks, as shared() of a source.
[[nodiscard]] TrainingSources shared(TrainingSources sources, Communicator& comm);

struct TrainingResult {
  results::PolicyFile file;
  std::string kernels;
  std::string report;  ///< what it has come to, in lines
};

/// What goes on while it learns; all on all ranks.
struct TrainingHooks {
  /// A checkpoint: the file that it goes on from.
  std::function<void(const TrainingResult& so_far)> keep;
  /// Behind each update. May throw, on all alike.
  std::function<void(double done, const std::string& last)> progress;
};

/// On all ranks of `comm`. `resume`: the file of a checkpoint; null: from scratch. InputError, in lines, for a strategy
/// that learns nothing, a graph that it does not take, and a checkpoint of another training.
[[nodiscard]] TrainingResult train(const TrainingSources& sources, const results::PolicyFile* resume,
                                   const TrainingHooks& hooks, Communicator& comm);

}  // namespace tessera::experiment
