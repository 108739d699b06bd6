// Falcon 1 and 2 (transformers, models/falcon/modeling_falcon.py).
#include "families.hpp"

namespace tessera::workload {
namespace {

/// Keys and values: one head, or one a group of queries in the newer layers.
std::int64_t read_kv_heads(HuggingFaceConfig& config, bool is_new, std::int64_t heads) {
  const std::int64_t groups = config.integer_or("kv_heads", {"num_kv_heads", "n_head_kv"}, heads);
  const bool has_one = config.boolean_or("multi_query", true);
  if (is_new) return groups;
  return has_one ? 1 : heads;
}

ParallelBlock read_block(HuggingFaceConfig& config, bool is_new) {
  const bool is_parallel = config.boolean_or("parallel_attn", true);
  const std::int64_t norms = config.integer_or("parallel_block", {"num_ln_in_parallel_attn"}, is_new ? 2 : 1);
  if (!is_parallel && is_new) config.refuse("parallel_attn", "true with new_decoder_architecture");
  if (norms > (is_new ? 2 : 1))
    config.refuse("num_ln_in_parallel_attn", is_new ? "1 or 2" : "1, or 2 with new_decoder_architecture");
  if (!is_parallel) return ParallelBlock::none;
  return norms == 2 ? ParallelBlock::two_norms : ParallelBlock::one_norm;
}

}  // namespace

Model read_falcon(HuggingFaceConfig& config) {
  Model model;
  model.layers = config.integer("layers", {"num_hidden_layers", "n_layer"});
  model.hidden = config.integer("hidden", {"hidden_size", "n_embed"});
  model.heads = config.integer("heads", {"num_attention_heads", "n_head"});
  const bool is_new = config.boolean_or("new_decoder_architecture", false);
  model.kv_heads = read_kv_heads(config, is_new, model.heads);
  model.parallel_block = read_block(config, is_new);
  model.ffn_hidden = config.integer_or("ffn_hidden", {"ffn_hidden_size"}, 4 * model.hidden);
  model.vocabulary = config.integer("vocabulary", {"vocab_size"});
  model.max_positions = config.integer_or("max_positions", {"max_position_embeddings"}, 0);
  model.position = config.boolean_or("alibi", false) ? PositionEmbedding::alibi : PositionEmbedding::rotary;
  model.bias = model.qkv_bias = config.boolean_or("bias", false);
  model.tied_embeddings = config.boolean_or("tie_word_embeddings", true);
  model.dropout = config.dropout({"hidden_dropout", "attention_dropout"}, 0.0);
  config.accept_code("FalconConfig");
  config.ignore({"activation", "apply_residual_connection_post_layernorm", "ff_factor", "rope_parameters",
                 "rope_scaling", "rope_theta"});
  return model;
}

}  // namespace tessera::workload
