// LLaMA 1 to 3 and Mistral up to its sliding window (transformers, models/llama/modeling_llama.py).
#include "families.hpp"

namespace tessera::workload {

Model read_llama(HuggingFaceConfig& config) {
  Model model;
  model.layers = config.integer("layers", {"num_hidden_layers"});
  model.hidden = config.integer("hidden", {"hidden_size"});
  model.heads = config.integer("heads", {"num_attention_heads"});
  model.kv_heads = config.integer_or("kv_heads", {"num_key_value_heads"}, model.heads);
  model.head_dim = config.integer_or("head_dim", {"head_dim"}, 0);
  model.ffn_hidden = config.integer("ffn_hidden", {"intermediate_size"});
  model.gated_mlp = true;
  model.vocabulary = config.integer("vocabulary", {"vocab_size"});
  model.max_positions = config.integer_or("max_positions", {"max_position_embeddings"}, 0);
  model.sliding_window = config.integer_or("sliding_window", {"sliding_window"}, 0, 0);
  model.position = PositionEmbedding::rotary;
  model.norm = Norm::rmsnorm;
  model.tied_embeddings = config.boolean_or("tie_word_embeddings", false);
  model.dropout = false;
  model.qkv_bias = config.boolean_or("attention_bias", false);
  model.bias = config.boolean_or("mlp_bias", false);
  // attention_bias is the output projection's as well, which shares one flag with the MLP's here.
  if (model.bias != model.qkv_bias) config.refuse("attention_bias", "the value of mlp_bias");
  config.ignore({"hidden_act", "max_sequence_length", "pretraining_tp", "rope_interleaved", "rope_parameters",
                 "rope_scaling", "rope_theta"});
  config.must_be_off({"attention_dropout"});
  return model;
}

}  // namespace tessera::workload
