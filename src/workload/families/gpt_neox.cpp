// GPT-NeoX and Pythia (transformers, models/gpt_neox/modeling_gpt_neox.py).
#include "llama_layers.hpp"

namespace tessera::workload {

Model read_gpt_neox(HuggingFaceConfig& config) {
  Model model = read_llama_layers(config, false);
  model.gated_mlp = false;
  model.norm = Norm::layernorm;
  model.bias = true;
  read_attention_bias(config, true, model);
  read_rotary_fraction(config, "rotary_pct", 0.25, model);
  model.attention_dropout = false;
  model.dropout = config.dropout({"hidden_dropout", "attention_dropout"}, 0.0);
  const bool is_parallel = config.boolean_or("use_parallel_residual", true);
  if (is_parallel) model.parallel_block = ParallelBlock::two_norms;
  // Attention and MLP have a dropout each, before they are summed.
  if (is_parallel && model.dropout) config.refuse("hidden_dropout", "0 with use_parallel_residual");
  config.ignore({"classifier_dropout", "is_decoder", "rotary_emb_base"});
  config.must_be_off({"attention_probs_dropout_prob", "hidden_dropout_prob"});
  return model;
}

}  // namespace tessera::workload
