// Blocks of the networks for phones: inverted residuals (Sandler et al. 2018), with squeeze and excitation (Hu et al.
// 2018).
#pragma once

#include <string>

#include "network_builder.hpp"

namespace tessera::workload::graphs {

struct MobileBlock {
  std::int64_t kernel = 3, stride = 1;
  std::int64_t inner = 0, out = 0;  ///< channels
  std::int64_t squeezed = 0;        ///< channels between squeeze and excitation; 0: there is none
  std::string activation = "relu", gate = "sigmoid";
  bool fused = false;  ///< one convolution in the place of the expansion and the depthwise one
};
Volume mobile_block(NetworkBuilder& net, const Volume& in, const MobileBlock& block);

/// Channels scaled by what their mean says of them.
Volume squeeze_and_excite(NetworkBuilder& net, const Volume& in, const MobileBlock& block);

/// The nearest multiple of 8 (or more), but at least 90 %: how these papers scale numbers of channels.
[[nodiscard]] std::int64_t scaled_channels(std::int64_t channels, double width, std::int64_t multiple = 8);

}  // namespace tessera::workload::graphs
