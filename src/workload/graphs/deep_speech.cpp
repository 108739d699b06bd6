// Deep Speech 2 (Amodei et al. 2015), as deepspeech.pytorch has it: two convolutions over the spectrum, recurrent
// layers in both directions, whose sum goes on. Norms are folded into the weights behind them.
#include <fmt/format.h>

#include "families.hpp"
#include "recurrent_keys.hpp"

namespace tessera::workload::graphs {
namespace {

struct DeepSpeechKeys : NetworkKeys {
  Cell cell = Cell::lstm;
  std::int64_t layers = 5, hidden = 0, frames = 50, frequencies = 161, labels = 29;
};

void declare_deep_speech(config::Schema<DeepSpeechKeys>& s) {
  add_cell(s, "lstm");
  s.integer("layers", &DeepSpeechKeys::layers, "recurrent, each in both directions").at_least("1").at_most("100");
  s.integer("hidden", &DeepSpeechKeys::hidden, "width of a direction").at_least("1").at_most("65536");
  s.integer("frequencies", &DeepSpeechKeys::frequencies, "of a frame's spectrum")
      .at_least("1")
      .at_most("10000")
      .otherwise("161");
  add_sound(s, "50");
}

/// Frequencies down, time to the right. Both directions of a layer are added up.
void build_deep_speech(const DeepSpeechKeys& keys, NetworkBuilder& net) {
  net.scope("conv");
  Volume at = net.input("spectrum", 1, keys.frequencies, keys.frames);
  at = net.activation("clipped_relu", net.conv(at, 32, {41, 11, 2, 2, 20, 5, 1, false}));
  at = net.activation("clipped_relu", net.conv(at, 32, {21, 11, 2, 1, 10, 5, 1, false}));
  std::vector<Volume> steps = parted(net, at);
  for (std::int64_t layer = 0; layer < keys.layers; ++layer) {
    const std::string name = fmt::format("layer{}", layer);
    const Unrolled there = unroll(net, name + ".forward", steps, {keys.cell, keys.hidden, 1, false});
    const Unrolled back = unroll(net, name + ".backward", steps, {keys.cell, keys.hidden, 1, true});
    net.scope(name);
    for (std::size_t step = 0; step < steps.size(); ++step)
      steps[step] = net.add(there.outputs[step], back.outputs[step]);
  }
  net.scope("head");
  static_cast<void>(net.softmax(net.pointwise(joined(net, steps), keys.labels)));
}

}  // namespace

NetworkFamily deep_speech_family() {
  return family<DeepSpeechKeys>("deep-speech", "Deep Speech 2", declare_deep_speech, build_deep_speech);
}

}  // namespace tessera::workload::graphs
