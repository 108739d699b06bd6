// The stages of residual networks, which classifiers end with a linear layer and detectors with heads.
#pragma once

#include <vector>

#include "network_builder.hpp"

namespace tessera::workload::graphs {

struct ResidualStages {
  std::vector<std::int64_t> blocks;  ///< by stage
  bool bottleneck = true;            ///< 1x1, 3x3, 1x1 convolutions; otherwise two of 3x3
  std::int64_t groups = 1;
  std::int64_t group_width = 64;  ///< channels of a group in the first stage's 3x3 convolutions
  std::int64_t dilated = 0;       ///< stages at the end that dilate their windows in the place of strides
};

/// InputError unless there are four, as in all published ones.
void check_four_stages(const std::vector<std::int64_t>& blocks);

/// The input is an image; the output of each stage.
[[nodiscard]] std::vector<Volume> residual_stages(NetworkBuilder& net, const Volume& image,
                                                  const ResidualStages& stages);

}  // namespace tessera::workload::graphs
