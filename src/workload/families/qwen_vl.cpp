// Qwen2-VL and Qwen2.5-VL (transformers, models/qwen2_vl/modeling_qwen2_vl.py, models/qwen2_5_vl): images of any size,
// patches of two frames, rotary positions in two dimensions, and a projector that reads squares of patches.
#include "vision_towers.hpp"

namespace tessera::workload {
namespace {

/// Pixels each way where nobody says: 1024 tokens, of the 4 to 16,384 that the models are said to take.
constexpr std::int64_t usual_pixels = 896;

/// What both towers have; `width`: the key of the elements of a patch.
Vision read_patches(HuggingFaceConfig& config, const char* width) {
  Vision vision;
  vision.layers = config.integer_or("layers", {"depth"}, 32);
  vision.hidden = config.integer_or("hidden", {width}, 1280);
  vision.heads = config.integer_or("heads", {"num_heads"}, 16);
  vision.patch = config.integer_or("patch", {"patch_size"}, 14);
  vision.merge = config.integer_or("merge", {"spatial_merge_size"}, 2);
  vision.patch_channels = config.integer_or("patch_channels", {"in_channels", "in_chans"}, 3) *
                          config.integer_or("patch_channels", {"temporal_patch_size"}, 2);
  vision.rotary = vision.projector_norm = true;
  vision.projector = {vision.hidden * vision.merge * vision.merge};
  config.ignore({"hidden_act", "spatial_patch_size", "tokens_per_second"});
  return vision;
}

/// Kinds of both ages: the language model's keys beside the tower's, or in an object of their own.
Model read_language_model(HuggingFaceConfig& config) {
  config.ignore(
      {"image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id", "vision_token_id"});
  if (!config.has("text_config")) return read_qwen2(config);
  const bool is_tied = config.boolean_or("tie_word_embeddings", false);
  config.ignore({"attention_dropout", "hidden_act", "hidden_size", "intermediate_size", "max_position_embeddings",
                 "max_window_layers", "num_attention_heads", "num_hidden_layers", "num_key_value_heads", "rope_scaling",
                 "rope_theta", "sliding_window", "use_sliding_window", "vocab_size"});  // once more
  if (!config.enter("text_config")) return {};
  config.ignore(
      {"image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id", "vision_token_id"});
  Model model = read_qwen2(config);
  model.tied_embeddings = model.tied_embeddings || is_tied;
  return model;
}

}  // namespace

Model read_qwen2_vl(HuggingFaceConfig& config) {
  Vision vision;
  static_cast<void>(config.within("vision_config", "vision", [&] {
    vision = read_patches(config, "embed_dim");
    vision.ffn_hidden = vision.hidden * config.integer_or("ffn_hidden", {"mlp_ratio"}, 4);
    config.ignore({"hidden_size"});  // that of the language model
  }));
  if (vision.layers > 0) assume_image(config, "vision_config", usual_pixels, vision);
  Model model = read_language_model(config);
  add_vision(vision, model);
  return model;
}

Model read_qwen2_5_vl(HuggingFaceConfig& config) {
  Vision vision;
  static_cast<void>(config.within("vision_config", "vision", [&] {
    vision = read_patches(config, "hidden_size");
    vision.ffn_hidden = config.integer_or("ffn_hidden", {"intermediate_size"}, 3420);
    vision.gated_mlp = true;
    vision.norm = vision.projector_norm_kind = Norm::rmsnorm;
    const std::int64_t window = config.integer_or("window", {"window_size"}, 112);
    if (window % (vision.patch * vision.merge) != 0)
      config.report("window_size", "it is not a multiple of patch_size x spatial_merge_size");
    vision.window = window / vision.patch;
    vision.whole_layers = config.integers_or("fullatt_block_indexes");
    if (!config.gives("fullatt_block_indexes")) vision.whole_layers = {7, 15, 23, 31};
    config.ignore({"out_hidden_size"});  // that of the language model
  }));
  if (vision.layers > 0) assume_image(config, "vision_config", usual_pixels, vision);
  Model model = read_language_model(config);
  add_vision(vision, model);
  return model;
}

}  // namespace tessera::workload
