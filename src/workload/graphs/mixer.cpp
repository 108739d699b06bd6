// Perceptrons over patches of an image: MLP-Mixer (Tolstikhin et al. 2021), ResMLP (Touvron et al. 2021).
#include <fmt/format.h>

#include "families.hpp"
#include "family.hpp"

namespace tessera::workload::graphs {
namespace {

struct MixerKeys : ImageKeys {
  bool linear = false;
  std::int64_t patch = 16, blocks = 0, hidden = 0, tokens_hidden = 0;
};

void declare_mixer(config::Schema<MixerKeys>& s) {
  s.choice("mixing", &MixerKeys::linear, {{"mlp", false}, {"linear", true}},
           "of patches: two layers, and norms (Mixer); one, and scales (ResMLP)");
  s.integer("patch", &MixerKeys::patch, "side of a patch, in pixels").at_least("1").at_most("1024").otherwise("16");
  s.integer("blocks", &MixerKeys::blocks, "in all").at_least("1").at_most("200");
  s.integer("hidden", &MixerKeys::hidden, "numbers of a patch; four times that inside").at_least("1").at_most("16384");
  s.integer("tokens_hidden", &MixerKeys::tokens_hidden, "width inside the mixing of patches; 0 where it is linear")
      .at_least("0")
      .at_most("65536")
      .otherwise("0");
  add_image_and_classes(s, "224", "1000");
}

/// With places as channels and channels as places.
Volume turned(NetworkBuilder& net, const Volume& in) {
  return net.arrange("transpose", in, {0, in.places(), 1, in.channels});
}

Volume mixer_block(NetworkBuilder& net, const Volume& in, const MixerKeys& keys) {
  const auto prepared = [&](const Volume& volume) { return keys.linear ? net.affine(volume) : net.layer_norm(volume); };
  Volume at = turned(net, prepared(in));
  if (!keys.linear) at = net.activation("gelu", net.pointwise(at, keys.tokens_hidden));
  at = net.arrange("transpose", net.pointwise(at, in.places()), in);
  const Volume sum = net.add(at, in);
  at = net.activation("gelu", net.pointwise(prepared(sum), 4 * keys.hidden));
  return net.add(net.pointwise(at, keys.hidden), sum);
}

void build_mixer(const MixerKeys& keys, NetworkBuilder& net) {
  if (keys.linear != (keys.tokens_hidden == 0))
    throw InputError("tokens_hidden is 0 where the mixing is linear, and nowhere else");
  Volume at = net.image(keys.image);
  net.scope("patches");
  at = net.conv(at, keys.hidden, inside(keys.patch, keys.patch));
  for (std::int64_t block = 0; block < keys.blocks; ++block) {
    net.scope(fmt::format("block{}", block));
    at = mixer_block(net, at, keys);
  }
  net.scope("head");
  at = keys.linear ? net.affine(at) : net.layer_norm(at);
  net.classify(at, keys.classes);
}

}  // namespace

NetworkFamily mixer_family() { return family<MixerKeys>("mixer", "MLP-Mixer, ResMLP", declare_mixer, build_mixer); }

}  // namespace tessera::workload::graphs
