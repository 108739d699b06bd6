// RNN-T (Graves 2012), in the shape of MLPerf's inference benchmark.
#include <fmt/format.h>

#include "families.hpp"
#include "recurrent_keys.hpp"

namespace tessera::workload::graphs {
namespace {

struct TransducerKeys : NetworkKeys {
  std::int64_t frames = 40, labels = 29, symbols = 10;
};

void declare_transducer(config::Schema<TransducerKeys>& s) {
  add_sound(s, "40");
  s.integer("symbols", &TransducerKeys::symbols, "that have been recognised")
      .at_least("1")
      .at_most("10000")
      .otherwise("10");
}

/// MLPerf's: two encoder layers, three more on pairs of their steps, two of the prediction, and what joins the last
/// step of either.
void build_transducer(const TransducerKeys& keys, NetworkBuilder& net) {
  const Recurrence encoder{Cell::lstm, 1024, 2, false}, prediction{Cell::lstm, 320, 2, false};
  std::vector<Volume> steps = step_inputs(net, "frame", 240, keys.frames);
  for (int layer = 0; layer < 2; ++layer) steps = unroll(net, fmt::format("encoder{}", layer), steps, encoder).outputs;
  net.scope("stack");
  std::vector<Volume> pairs;
  for (std::size_t step = 0; step + 1 < steps.size(); step += 2)
    pairs.push_back(net.concat({steps[step], steps[step + 1]}));
  for (int layer = 2; layer < 5; ++layer) pairs = unroll(net, fmt::format("encoder{}", layer), pairs, encoder).outputs;
  std::vector<Volume> symbols = step_inputs(net, "symbol", 320, keys.symbols);
  for (int layer = 0; layer < 2; ++layer)
    symbols = unroll(net, fmt::format("prediction{}", layer), symbols, prediction).outputs;
  net.scope("joint");
  const Volume both = net.concat({pairs.back(), symbols.back()});
  static_cast<void>(net.softmax(net.linear(net.relu(net.linear(both, 512)), keys.labels)));
}

}  // namespace

NetworkFamily transducer_family() {
  return family<TransducerKeys>("transducer", "RNN-T", declare_transducer, build_transducer);
}

}  // namespace tessera::workload::graphs
