#include "residual.hpp"

#include <fmt/format.h>

#include "tessera/base/error.hpp"

namespace tessera::workload::graphs {
namespace {

struct ResidualBlock {
  std::int64_t base = 64;  ///< channels, before groups and expansion
  std::int64_t stride = 1, dilation = 1;
};

/// The stride is that of the 3x3 convolution (ResNet "v1.5", as torchvision has it).
Volume residual_block(NetworkBuilder& net, const Volume& in, const ResidualStages& stages, const ResidualBlock& block) {
  const Window window = same(3, block.stride, block.dilation);
  const std::int64_t inner = stages.bottleneck ? block.base * stages.group_width / 64 * stages.groups : block.base;
  const std::int64_t out = stages.bottleneck ? 4 * block.base : block.base;
  Volume at;
  if (stages.bottleneck) {
    at = net.relu(net.pointwise(in, inner));
    at = net.relu(net.conv(at, inner, window, stages.groups));
    at = net.pointwise(at, out);
  } else {
    at = net.relu(net.conv(in, inner, window));
    at = net.conv(at, out, same(3, 1, block.dilation));
  }
  const bool changes = in.channels != out || block.stride > 1;
  return net.relu(net.add(at, changes ? net.conv(in, out, inside(1, block.stride)) : in));
}

}  // namespace

void check_four_stages(const std::vector<std::int64_t>& blocks) {
  if (blocks.size() != 4) throw InputError(fmt::format("blocks of {} stages, allowed: 4", blocks.size()));
}

std::vector<Volume> residual_stages(NetworkBuilder& net, const Volume& image, const ResidualStages& stages) {
  net.scope("stem");
  Volume at = net.max_pool(net.relu(net.conv(image, 64, same(7, 2))), same(3, 2));
  std::vector<Volume> ends;
  std::int64_t dilation = 1;
  for (std::size_t stage = 0; stage < stages.blocks.size(); ++stage) {
    const bool dilates = stage + static_cast<std::size_t>(stages.dilated) >= stages.blocks.size();
    for (std::int64_t block = 0; block < stages.blocks[stage]; ++block) {
      net.scope(fmt::format("stage{}.block{}", stage + 1, block));
      const std::int64_t stride = block == 0 && stage > 0 && !dilates ? 2 : 1;
      at = residual_block(net, at, stages, {64 << stage, stride, dilation});
      if (block == 0 && dilates) dilation *= 2;  // the first block's window is still that of the stage before
    }
    ends.push_back(at);
  }
  return ends;
}

}  // namespace tessera::workload::graphs
