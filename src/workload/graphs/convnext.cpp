// ConvNeXt (Liu et al. 2022).
#include <fmt/format.h>

#include "families.hpp"
#include "family.hpp"

namespace tessera::workload::graphs {
namespace {

struct ConvNextKeys : NetworkKeys {
  std::vector<std::int64_t> blocks, channels;
  std::int64_t image = 224, classes = 1000;
};

void declare_convnext(config::Schema<ConvNextKeys>& s) {
  s.integers("blocks", &ConvNextKeys::blocks, "of each stage").at_least("1").at_most("100");
  s.integers("channels", &ConvNextKeys::channels, "of each stage").at_least("1").at_most("16384");
  add_image(s, "224");
  add_classes(s, "1000");
}

/// The factor on each channel of a block's result is folded into its last convolution.
Volume convnext_block(NetworkBuilder& net, const Volume& in) {
  Volume at = net.layer_norm(net.depthwise(in, same(7)));
  at = net.activation("gelu", net.pointwise(at, 4 * in.channels));
  return net.add(net.pointwise(at, in.channels), in);
}

void build_convnext(const ConvNextKeys& keys, NetworkBuilder& net) {
  if (keys.blocks.size() != keys.channels.size() || keys.blocks.empty() || keys.blocks.size() > 8)
    throw InputError(fmt::format("blocks of {} stages and channels of {}, allowed: of the same 1 to 8",
                                 keys.blocks.size(), keys.channels.size()));
  Volume at = net.input("image", 3, keys.image, keys.image);
  for (std::size_t stage = 0; stage < keys.blocks.size(); ++stage) {
    net.scope(fmt::format("stage{}", stage));
    at = stage == 0 ? net.layer_norm(net.conv(at, keys.channels[0], inside(4, 4)))
                    : net.conv(net.layer_norm(at), keys.channels[stage], inside(2, 2));
    for (std::int64_t block = 0; block < keys.blocks[stage]; ++block) {
      net.scope(fmt::format("stage{}.block{}", stage, block));
      at = convnext_block(net, at);
    }
  }
  net.scope("head");
  static_cast<void>(net.linear(net.layer_norm(net.global_pool(at)), keys.classes));
}

}  // namespace

NetworkFamily convnext_family() {
  return family<ConvNextKeys>("convnext", "ConvNeXt", declare_convnext, build_convnext);
}

}  // namespace tessera::workload::graphs
