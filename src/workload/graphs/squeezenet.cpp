// SqueezeNet (Iandola et al. 2016).
#include <fmt/format.h>

#include <algorithm>

#include "families.hpp"
#include "family.hpp"

namespace tessera::workload::graphs {
namespace {

struct SqueezeNetKeys : ImageKeys {
  bool smaller = false;
};

void declare_squeezenet(config::Schema<SqueezeNetKeys>& s) {
  s.boolean("smaller", &SqueezeNetKeys::smaller, "version 1.1: a smaller stem, and pools earlier").otherwise("false");
  add_image_and_classes(s, "224", "1000");
}

Volume fire(NetworkBuilder& net, const Volume& in, std::int64_t squeezed) {
  const Volume at = net.relu(net.pointwise(in, squeezed));
  return net.concat({net.relu(net.pointwise(at, 4 * squeezed)), net.relu(net.conv(at, 4 * squeezed, same(3)))});
}

void build_squeezenet(const SqueezeNetKeys& keys, NetworkBuilder& net) {
  Window pool = inside(3, 2);
  pool.round_up = true;
  const std::vector<std::int64_t> squeezed{16, 16, 32, 32, 48, 48, 64, 64};
  const std::vector<std::size_t> pooled =
      keys.smaller ? std::vector<std::size_t>{2, 4} : std::vector<std::size_t>{3, 7};
  const Volume image = net.image(keys.image);
  net.scope("stem");
  Volume at = keys.smaller ? net.conv(image, 64, inside(3, 2)) : net.conv(image, 96, inside(7, 2));
  at = net.max_pool(net.relu(at), pool);
  for (std::size_t i = 0; i < squeezed.size(); ++i) {
    net.scope(fmt::format("fire{}", i + 2));
    if (std::ranges::find(pooled, i) != pooled.end()) at = net.max_pool(at, pool);
    at = fire(net, at, squeezed[i]);
  }
  net.scope("head");
  static_cast<void>(net.global_pool(net.relu(net.pointwise(at, keys.classes))));
}

}  // namespace

NetworkFamily squeezenet_family() {
  return family<SqueezeNetKeys>("squeezenet", "SqueezeNet 1.0, 1.1", declare_squeezenet, build_squeezenet);
}

}  // namespace tessera::workload::graphs
