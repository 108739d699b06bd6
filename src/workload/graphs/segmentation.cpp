// A class for each place of an image: FCN (Long et al. 2015) and DeepLab v3 (Chen et al. 2017) on a ResNet.
#include <fmt/format.h>

#include "families.hpp"
#include "family.hpp"
#include "residual.hpp"

namespace tessera::workload::graphs {
namespace {

struct SegmentationKeys : ImageKeys {
  bool atrous = false;
  std::vector<std::int64_t> blocks;
};

void declare_segmentation(config::Schema<SegmentationKeys>& s) {
  s.choice("head", &SegmentationKeys::atrous, {{"fcn", false}, {"deeplab", true}},
           "a convolution, or five side by side that look differently far");
  s.integers("blocks", &SegmentationKeys::blocks, "of each of the four stages of its ResNet")
      .at_least("1")
      .at_most("200");
  add_image_and_classes(s, "520", "21");
}

Volume atrous_pyramid(NetworkBuilder& net, const Volume& in) {
  std::vector<Volume> parts{net.relu(net.pointwise(in, 256))};
  for (const std::int64_t dilation : {12, 24, 36}) parts.push_back(net.relu(net.conv(in, 256, same(3, 1, dilation))));
  const Volume whole = net.relu(net.pointwise(net.global_pool(in), 256));
  parts.push_back(net.resize(whole, in.height, in.width));
  return net.relu(net.pointwise(net.concat(parts), 256));
}

void build_segmentation(const SegmentationKeys& keys, NetworkBuilder& net) {
  check_four_stages(keys.blocks);
  const Volume image = net.image(keys.image);
  Volume at = residual_stages(net, image, {keys.blocks, true, 1, 64, 2}).back();
  net.scope("head");
  at = keys.atrous ? net.conv(atrous_pyramid(net, at), 256, same(3)) : net.conv(at, at.channels / 4, same(3));
  at = net.pointwise(net.relu(at), keys.classes);
  static_cast<void>(net.resize(at, keys.image, keys.image));
}

}  // namespace

NetworkFamily segmentation_family() {
  return family<SegmentationKeys>("segmentation", "FCN, DeepLab v3 on a ResNet", declare_segmentation,
                                  build_segmentation);
}

}  // namespace tessera::workload::graphs
