// LLaVA 1.5 and its kin (transformers, models/llava/modeling_llava.py, models/llava_next/modeling_llava_next.py): a
// tower, two linear layers, and a language model as it is.
#include "vision_towers.hpp"

namespace tessera::workload {
namespace {

Tower read_llava_tower(HuggingFaceConfig& config) {
  Tower tower = read_tower(config);
  const std::int64_t layer = config.integer_or("vision.layers_run", {"vision_feature_layer"}, -2, -10'000);
  if (tower.vision.layers > 0) take_hidden_state(layer, tower);
  const std::string taken = config.text_or("vision_feature_select_strategy", "default");
  const char* modelled = tower.vision.class_token ? "default" : "full";
  if (tower.vision.layers > 0 && taken != modelled) {
    // Of a tower without a class token "default" would drop a patch.
    config.refuse("vision_feature_select_strategy", std::string("\"") + modelled + "\"");
  }
  tower.vision.projector_bias = config.boolean_or("multimodal_projector_bias", true);
  config.ignore({"ignore_index", "image_token_index", "image_token_id", "image_seq_length", "projector_hidden_act",
                 "vocab_size", "tie_word_embeddings", "pad_token_id"});
  return tower;
}

Model with_projector(Vision vision, Model model) {
  vision.projector = {model.hidden};
  add_vision(vision, model);
  return model;
}

}  // namespace

/// Liu et al. 2023 (arXiv 2310.03744) train the projector, then projector and language model: never the tower.
Model read_llava(HuggingFaceConfig& config) {
  Vision vision = read_llava_tower(config).vision;
  vision.frozen = true;
  return with_projector(vision, read_text_model(config));
}

/// An image is cut into tiles beside a small one of all of it; a learnt vector ends each row of what they make. Its
/// second stage trains the tower as well (Liu et al. 2024, "LLaVA-NeXT", "full model").
Model read_llava_next(HuggingFaceConfig& config) {
  Vision vision = read_llava_tower(config).vision;
  constexpr std::int64_t side = 2;
  if (vision.layers > 0) {
    vision.tiles = side * side + 1;
    if (config.boolean_or("use_image_newline_parameter", true))
      vision.separators = side * (vision.image_height / vision.patch);
    config.warn("image_grid_pinpoints",
                "how many tiles an image has depends on it; here 2 x 2 and one of all of it, where model.vision.tiles, "
                "separators and images do not say otherwise");
  }
  config.ignore({"image_grid_pinpoints"});
  return with_projector(vision, read_text_model(config));
}

}  // namespace tessera::workload
