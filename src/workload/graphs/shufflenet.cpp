// ShuffleNet V2 (Ma et al. 2018).
#include <fmt/format.h>

#include "families.hpp"
#include "family.hpp"

namespace tessera::workload::graphs {
namespace {

struct ShuffleNetKeys : ImageKeys {
  std::vector<std::int64_t> channels;
};

void declare_shufflenet(config::Schema<ShuffleNetKeys>& s) {
  s.integers("channels", &ShuffleNetKeys::channels, "of stem, three stages, and the last convolution")
      .at_least("2")
      .at_most("65536");
  add_image_and_classes(s, "224", "1000");
}

Volume shuffle_branch(NetworkBuilder& net, const Volume& in, std::int64_t half, std::int64_t stride) {
  const Volume at = net.depthwise(net.relu(net.pointwise(in, half)), same(3, stride));
  return net.relu(net.pointwise(at, half));
}

/// The first of a stage halves the places; the others leave half of the channels alone.
Volume shuffle_block(NetworkBuilder& net, const Volume& in, std::int64_t channels, bool first) {
  const std::int64_t half = channels / 2;
  Volume left, right;
  if (first) {
    left = net.relu(net.pointwise(net.depthwise(in, same(3, 2)), half));
    right = shuffle_branch(net, in, half, 2);
  } else {
    left = net.cut("split", in, {0, half, in.height, in.width});
    right = shuffle_branch(net, net.cut("split", in, {0, half, in.height, in.width}), half, 1);
  }
  const Volume both = net.concat({left, right});
  return net.arrange("shuffle", both, both);
}

void build_shufflenet(const ShuffleNetKeys& keys, NetworkBuilder& net) {
  const auto& channels = keys.channels;
  if (channels.size() != 5) throw InputError(fmt::format("{} channels, allowed: five", channels.size()));
  for (std::size_t stage = 1; stage <= 3; ++stage)
    if (channels[stage] % 2 != 0)
      throw InputError(fmt::format("{} channels of a stage, allowed: even", channels[stage]));
  const Volume image = net.image(keys.image);
  net.scope("stem");
  Volume at = net.max_pool(net.relu(net.conv(image, channels[0], same(3, 2))), same(3, 2));
  const std::vector<std::int64_t> blocks{4, 8, 4};
  for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
    for (std::int64_t block = 0; block < blocks[stage]; ++block) {
      net.scope(fmt::format("stage{}.block{}", stage + 2, block));
      at = shuffle_block(net, at, channels[stage + 1], block == 0);
    }
  }
  net.scope("head");
  at = net.relu(net.pointwise(at, channels[4]));
  net.classify(at, keys.classes);
}

}  // namespace

NetworkFamily shufflenet_family() {
  return family<ShuffleNetKeys>("shufflenet", "ShuffleNet V2", declare_shufflenet, build_shufflenet);
}

}  // namespace tessera::workload::graphs
