// What a strategy that learns is given, and hands back: `tessera train`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tessera/base/comm.hpp"
#include "tessera/base/data_table.hpp"
#include "tessera/base/tensors.hpp"
#include "tessera/strategy/job.hpp"

namespace tessera::strategy {

/// A checkpoint on the validation graphs: mean reward of what it draws; mean of the best rewards after learning on.
struct Validated {
  std::int64_t checkpoint = 0;
  double zero_shot = 0, fine_tuned = 0;
};

struct Trained {
  Tensors policy;                    ///< of the checkpoint that is best after learning on
  std::vector<DataTable> tables;     ///< how it came about, as Plan::tables
  std::int64_t samples = 0;          ///< that it was learnt from
  std::vector<Validated> finalists;  ///< best first
  std::string kernels;               ///< as Searched::kernels
};

/// What a policy learns from: each graph a job of its own, alike but for the model. All of it outlives this.
struct Training {
  struct Graph {
    std::string name;
    const Job* job = nullptr;  ///< whose evaluations are this rank's own
  };
  std::vector<Graph> graphs;
  std::vector<Graph> validation;  ///< by which a checkpoint is chosen
  std::int64_t samples = 20000;
  std::int64_t checkpoints = 200;
  std::int64_t together = 5;    ///< graphs of an update
  std::int64_t finalists = 10;  ///< checkpoints that are compared once more, after learning on
  std::int64_t validation_samples = 20, fine_tuning_samples = 100;  ///< a graph and checkpoint
  std::uint64_t seed = 1;
  Communicator* comm = nullptr;        ///< of the ranks that train together
  const Tensors* resume = nullptr;     ///< Trained::policy that `keep` was given; null: from scratch
  std::vector<DataTable> before = {};  ///< and its Trained::tables
  /// At each checkpoint, on all ranks: in the place of the policy whatever it takes to go on from it.
  std::function<void(const Trained& so_far)> keep;
  /// Behind each update, and before each part of the validation at the end; on all ranks. May throw, on all alike.
  std::function<void(double done, const std::string& last)> progress;  ///< done: part of all; last: what came of it
};

}  // namespace tessera::strategy
