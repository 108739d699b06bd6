// Gemma 1 to 3 (transformers, models/gemma/modeling_gemma.py, models/gemma2, models/gemma3).
#include "llama_layers.hpp"

namespace tessera::workload {
namespace {

/// The embedding is multiplied by the root of h; which activation gates changes no traffic.
Model read_gemma_layers(HuggingFaceConfig& config) {
  Model model = read_llama_layers(config, true);
  if (model.head_dim == 0) model.head_dim = 256;
  model.embedding_scaling = true;
  read_attention_bias(config, false, model);
  config.ignore({"hidden_activation", "query_pre_attn_scalar", "cache_implementation", "rope_local_base_freq",
                 "sliding_window_size"});
  config.must_be_off({"use_bidirectional_attention"});
  return model;
}

void read_softcaps(HuggingFaceConfig& config, double of_scores, double of_logits, Model& model) {
  model.attention_softcap = read_softcap(config, "attention_softcap", "attn_logit_softcapping", of_scores);
  model.logits_softcap = read_softcap(config, "logits_softcap", "final_logit_softcapping", of_logits);
}

/// What the class of Gemma 3's language model fills in where a file is silent, as those with a vision tower are.
struct Defaults {
  static constexpr std::int64_t heads = 8, kv_heads = 4, vocabulary = 262'208, positions = 131'072, window = 4096;
};

}  // namespace

Model read_gemma(HuggingFaceConfig& config) { return read_gemma_layers(config); }

Model read_gemma2(HuggingFaceConfig& config) {
  Model model = read_gemma_layers(config);
  model.sublayer_norms = SublayerNorms::both;
  model.sliding_window = config.integer_or("sliding_window", {"sliding_window"}, 4096, 0);
  read_softcaps(config, 50, 30, model);
  read_layer_types(config, all_but_each(config, 2), model);
  return model;
}

Model read_gemma3_text(HuggingFaceConfig& config) {
  config.otherwise("num_attention_heads", Defaults::heads);
  config.otherwise("num_key_value_heads", Defaults::kv_heads);
  config.otherwise("vocab_size", Defaults::vocabulary);
  config.otherwise("max_position_embeddings", Defaults::positions);
  Model model = read_gemma_layers(config);
  model.sublayer_norms = SublayerNorms::both;
  model.query_key_norm = QueryKeyNorm::shared;
  model.sliding_window = config.integer_or("sliding_window", {"sliding_window"}, Defaults::window, 0);
  read_softcaps(config, 0, 0, model);
  read_layer_types(config, all_but_each(config, 6), model);
  return model;
}

Model read_gemma3(HuggingFaceConfig& config) {
  config.ignore({"boi_token_index", "eoi_token_index", "image_token_index", "mm_tokens_per_image"});
  config.leave_out("vision_config", "the vision tower and its projector");
  return config.enter("text_config") ? read_gemma3_text(config) : Model{};
}

}  // namespace tessera::workload
