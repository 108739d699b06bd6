// Xception (Chollet 2017).
#include <fmt/format.h>

#include "families.hpp"
#include "family.hpp"

namespace tessera::workload::graphs {
namespace {

struct XceptionKeys : ImageKeys {};

void declare_xception(config::Schema<XceptionKeys>& s) { add_image_and_classes(s, "299", "1000"); }

Volume separable(NetworkBuilder& net, const Volume& in, std::int64_t channels) {
  return net.pointwise(net.depthwise(in, same(3)), channels);
}

struct XceptionBlock {
  std::int64_t first, out, convolutions, stride;
};

Volume xception_block(NetworkBuilder& net, const Volume& in, const XceptionBlock& block, bool starts_active) {
  Volume at = in;
  for (std::int64_t i = 0; i < block.convolutions; ++i) {
    if (i > 0 || starts_active) at = net.relu(at);
    at = separable(net, at, i == 0 ? block.first : block.out);
  }
  if (block.stride == 1) return net.add(at, in);
  return net.add(net.max_pool(at, same(3, 2)), net.conv(in, block.out, inside(1, 2)));
}

void build_xception(const XceptionKeys& keys, NetworkBuilder& net) {
  std::vector<XceptionBlock> blocks{{128, 128, 2, 2}, {256, 256, 2, 2}, {728, 728, 2, 2}};
  blocks.insert(blocks.end(), 8, {728, 728, 3, 1});
  blocks.push_back({728, 1024, 2, 2});
  const Volume image = net.image(keys.image);
  net.scope("stem");
  Volume at = net.relu(net.conv(image, 32, inside(3, 2)));
  at = net.relu(net.conv(at, 64, inside(3)));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    net.scope(fmt::format("block{}", i));
    at = xception_block(net, at, blocks[i], i > 0);
  }
  net.scope("head");
  at = net.relu(separable(net, at, 1536));
  at = net.relu(separable(net, at, 2048));
  net.classify(at, keys.classes);
}

}  // namespace

NetworkFamily xception_family() {
  return family<XceptionKeys>("xception", "Xception", declare_xception, build_xception);
}

}  // namespace tessera::workload::graphs
