// MobileNet: v1 (Howard et al. 2017), v2 (Sandler et al. 2018), v3 (Howard et al. 2019).
#include <fmt/format.h>

#include <algorithm>

#include "families.hpp"
#include "family.hpp"
#include "mobile_blocks.hpp"

namespace tessera::workload::graphs {
namespace {

enum class MobileVersion { v1, v2, v3_large, v3_small };

struct MobileNetKeys : ImageKeys {
  MobileVersion version = MobileVersion::v2;
  double width = 1;
};

void declare_mobilenet(config::Schema<MobileNetKeys>& s) {
  s.choice("version", &MobileNetKeys::version,
           {{"v1", MobileVersion::v1},
            {"v2", MobileVersion::v2},
            {"v3-large", MobileVersion::v3_large},
            {"v3-small", MobileVersion::v3_small}},
           "of the three papers");
  s.number("width", &MobileNetKeys::width, "factor on the channels").at_least("0.05").at_most("16").otherwise("1");
  add_image_and_classes(s, "224", "1000");
}

/// Depthwise and pointwise convolutions in turn: channels and strides of the latter's.
Volume v1_body(NetworkBuilder& net, const Volume& image, double width) {
  const std::vector<std::pair<std::int64_t, std::int64_t>> blocks{{64, 1},  {128, 2},  {128, 1}, {256, 2}, {256, 1},
                                                                  {512, 2}, {512, 1},  {512, 1}, {512, 1}, {512, 1},
                                                                  {512, 1}, {1024, 2}, {1024, 1}};
  net.scope("stem");
  Volume at = net.relu(net.conv(image, scaled_channels(32, width), same(3, 2)));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    net.scope(fmt::format("block{}", i));
    at = net.relu(net.depthwise(at, same(3, blocks[i].second)));
    at = net.relu(net.pointwise(at, scaled_channels(blocks[i].first, width)));
  }
  return at;
}

/// The last convolution is not narrowed.
Volume v2_body(NetworkBuilder& net, const Volume& image, double width) {
  struct Stage {
    std::int64_t factor, channels, blocks, stride;
  };
  net.scope("stem");
  Volume at = net.activation("relu6", net.conv(image, scaled_channels(32, width), same(3, 2)));
  int stage = 0;
  for (const Stage& one : {Stage{1, 16, 1, 1},
                           {6, 24, 2, 2},
                           {6, 32, 3, 2},
                           {6, 64, 4, 2},
                           {6, 96, 3, 1},
                           {6, 160, 3, 2},
                           {6, 320, 1, 1}}) {
    for (std::int64_t block = 0; block < one.blocks; ++block) {
      net.scope(fmt::format("stage{}.block{}", stage, block));
      at = mobile_block(net, at,
                        {3, block == 0 ? one.stride : 1, one.factor * at.channels, scaled_channels(one.channels, width),
                         0, "relu6", "", false});
    }
    ++stage;
  }
  net.scope("head");
  return net.activation("relu6", net.pointwise(at, scaled_channels(1280, std::max(1.0, width))));
}

struct SearchedBlock {
  std::int64_t kernel, inner, out;
  bool squeezes, hard;  ///< with hard swish in the place of ReLU
  std::int64_t stride;
};

const std::vector<SearchedBlock>& v3_blocks(bool large) {
  static const std::vector<SearchedBlock> of_large{
      {3, 16, 16, false, false, 1}, {3, 64, 24, false, false, 2}, {3, 72, 24, false, false, 1},
      {5, 72, 40, true, false, 2},  {5, 120, 40, true, false, 1}, {5, 120, 40, true, false, 1},
      {3, 240, 80, false, true, 2}, {3, 200, 80, false, true, 1}, {3, 184, 80, false, true, 1},
      {3, 184, 80, false, true, 1}, {3, 480, 112, true, true, 1}, {3, 672, 112, true, true, 1},
      {5, 672, 160, true, true, 2}, {5, 960, 160, true, true, 1}, {5, 960, 160, true, true, 1}};
  static const std::vector<SearchedBlock> of_small{
      {3, 16, 16, true, false, 2}, {3, 72, 24, false, false, 2}, {3, 88, 24, false, false, 1},
      {5, 96, 40, true, true, 2},  {5, 240, 40, true, true, 1},  {5, 240, 40, true, true, 1},
      {5, 120, 48, true, true, 1}, {5, 144, 48, true, true, 1},  {5, 288, 96, true, true, 2},
      {5, 576, 96, true, true, 1}, {5, 576, 96, true, true, 1}};
  return large ? of_large : of_small;
}

Volume v3_body(NetworkBuilder& net, const Volume& image, double width, bool large) {
  net.scope("stem");
  Volume at = net.activation("hard_swish", net.conv(image, scaled_channels(16, width), same(3, 2)));
  const auto& blocks = v3_blocks(large);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    net.scope(fmt::format("block{}", i));
    const SearchedBlock& block = blocks[i];
    const std::int64_t inner = scaled_channels(block.inner, width);
    at = mobile_block(
        net, at,
        {block.kernel, block.stride, inner, scaled_channels(block.out, width),
         block.squeezes ? scaled_channels(inner, 0.25) : 0, block.hard ? "hard_swish" : "relu", "hard_sigmoid", false});
  }
  net.scope("head");
  at = net.global_pool(net.activation("hard_swish", net.pointwise(at, 6 * at.channels)));
  return net.activation("hard_swish", net.linear(at, scaled_channels(large ? 1280 : 1024, width)));
}

void build_mobilenet(const MobileNetKeys& keys, NetworkBuilder& net) {
  const Volume image = net.image(keys.image);
  Volume at;
  if (keys.version == MobileVersion::v1)
    at = v1_body(net, image, keys.width);
  else if (keys.version == MobileVersion::v2)
    at = v2_body(net, image, keys.width);
  else
    at = v3_body(net, image, keys.width, keys.version == MobileVersion::v3_large);
  net.scope("head");
  if (at.places() > 1) at = net.global_pool(at);
  static_cast<void>(net.linear(at, keys.classes));
}

}  // namespace

NetworkFamily mobilenet_family() {
  return family<MobileNetKeys>("mobilenet", "MobileNet v1, v2, v3", declare_mobilenet, build_mobilenet);
}

}  // namespace tessera::workload::graphs
