// MNASNet-A1's plain sibling B1 (Tan et al. 2019), as torchvision scales it.
#include <fmt/format.h>

#include "families.hpp"
#include "family.hpp"
#include "mobile_blocks.hpp"

namespace tessera::workload::graphs {
namespace {

struct MnasNetKeys : ImageKeys {
  double width = 1;
};

void declare_mnasnet(config::Schema<MnasNetKeys>& s) {
  s.number("width", &MnasNetKeys::width, "factor on the channels").at_least("0.05").at_most("16").otherwise("1");
  add_image_and_classes(s, "224", "1000");
}

void build_mnasnet(const MnasNetKeys& keys, NetworkBuilder& net) {
  struct Stage {
    std::int64_t channels, kernel, stride, factor, blocks;
  };
  const auto scaled = [&](std::int64_t channels) { return scaled_channels(channels, keys.width); };
  const Volume image = net.image(keys.image);
  net.scope("stem");
  Volume at = net.relu(net.conv(image, scaled(32), same(3, 2)));
  at = net.pointwise(net.relu(net.depthwise(at, same(3))), scaled(16));
  int stage = 0;
  for (const Stage& one : {Stage{24, 3, 2, 3, 3},
                           {40, 5, 2, 3, 3},
                           {80, 5, 2, 6, 3},
                           {96, 3, 1, 6, 2},
                           {192, 5, 2, 6, 4},
                           {320, 3, 1, 6, 1}}) {
    for (std::int64_t block = 0; block < one.blocks; ++block) {
      net.scope(fmt::format("stage{}.block{}", stage, block));
      at = mobile_block(net, at,
                        {one.kernel, block == 0 ? one.stride : 1, one.factor * at.channels, scaled(one.channels), 0,
                         "relu", "", false});
    }
    ++stage;
  }
  net.scope("head");
  at = net.relu(net.pointwise(at, 1280));
  net.classify(at, keys.classes);
}

}  // namespace

NetworkFamily mnasnet_family() { return family<MnasNetKeys>("mnasnet", "MNASNet", declare_mnasnet, build_mnasnet); }

}  // namespace tessera::workload::graphs
