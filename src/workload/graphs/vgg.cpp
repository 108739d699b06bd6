// VGG (Simonyan and Zisserman 2014): convolutions, then large linears.
#include <fmt/format.h>

#include "families.hpp"
#include "family.hpp"
#include "hidden_layers.hpp"

namespace tessera::workload::graphs {
namespace {

struct VggKeys : ImageKeys {
  std::vector<std::int64_t> convolutions;
};

void declare_vgg(config::Schema<VggKeys>& s) {
  s.integers("convolutions", &VggKeys::convolutions, "of each of the five stages").at_least("1").at_most("100");
  add_image_and_classes(s, "224", "1000");
}

void build_vgg(const VggKeys& keys, NetworkBuilder& net) {
  const std::vector<std::int64_t> channels{64, 128, 256, 512, 512};
  if (keys.convolutions.size() != channels.size())
    throw InputError(fmt::format("convolutions of {} stages, allowed: 5", keys.convolutions.size()));
  Volume at = net.image(keys.image);
  for (std::size_t stage = 0; stage < channels.size(); ++stage) {
    net.scope(fmt::format("stage{}", stage + 1));
    for (std::int64_t i = 0; i < keys.convolutions[stage]; ++i) at = net.relu(net.conv(at, channels[stage], same(3)));
    at = net.max_pool(at, inside(2, 2));
  }
  at = hidden_layers(net, "head", at, {4096, 4096});
  net.scope("classes");
  static_cast<void>(net.linear(at, keys.classes));
}

}  // namespace

NetworkFamily vgg_family() { return family<VggKeys>("vgg", "VGG", declare_vgg, build_vgg); }

}  // namespace tessera::workload::graphs
