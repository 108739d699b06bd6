// Blocks of branches side by side, each a chain of convolutions: what inception networks consist of.
#pragma once

#include <vector>

#include "network_builder.hpp"

namespace tessera::workload::graphs {

/// A convolution with a ReLU. Stride 2, or `valid`: inside the image; otherwise with as many places as its input.
struct ChainStep {
  std::int64_t height = 1, width = 1, channels = 0, stride = 1;
  bool valid = false;
};
using Chain = std::vector<ChainStep>;

Volume chain(NetworkBuilder& net, Volume at, const Chain& steps);
/// The branches' results behind each other. `pooled`: an average pool, and a 1x1 convolution to so many channels, are
/// one more branch; with `halves` a max pool of stride 2 alone.
struct Branches {
  std::vector<Chain> chains;
  std::int64_t pooled = 0;
  bool halves = false;
};
Volume branches(NetworkBuilder& net, const Volume& in, const Branches& all);
/// A chain, and what two convolutions, 1x3 and 3x1, make of its end.
Volume split_chain(NetworkBuilder& net, const Volume& in, const Chain& steps, std::int64_t channels);

}  // namespace tessera::workload::graphs
