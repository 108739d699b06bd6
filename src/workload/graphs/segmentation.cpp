// A class for each place: FCN (Long et al. 2015) and DeepLab v3 (Chen et al. 2017) on a ResNet, U-Net (Ronneberger et
// al. 2015).
#include <fmt/format.h>

#include "families.hpp"
#include "family.hpp"
#include "residual.hpp"

namespace tessera::workload::graphs {
namespace {

struct SegmentationKeys : NetworkKeys {
  bool atrous = false;
  std::vector<std::int64_t> blocks;
  std::int64_t image = 520, classes = 21;
};

struct UNetKeys : NetworkKeys {
  std::int64_t image = 572, channels = 1, width = 64, classes = 2;
};

void declare_segmentation(config::Schema<SegmentationKeys>& s) {
  s.choice("head", &SegmentationKeys::atrous, {{"fcn", false}, {"deeplab", true}},
           "a convolution, or five side by side that look differently far");
  s.integers("blocks", &SegmentationKeys::blocks, "of each of the four stages of its ResNet")
      .at_least("1")
      .at_most("200");
  add_image(s, "520");
  add_classes(s, "21");
}

void declare_unet(config::Schema<UNetKeys>& s) {
  add_image(s, "572");
  s.integer("channels", &UNetKeys::channels, "of the image").at_least("1").at_most("1024").otherwise("1");
  s.integer("width", &UNetKeys::width, "channels of the first convolutions")
      .at_least("1")
      .at_most("1024")
      .otherwise("64");
  add_classes(s, "2");
}

Volume atrous_pyramid(NetworkBuilder& net, const Volume& in) {
  std::vector<Volume> parts{net.relu(net.pointwise(in, 256))};
  for (const std::int64_t dilation : {12, 24, 36}) parts.push_back(net.relu(net.conv(in, 256, same(3, 1, dilation))));
  const Volume whole = net.relu(net.pointwise(net.global_pool(in), 256));
  parts.push_back(net.resize(whole, in.height, in.width));
  return net.relu(net.pointwise(net.concat(parts), 256));
}

void build_segmentation(const SegmentationKeys& keys, NetworkBuilder& net) {
  if (keys.blocks.size() != 4) throw InputError(fmt::format("blocks of {} stages, allowed: 4", keys.blocks.size()));
  const Volume image = net.input("image", 3, keys.image, keys.image);
  Volume at = residual_stages(net, image, {keys.blocks, true, 1, 64, 2}).back();
  net.scope("head");
  at = keys.atrous ? net.conv(atrous_pyramid(net, at), 256, same(3)) : net.conv(at, at.channels / 4, same(3));
  at = net.pointwise(net.relu(at), keys.classes);
  static_cast<void>(net.resize(at, keys.image, keys.image));
}

Volume double_conv(NetworkBuilder& net, const Volume& in, std::int64_t channels) {
  return net.relu(net.conv(net.relu(net.conv(in, channels, inside(3))), channels, inside(3)));
}

/// Convolutions stay inside the image, so that what goes across is cropped.
void build_unet(const UNetKeys& keys, NetworkBuilder& net) {
  Volume at = net.input("image", keys.channels, keys.image, keys.image);
  std::vector<Volume> across;
  for (int level = 0; level < 5; ++level) {
    net.scope(fmt::format("down{}", level));
    if (level > 0) at = net.max_pool(at, inside(2, 2));
    at = double_conv(net, at, keys.width << level);
    across.push_back(at);
  }
  for (int level = 3; level >= 0; --level) {
    net.scope(fmt::format("up{}", level));
    at = net.up_conv(at, at.channels / 2, 2, 2);
    const Volume cropped = net.cut("crop", across[static_cast<std::size_t>(level)], at);
    at = double_conv(net, net.concat({cropped, at}), keys.width << level);
  }
  net.scope("head");
  static_cast<void>(net.pointwise(at, keys.classes));
}

}  // namespace

NetworkFamily segmentation_family() {
  return family<SegmentationKeys>("segmentation", "FCN, DeepLab v3 on a ResNet", declare_segmentation,
                                  build_segmentation);
}

NetworkFamily unet_family() { return family<UNetKeys>("unet", "U-Net", declare_unet, build_unet); }

}  // namespace tessera::workload::graphs
