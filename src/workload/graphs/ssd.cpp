// SSD300 on VGG-16 (Liu et al. 2016). Which boxes to keep the host decides.
#include <fmt/format.h>

#include "families.hpp"
#include "family.hpp"

namespace tessera::workload::graphs {
namespace {

struct SsdKeys : NetworkKeys {
  std::int64_t classes = 91;
};

void declare_ssd(config::Schema<SsdKeys>& s) { add_classes(s, "91"); }

/// What boxes are found on: 38, 19, 10, 5, 3 places a side, and one.
std::vector<Volume> ssd_features(NetworkBuilder& net) {
  const auto conv = [&](const Volume& in, std::int64_t channels, const Window& window) {
    return net.relu(net.conv(in, channels, window));
  };
  Window rounded = inside(2, 2);
  rounded.round_up = true;
  Volume at = net.image(300);
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

}  // namespace

NetworkFamily ssd_family() { return family<SsdKeys>("ssd", "SSD300 on VGG-16", declare_ssd, build_ssd); }

}  // namespace tessera::workload::graphs
