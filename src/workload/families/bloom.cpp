// BLOOM (transformers, models/bloom/modeling_bloom.py).
#include "families.hpp"

namespace tessera::workload {

Model read_bloom(HuggingFaceConfig& config) {
  Model model;
  model.layers = config.integer("layers", {"n_layer", "num_hidden_layers"});
  model.hidden = config.integer("hidden", {"hidden_size", "n_embed"});
  model.heads = config.integer("heads", {"n_head", "num_attention_heads"});
  model.ffn_hidden = 4 * model.hidden;
  model.vocabulary = config.integer("vocabulary", {"vocab_size"});
  model.position = PositionEmbedding::alibi;
  model.embedding_norm = true;
  model.tied_embeddings = config.boolean_or("tie_word_embeddings", true);
  model.dropout = config.dropout({"hidden_dropout", "attention_dropout"}, 0.0);
  // Which tensor the residual is taken from, and in which precision the softmax counts, change no traffic; n_inner is
  // never read by transformers.
  config.ignore({"apply_residual_connection_post_layernorm", "attention_softmax_in_fp32", "bias_dropout_fusion",
                 "masked_softmax_fusion", "n_inner", "n_positions", "offset_alibi", "pretraining_tp", "seq_length",
                 "skip_bias_add", "skip_bias_add_qkv", "slow_but_exact"});
  return model;
}

}  // namespace tessera::workload
