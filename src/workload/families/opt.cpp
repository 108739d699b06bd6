// OPT (transformers, models/opt/modeling_opt.py).
#include "families.hpp"

namespace tessera::workload {

Model read_opt(HuggingFaceConfig& config) {
  Model model;
  model.layers = config.integer("layers", {"num_hidden_layers"});
  model.hidden = config.integer("hidden", {"hidden_size"});
  model.heads = config.integer("heads", {"num_attention_heads"});
  model.ffn_hidden = config.integer("ffn_hidden", {"ffn_dim"});
  model.vocabulary = config.integer("vocabulary", {"vocab_size"});
  // The position embedding has two rows more than positions: OPTLearnedPositionalEmbedding.offset.
  model.max_positions = config.integer("max_positions", {"max_position_embeddings"}) + 2;
  model.bias = config.boolean_or("enable_bias", true);
  model.qkv_bias = model.bias;
  model.tied_embeddings = config.boolean_or("tie_word_embeddings", true);
  model.dropout = config.dropout({"dropout", "attention_dropout"}, 0.1);
  const bool norm_first = config.boolean_or("do_layer_norm_before", true);
  model.final_norm = norm_first && !config.boolean_or("_remove_final_layer_norm", false);
  if (config.has("word_embed_proj_dim") &&
      config.integer("word_embed_proj_dim", {"word_embed_proj_dim"}) != model.hidden) {
    config.refuse("word_embed_proj_dim", "the value of hidden_size");
  }
  if (!config.boolean_or("layer_norm_elementwise_affine", true)) config.refuse("layer_norm_elementwise_affine", "true");
  config.ignore({"activation_dropout", "activation_function", "init_std", "word_embed_proj_dim"});
  config.must_be_off({"layerdrop"});
  return model;
}

}  // namespace tessera::workload
