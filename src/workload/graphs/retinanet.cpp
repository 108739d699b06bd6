// RetinaNet on a ResNet (Lin et al. 2017). Which boxes to keep the host decides.
#include <fmt/format.h>

#include "families.hpp"
#include "family.hpp"
#include "residual.hpp"

namespace tessera::workload::graphs {
namespace {

struct RetinaNetKeys : NetworkKeys {
  std::vector<std::int64_t> blocks;
  std::int64_t height = 800, width = 800, classes = 91;
};

void declare_retinanet(config::Schema<RetinaNetKeys>& s) {
  s.integers("blocks", &RetinaNetKeys::blocks, "of each of the four stages of its ResNet").at_least("1").at_most("200");
  s.integer("height", &RetinaNetKeys::height, "of the image, in pixels")
      .at_least("64")
      .at_most("8192")
      .otherwise("800");
  s.integer("width", &RetinaNetKeys::width, "of the image, in pixels").at_least("64").at_most("8192").otherwise("800");
  add_classes(s, "91");
}

/// Coarser features are added to finer ones, all with 256 channels, and two levels more follow behind the coarsest.
std::vector<Volume> pyramid(NetworkBuilder& net, const std::vector<Volume>& ends) {
  net.scope("pyramid");
  std::vector<Volume> levels;
  Volume above;
  for (std::size_t stage = ends.size(); stage-- > 1;) {
    Volume at = net.pointwise(ends[stage], 256);
    if (!levels.empty()) at = net.add(at, net.resize(above, at.height, at.width));
    above = at;
    levels.insert(levels.begin(), net.conv(at, 256, same(3)));
  }
  levels.push_back(net.conv(levels.back(), 256, same(3, 2)));
  levels.push_back(net.conv(net.relu(levels.back()), 256, same(3, 2)));
  return levels;
}

/// Four convolutions and one more; all levels share their weights.
void add_shared_head(NetworkBuilder& net, const std::vector<Volume>& levels, const std::string& name,
                     std::int64_t channels) {
  net.scope(name);
  std::vector<NetworkBuilder::Filter> filters;
  for (int i = 0; i < 4; ++i) filters.push_back(net.filter(256, 256, same(3)));
  const NetworkBuilder::Filter last = net.filter(256, channels, same(3));
  for (std::size_t level = 0; level < levels.size(); ++level) {
    net.scope(fmt::format("{}.level{}", name, level + 3));
    Volume at = levels[level];
    for (const auto& filter : filters) at = net.relu(net.conv(at, filter));
    static_cast<void>(net.conv(at, last));
  }
}

void build_retinanet(const RetinaNetKeys& keys, NetworkBuilder& net) {
  check_four_stages(keys.blocks);
  const Volume image = net.input("image", 3, keys.height, keys.width);
  const auto levels = pyramid(net, residual_stages(net, image, {keys.blocks, true, 1, 64, 0}));
  add_shared_head(net, levels, "classes", 9 * keys.classes);
  add_shared_head(net, levels, "boxes", 9 * 4);
}

}  // namespace

NetworkFamily retinanet_family() {
  return family<RetinaNetKeys>("retinanet", "RetinaNet on a ResNet", declare_retinanet, build_retinanet);
}

}  // namespace tessera::workload::graphs
