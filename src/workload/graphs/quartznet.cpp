// QuartzNet (Kriman et al. 2019): recognition of speech by separable convolutions along time.
#include <fmt/format.h>

#include "families.hpp"
#include "recurrent_keys.hpp"

namespace tessera::workload::graphs {
namespace {

struct QuartzNetKeys : NetworkKeys {
  std::int64_t repeats = 1, frames = 1000, features = 64, labels = 29;
};

void declare_quartznet(config::Schema<QuartzNetKeys>& s) {
  s.integer("repeats", &QuartzNetKeys::repeats, "of each of the five blocks").at_least("1").at_most("20");
  s.integer("features", &QuartzNetKeys::features, "of a frame").at_least("1").at_most("10000").otherwise("64");
  add_sound(s, "1000");
}

Volume along(NetworkBuilder& net, const Volume& in, std::int64_t channels, const Window& window) {
  return net.pointwise(net.depthwise(in, window), channels);
}

Window in_time(std::int64_t kernel, std::int64_t stride = 1, std::int64_t dilation = 1) {
  return {1, kernel, 1, stride, 0, kernel / 2 * dilation, dilation, false};
}

Volume quartz_block(NetworkBuilder& net, const Volume& in, std::int64_t channels, std::int64_t kernel) {
  Volume at = in;
  for (int i = 0; i < 5; ++i) at = along(net, i == 0 ? at : net.relu(at), channels, in_time(kernel));
  return net.relu(net.add(at, net.pointwise(in, channels)));
}

void build_quartznet(const QuartzNetKeys& keys, NetworkBuilder& net) {
  net.scope("first");
  Volume at = net.input("features", keys.features, 1, keys.frames);
  at = net.relu(along(net, at, 256, in_time(33, 2)));
  int index = 0;
  for (const auto& [channels, kernel] : {std::pair{256, 33}, {256, 39}, {512, 51}, {512, 63}, {512, 75}}) {
    for (std::int64_t repeat = 0; repeat < keys.repeats; ++repeat) {
      net.scope(fmt::format("block{}", index++));
      at = quartz_block(net, at, channels, kernel);
    }
  }
  net.scope("last");
  at = net.relu(along(net, at, 512, in_time(87, 1, 2)));
  at = net.relu(net.pointwise(at, 1024));
  static_cast<void>(net.softmax(net.pointwise(at, keys.labels)));
}

}  // namespace

NetworkFamily quartznet_family() {
  return family<QuartzNetKeys>("quartznet", "QuartzNet", declare_quartznet, build_quartznet);
}

}  // namespace tessera::workload::graphs
