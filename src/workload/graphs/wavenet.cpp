// WaveNet (van den Oord et al. 2016) over a stretch of sound that is given, as when it is scored or trained.
#include <fmt/format.h>

#include "families.hpp"
#include "family.hpp"

namespace tessera::workload::graphs {
namespace {

struct WaveNetKeys : NetworkKeys {
  std::int64_t stacks = 0, layers = 0, residual = 0, skip = 0, levels = 256, samples = 16'000;
};

void declare_wavenet(config::Schema<WaveNetKeys>& s) {
  s.integer("stacks", &WaveNetKeys::stacks, "of layers, whose dilations begin anew").at_least("1").at_most("20");
  s.integer("layers", &WaveNetKeys::layers, "of a stack, each dilated twice as far").at_least("1").at_most("16");
  s.integer("residual", &WaveNetKeys::residual, "channels between layers, and of a gate").at_least("1").at_most("8192");
  s.integer("skip", &WaveNetKeys::skip, "channels that go from all layers to the end").at_least("1").at_most("8192");
  s.integer("levels", &WaveNetKeys::levels, "of a sample's loudness").at_least("2").at_most("65536").otherwise("256");
  s.integer("samples", &WaveNetKeys::samples, "of the stretch").at_least("1").at_most("10000000").otherwise("16000");
}

/// Of two samples, that far apart; what lies before the stretch is zero.
Volume causal_conv(NetworkBuilder& net, const Volume& in, std::int64_t channels, std::int64_t dilation) {
  const Volume padded = net.arrange("pad", in, {0, in.channels, 1, in.width + dilation});
  return net.conv(padded, channels, {1, 2, 1, 1, 0, 0, dilation, false});
}

Volume wavenet_layer(NetworkBuilder& net, const Volume& in, std::int64_t dilation, const WaveNetKeys& keys,
                     std::vector<Volume>& skips) {
  const Volume both = causal_conv(net, in, 2 * keys.residual, dilation);
  const Volume half{0, keys.residual, 1, in.width};
  const Volume gated = net.stream(OperatorKind::fused, "gate", {both}, {}, half);
  const Volume skip = net.pointwise(gated, keys.skip);
  skips.push_back(skips.empty() ? skip : net.add(skips.back(), skip));
  return net.add(net.pointwise(gated, keys.residual), in);
}

void build_wavenet(const WaveNetKeys& keys, NetworkBuilder& net) {
  net.scope("first");
  Volume at = net.input("sound", keys.levels, 1, keys.samples);
  at = causal_conv(net, at, keys.residual, 1);
  std::vector<Volume> skips;
  for (std::int64_t stack = 0; stack < keys.stacks; ++stack) {
    for (std::int64_t layer = 0; layer < keys.layers; ++layer) {
      net.scope(fmt::format("stack{}.layer{}", stack, layer));
      at = wavenet_layer(net, at, std::int64_t{1} << layer, keys, skips);
    }
  }
  net.scope("last");
  at = net.pointwise(net.relu(skips.back()), keys.skip);
  static_cast<void>(net.softmax(net.pointwise(net.relu(at), keys.levels)));
}

}  // namespace

NetworkFamily wavenet_family() { return family<WaveNetKeys>("wavenet", "WaveNet", declare_wavenet, build_wavenet); }

}  // namespace tessera::workload::graphs
