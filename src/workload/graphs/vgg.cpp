// VGG (Simonyan and Zisserman 2014) and AlexNet (Krizhevsky 2014: "one weird trick"): convolutions, then large linears.
#include <fmt/format.h>

#include "families.hpp"
#include "family.hpp"

namespace tessera::workload::graphs {
namespace {

struct VggKeys : NetworkKeys {
  std::vector<std::int64_t> convolutions;
  std::int64_t image = 224, classes = 1000;
};

struct AlexNetKeys : NetworkKeys {
  std::int64_t image = 224, classes = 1000;
};

void declare_vgg(config::Schema<VggKeys>& s) {
  s.integers("convolutions", &VggKeys::convolutions, "of each of the five stages").at_least("1").at_most("100");
  add_image(s, "224");
  add_classes(s, "1000");
}

void declare_alexnet(config::Schema<AlexNetKeys>& s) {
  add_image(s, "224");
  add_classes(s, "1000");
}

void add_large_linears(NetworkBuilder& net, const Volume& in, std::int64_t classes) {
  net.scope("head");
  const Volume at = net.relu(net.linear(net.relu(net.linear(in, 4096)), 4096));
  static_cast<void>(net.linear(at, classes));
}

void build_vgg(const VggKeys& keys, NetworkBuilder& net) {
  const std::vector<std::int64_t> channels{64, 128, 256, 512, 512};
  if (keys.convolutions.size() != channels.size())
    throw InputError(fmt::format("convolutions of {} stages, allowed: 5", keys.convolutions.size()));
  Volume at = net.input("image", 3, keys.image, keys.image);
  for (std::size_t stage = 0; stage < channels.size(); ++stage) {
    net.scope(fmt::format("stage{}", stage + 1));
    for (std::int64_t i = 0; i < keys.convolutions[stage]; ++i) at = net.relu(net.conv(at, channels[stage], same(3)));
    at = net.max_pool(at, inside(2, 2));
  }
  add_large_linears(net, at, keys.classes);
}

void build_alexnet(const AlexNetKeys& keys, NetworkBuilder& net) {
  Window first = inside(11, 4);
  first.pad_down = first.pad_right = 2;
  Volume at = net.input("image", 3, keys.image, keys.image);
  net.scope("features");
  at = net.max_pool(net.relu(net.conv(at, 64, first)), inside(3, 2));
  at = net.max_pool(net.relu(net.conv(at, 192, same(5))), inside(3, 2));
  for (const std::int64_t channels : {384, 256, 256}) at = net.relu(net.conv(at, channels, same(3)));
  add_large_linears(net, net.max_pool(at, inside(3, 2)), keys.classes);
}

}  // namespace

NetworkFamily vgg_family() { return family<VggKeys>("vgg", "VGG", declare_vgg, build_vgg); }

NetworkFamily alexnet_family() { return family<AlexNetKeys>("alexnet", "AlexNet", declare_alexnet, build_alexnet); }

}  // namespace tessera::workload::graphs
