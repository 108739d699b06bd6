// GPT-2 (transformers, models/gpt2/modeling_gpt2.py).
#include "families.hpp"

namespace tessera::workload {

Model read_gpt2(HuggingFaceConfig& config) {
  Model model;
  model.layers = config.integer("layers", {"n_layer"});
  model.hidden = config.integer("hidden", {"n_embd"});
  model.heads = config.integer("heads", {"n_head"});
  model.ffn_hidden = config.integer_or("ffn_hidden", {"n_inner"}, 4 * model.hidden);
  model.vocabulary = config.integer("vocabulary", {"vocab_size"});
  model.max_positions = config.integer("max_positions", {"n_positions", "n_ctx"});
  model.tied_embeddings = config.boolean_or("tie_word_embeddings", true);
  model.dropout = config.dropout({"resid_pdrop", "embd_pdrop", "attn_pdrop"}, 0.1);
  config.ignore({"activation_function", "scale_attn_weights", "scale_attn_by_inverse_layer_idx", "summary_activation",
                 "summary_first_dropout", "summary_proj_to_labels", "summary_type", "summary_use_proj"});
  config.must_be_off({"reorder_and_upcast_attn"});  // scores in FP32
  return model;
}

}  // namespace tessera::workload
