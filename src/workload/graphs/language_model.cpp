// Recurrent language models (Zaremba et al. 2014, Merity et al. 2017, 2018). The host looks words up.
#include <fmt/format.h>

#include "families.hpp"
#include "recurrent_keys.hpp"

namespace tessera::workload::graphs {
namespace {

struct LanguageModelKeys : NetworkKeys {
  Cell cell = Cell::lstm;
  std::vector<std::int64_t> hidden;
  std::int64_t embedding = 0, vocabulary = 0, steps = 35, biases = 1;
};

void declare_language_model(config::Schema<LanguageModelKeys>& s) {
  add_cell(s, "lstm");
  s.integers("hidden", &LanguageModelKeys::hidden, "width of each layer").at_least("1").at_most("65536");
  add_words(s);
  s.integer("steps", &LanguageModelKeys::steps, "words of a sequence").at_least("1").at_most("10000").otherwise("35");
}

void build_language_model(const LanguageModelKeys& keys, NetworkBuilder& net) {
  if (keys.hidden.empty() || keys.hidden.size() > 100) throw InputError("hidden is a list of 1 to 100 widths");
  std::vector<Volume> steps = step_inputs(net, "word", keys.embedding, keys.steps);
  for (std::size_t layer = 0; layer < keys.hidden.size(); ++layer)
    steps =
        unroll(net, fmt::format("layer{}", layer), steps, {keys.cell, keys.hidden[layer], keys.biases, false}).outputs;
  net.scope("head");
  static_cast<void>(net.softmax(net.pointwise(joined(net, steps), keys.vocabulary)));
}

}  // namespace

NetworkFamily language_model_family() {
  return family<LanguageModelKeys>("language-model", "LSTM, GRU and plain recurrent language models",
                                   declare_language_model, build_language_model);
}

}  // namespace tessera::workload::graphs
