#include "mobile_blocks.hpp"

#include <algorithm>

namespace tessera::workload::graphs {

std::int64_t scaled_channels(std::int64_t channels, double width, std::int64_t multiple) {
  const double wanted = static_cast<double>(channels) * width, half = static_cast<double>(multiple) / 2;
  const std::int64_t near = static_cast<std::int64_t>(wanted + half) / multiple * multiple;
  const std::int64_t found = std::max(near, multiple);
  return static_cast<double>(found) < 0.9 * wanted ? found + multiple : found;
}

Volume squeeze_and_excite(NetworkBuilder& net, const Volume& in, const MobileBlock& block) {
  const Volume squeezed = net.activation(block.activation, net.pointwise(net.global_pool(in), block.squeezed));
  return net.multiply(in, net.activation(block.gate, net.pointwise(squeezed, in.channels)));
}

Volume mobile_block(NetworkBuilder& net, const Volume& in, const MobileBlock& block) {
  const auto activated = [&](const Volume& volume) { return net.activation(block.activation, volume); };
  const Window window = same(block.kernel, block.stride);
  const bool expands = block.inner != in.channels;
  Volume at = in;
  if (block.fused) {
    at = activated(net.conv(at, expands ? block.inner : block.out, window));
  } else {
    if (expands) at = activated(net.pointwise(at, block.inner));
    at = activated(net.depthwise(at, window));
  }
  if (block.squeezed > 0) at = squeeze_and_excite(net, at, block);
  if (expands || !block.fused) at = net.pointwise(at, block.out);
  return block.stride == 1 && in.channels == block.out ? net.add(at, in) : at;
}

}  // namespace tessera::workload::graphs
