// DenseNet (Huang et al. 2017).
#include <fmt/format.h>

#include "families.hpp"
#include "family.hpp"

namespace tessera::workload::graphs {
namespace {

struct DenseNetKeys : ImageKeys {
  std::vector<std::int64_t> blocks;
  std::int64_t growth = 32;
};

void declare_densenet(config::Schema<DenseNetKeys>& s) {
  s.integers("blocks", &DenseNetKeys::blocks, "layers of each dense block").at_least("1").at_most("200");
  s.integer("growth", &DenseNetKeys::growth, "channels that a layer adds")
      .at_least("1")
      .at_most("1024")
      .otherwise("32");
  add_image_and_classes(s, "224", "1000");
}

/// What stands before a layer is normed anew for each: its norm cannot be folded into the convolutions that made it.
void build_densenet(const DenseNetKeys& keys, NetworkBuilder& net) {
  if (keys.blocks.empty() || keys.blocks.size() > 8) throw InputError("blocks are 1 to 8 dense blocks");
  const Volume image = net.image(keys.image);
  net.scope("stem");
  Volume at = net.max_pool(net.relu(net.conv(image, 2 * keys.growth, same(7, 2))), same(3, 2));
  for (std::size_t block = 0; block < keys.blocks.size(); ++block) {
    for (std::int64_t layer = 0; layer < keys.blocks[block]; ++layer) {
      net.scope(fmt::format("block{}.layer{}", block, layer));
      const Volume squeezed = net.relu(net.pointwise(net.relu(net.affine(at)), 4 * keys.growth));
      at = net.concat({at, net.conv(squeezed, keys.growth, same(3))});
    }
    if (block + 1 == keys.blocks.size()) break;
    net.scope(fmt::format("transition{}", block));
    at = net.average_pool(net.pointwise(net.relu(net.affine(at)), at.channels / 2), inside(2, 2));
  }
  net.scope("head");
  net.classify(net.relu(net.affine(at)), keys.classes);
}

}  // namespace

NetworkFamily densenet_family() {
  return family<DenseNetKeys>("densenet", "DenseNet", declare_densenet, build_densenet);
}

}  // namespace tessera::workload::graphs
