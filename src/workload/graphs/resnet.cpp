// Residual networks for classification: ResNet (He et al. 2015), ResNeXt (Xie et al. 2017), Wide ResNet (Zagoruyko and
// Komodakis 2016).
#include "families.hpp"
#include "family.hpp"
#include "residual.hpp"

namespace tessera::workload::graphs {
namespace {

struct ResNetKeys : ImageKeys {
  std::vector<std::int64_t> blocks;
  bool bottleneck = true;
  std::int64_t groups = 1, group_width = 64;
};

void declare_resnet(config::Schema<ResNetKeys>& s) {
  s.integers("blocks", &ResNetKeys::blocks, "of each stage").at_least("1").at_most("200");
  s.boolean("bottleneck", &ResNetKeys::bottleneck, "blocks of 1x1, 3x3 and 1x1 convolutions, or of two 3x3")
      .otherwise("true");
  s.integer("groups", &ResNetKeys::groups, "of the 3x3 convolutions of bottlenecks: ResNeXt")
      .at_least("1")
      .at_most("1024")
      .otherwise("1");
  s.integer("group_width", &ResNetKeys::group_width,
            "channels of a group in the first stage; 128 with one: Wide ResNet")
      .at_least("1")
      .at_most("4096")
      .otherwise("64");
  add_image_and_classes(s, "224", "1000");
}

void build_resnet(const ResNetKeys& keys, NetworkBuilder& net) {
  check_four_stages(keys.blocks);
  const Volume image = net.image(keys.image);
  const auto ends = residual_stages(net, image, {keys.blocks, keys.bottleneck, keys.groups, keys.group_width, 0});
  net.classify(ends.back(), keys.classes);
}

}  // namespace

NetworkFamily resnet_family() {
  return family<ResNetKeys>("resnet", "ResNet, ResNeXt, Wide ResNet", declare_resnet, build_resnet);
}

}  // namespace tessera::workload::graphs
