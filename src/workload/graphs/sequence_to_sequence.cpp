// Sequence to sequence without attention (Sutskever et al. 2014), scoring a given translation. The host looks words up.
#include <fmt/format.h>

#include "families.hpp"
#include "recurrent_keys.hpp"

namespace tessera::workload::graphs {
namespace {

struct SequenceKeys : NetworkKeys {
  Cell cell = Cell::lstm;
  std::int64_t layers = 1, hidden = 0, embedding = 0, vocabulary = 0, source_steps = 25, target_steps = 25, biases = 1;
};

void declare_sequences(config::Schema<SequenceKeys>& s) {
  add_cell(s, "lstm");
  s.integer("layers", &SequenceKeys::layers, "of the encoder, and of the decoder").at_least("1").at_most("100");
  s.integer("hidden", &SequenceKeys::hidden, "width of each layer").at_least("1").at_most("65536");
  add_words(s);
  for (const auto& [key, member] :
       {std::pair{"source_steps", &SequenceKeys::source_steps}, std::pair{"target_steps", &SequenceKeys::target_steps}})
    s.integer(key, member, "words of that sentence").at_least("1").at_most("10000").otherwise("25");
}

void build_sequences(const SequenceKeys& keys, NetworkBuilder& net) {
  const Recurrence layer{keys.cell, keys.hidden, keys.biases, false};
  std::vector<Volume> source = step_inputs(net, "source", keys.embedding, keys.source_steps);
  std::vector<Volume> target = step_inputs(net, "target", keys.embedding, keys.target_steps);
  for (std::int64_t i = 0; i < keys.layers; ++i) {
    const Unrolled encoder = unroll(net, fmt::format("encoder{}", i), source, layer);
    source = encoder.outputs;
    target = unroll(net, fmt::format("decoder{}", i), target, layer, encoder.state).outputs;
  }
  net.scope("head");
  static_cast<void>(net.softmax(net.pointwise(joined(net, target), keys.vocabulary)));
}

}  // namespace

NetworkFamily sequence_to_sequence_family() {
  return family<SequenceKeys>("sequence-to-sequence", "recurrent encoder and decoder", declare_sequences,
                              build_sequences);
}

}  // namespace tessera::workload::graphs
