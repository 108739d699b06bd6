// The keys of [strategy] where its name is "mcm".
#pragma once

#include <string>
#include <vector>

#include "learning/learning_options.hpp"
#include "partitioner.hpp"
#include "tessera/base/config.hpp"

namespace tessera::strategy::mcm {

enum class EvaluatorKind : std::uint8_t { analytic, package };
enum class Objective : std::uint8_t { throughput, latency };
enum class NodeSchedule : std::uint8_t {
  least_memory,  ///< of the nodes that can run the one after which least is held, ties by number
  graph,         ///< the graph's topological order
};

/// How inputs pass through the chips.
struct PipelineRules {
  NodeSchedule schedule = NodeSchedule::least_memory;
  std::int64_t depth = 2;         ///< inputs that a chip may be ahead of its neighbour in the pipeline
  std::int64_t send_buffers = 2;  ///< inputs whose results a chip has room for until they have left
};

struct Options {
  std::vector<std::string> partition;  ///< by chip: runs of nodes by name (plan_text.hpp); empty: to be searched
  std::string search = "contiguous";
  std::int64_t samples = 1000;
  std::string chip_graph = "chain";  ///< template of the solver
  NodeOrder order = NodeOrder::random;
  double sigma = 0;  ///< chips; 0: uniform
  // Of annealing: tuned on the validation graphs (docs/validation/mcm.md).
  std::int64_t annealing_chains = 2;
  double annealing_nodes = 0.1;                          ///< part of the nodes that a step changes
  double annealing_sharpness = 2;                        ///< of their new distributions
  double annealing_first = 0.1, annealing_last = 0.001;  ///< temperatures
  bool refine = false;
  EvaluatorKind evaluator = EvaluatorKind::package;
  Objective objective = Objective::throughput;
  NodeSchedule schedule = NodeSchedule::least_memory;
  std::int64_t inputs = 32;
  std::int64_t depth = 2, send_buffers = 2;
  std::int64_t chips = 0;  ///< 0: all
  LearningOptions learning;
  std::string policy;  ///< file; empty: a policy that has learnt nothing
  bool stretch_policy = false;

  [[nodiscard]] PipelineRules pipeline() const { return {schedule, depth, send_buffers}; }
};
[[nodiscard]] const config::Schema<Options>& options_schema();

}  // namespace tessera::strategy::mcm
