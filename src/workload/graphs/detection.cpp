// Detectors on networks that classify: SSD on VGG-16 (Liu et al. 2016), RetinaNet on ResNet (Lin et al. 2017). Which
// boxes to keep the host decides.
#include <fmt/format.h>

#include "families.hpp"
#include "family.hpp"
#include "residual.hpp"

namespace tessera::workload::graphs {
namespace {

struct SsdKeys : NetworkKeys {
  std::int64_t classes = 91;
};

struct RetinaNetKeys : NetworkKeys {
  std::vector<std::int64_t> blocks;
  std::int64_t height = 800, width = 800, classes = 91;
};

void declare_ssd(config::Schema<SsdKeys>& s) { add_classes(s, "91"); }

void declare_retinanet(config::Schema<RetinaNetKeys>& s) {
  s.integers("blocks", &RetinaNetKeys::blocks, "of each of the four stages of its ResNet").at_least("1").at_most("200");
  s.integer("height", &RetinaNetKeys::height, "of the image, in pixels")
      .at_least("64")
      .at_most("8192")
      .otherwise("800");
  s.integer("width", &RetinaNetKeys::width, "of the image, in pixels").at_least("64").at_most("8192").otherwise("800");
  add_classes(s, "91");
}

/// What boxes are found on: 38, 19, 10, 5, 3 places a side, and one.
std::vector<Volume> ssd_features(NetworkBuilder& net) {
  const auto conv = [&](const Volume& in, std::int64_t channels, const Window& window) {
    return net.relu(net.conv(in, channels, window));
  };
  Window rounded = inside(2, 2);
  rounded.round_up = true;
  Volume at = net.input("image", 3, 300, 300);
  std::vector<Volume> found;
  for (const auto& [channels, count] : {std::pair{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}) {
    net.scope(fmt::format("vgg.{}x{}", at.width, channels));
    for (int i = 0; i < count; ++i) at = conv(at, channels, same(3));
    if (channels == 512 && found.empty()) found.push_back(net.layer_norm(at));
    if (at.width > 19) at = net.max_pool(at, rounded);
  }
  net.scope("extra");
  at = conv(conv(net.max_pool(at, same(3)), 1024, same(3, 1, 6)), 1024, Window{});
  found.push_back(at);
  for (const auto& [channels, window] :
       {std::pair{512, same(3, 2)}, {256, same(3, 2)}, {256, inside(3)}, {256, inside(3)}}) {
    at = conv(conv(at, channels / 2, Window{}), channels, window);
    found.push_back(at);
  }
  return found;
}

void build_ssd(const SsdKeys& keys, NetworkBuilder& net) {
  const std::vector<std::int64_t> boxes{4, 6, 6, 6, 4, 4};
  const std::vector<Volume> features = ssd_features(net);
  net.scope("head");
  for (std::size_t i = 0; i < features.size(); ++i) {
    static_cast<void>(net.conv(features[i], boxes[i] * keys.classes, same(3)));
    static_cast<void>(net.conv(features[i], boxes[i] * 4, same(3)));
  }
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
  if (keys.blocks.size() != 4) throw InputError(fmt::format("blocks of {} stages, allowed: 4", keys.blocks.size()));
  const Volume image = net.input("image", 3, keys.height, keys.width);
  const auto levels = pyramid(net, residual_stages(net, image, {keys.blocks, true, 1, 64, 0}));
  add_shared_head(net, levels, "classes", 9 * keys.classes);
  add_shared_head(net, levels, "boxes", 9 * 4);
}

}  // namespace

NetworkFamily ssd_family() { return family<SsdKeys>("ssd", "SSD300 on VGG-16", declare_ssd, build_ssd); }

NetworkFamily retinanet_family() {
  return family<RetinaNetKeys>("retinanet", "RetinaNet on a ResNet", declare_retinanet, build_retinanet);
}

}  // namespace tessera::workload::graphs
