// How partitions are judged: by the paper's model, or by the simulated package.
#pragma once

#include <vector>

#include "options.hpp"
#include "package.hpp"
#include "tessera/program/evaluator.hpp"

namespace tessera::strategy::mcm {

/// The program that `run` simulates of a partition: Options::inputs, or with objective latency one input.
[[nodiscard]] program::Program program_of(const Package& package, const Partition& partition, const Options& options,
                                          const Job& job);

/// In the partitions' order, on all ranks alike: Question::judge.
[[nodiscard]] std::vector<program::Evaluation> judge(const Package& package, const std::vector<Partition>& partitions,
                                                     const Options& options, const Job& job);

}  // namespace tessera::strategy::mcm
