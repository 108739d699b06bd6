// AlexNet, as of one tower (Krizhevsky 2014, "one weird trick").
#include "families.hpp"
#include "family.hpp"
#include "hidden_layers.hpp"

namespace tessera::workload::graphs {
namespace {

struct AlexNetKeys : ImageKeys {};

void declare_alexnet(config::Schema<AlexNetKeys>& s) { add_image_and_classes(s, "224", "1000"); }

void build_alexnet(const AlexNetKeys& keys, NetworkBuilder& net) {
  Window first = inside(11, 4);
  first.pad_down = first.pad_right = 2;
  Volume at = net.image(keys.image);
  net.scope("features");
  at = net.max_pool(net.relu(net.conv(at, 64, first)), inside(3, 2));
  at = net.max_pool(net.relu(net.conv(at, 192, same(5))), inside(3, 2));
  for (const std::int64_t channels : {384, 256, 256}) at = net.relu(net.conv(at, channels, same(3)));
  at = hidden_layers(net, "head", net.max_pool(at, inside(3, 2)), {4096, 4096});
  net.scope("classes");
  static_cast<void>(net.linear(at, keys.classes));
}

}  // namespace

NetworkFamily alexnet_family() { return family<AlexNetKeys>("alexnet", "AlexNet", declare_alexnet, build_alexnet); }

}  // namespace tessera::workload::graphs
