// Gemma 1 to 3 (transformers, models/gemma/modeling_gemma.py, models/gemma2, models/gemma3).
#include <cmath>

#include "llama_layers.hpp"
#include "vision_towers.hpp"

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

/// Patches are averaged to so many tokens an image, normed, and multiplied by one matrix. The tower stays as it is in
/// training (Gemma Team 2025, arXiv 2503.19786, section 2.1).
Model read_gemma3(HuggingFaceConfig& config) {
  Tower tower = read_tower(config);
  Vision& vision = tower.vision;
  const std::int64_t tokens = config.integer_or("vision.pool", {"mm_tokens_per_image"}, 256);
  if (vision.layers > 0) {
    take_last_output(tower);
    const std::int64_t across = vision.image_height / vision.patch;
    const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(tokens))));
    if (side * side != tokens || across % side != 0)
      config.report("mm_tokens_per_image", "it is not the square of a divisor of the patches of an image's side");
    else
      vision.pool = across / side;
    vision.projector_norm = vision.frozen = true;
    vision.projector_norm_kind = Norm::rmsnorm;
    vision.projector_bias = false;
  }
  config.ignore({"boi_token_index", "eoi_token_index", "image_token_index"});
  Model model = config.enter("text_config") ? read_gemma3_text(config) : Model{};
  add_vision(vision, model);
  return model;
}

}  // namespace tessera::workload
