// U-Net (Ronneberger et al. 2015): a class for each place of an image.
#include <fmt/format.h>

#include "families.hpp"
#include "family.hpp"

namespace tessera::workload::graphs {
namespace {

struct UNetKeys : NetworkKeys {
  std::int64_t image = 572, channels = 1, width = 64, classes = 2;
};

void declare_unet(config::Schema<UNetKeys>& s) {
  add_image(s, "572");
  s.integer("channels", &UNetKeys::channels, "of the image").at_least("1").at_most("1024").otherwise("1");
  s.integer("width", &UNetKeys::width, "channels of the first convolutions")
      .at_least("1")
      .at_most("1024")
      .otherwise("64");
  add_classes(s, "2");
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

NetworkFamily unet_family() { return family<UNetKeys>("unet", "U-Net", declare_unet, build_unet); }

}  // namespace tessera::workload::graphs
