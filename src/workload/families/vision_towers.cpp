// CLIP's and SigLIP's towers (transformers, models/clip/modeling_clip.py, models/siglip/modeling_siglip.py).
#include "vision_towers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::workload {
namespace {

void read_plain_tower(HuggingFaceConfig& config, Vision& vision) {
  read_tower_dimensions(config, vision);
  config.ignore({"hidden_act", "projection_dim", "vocab_size", "initializer_factor", "num_image_tokens",
                 "projector_hidden_act", "dropout"});
  config.must_be_off({"attention_dropout"});
}

/// Rows of a learned position embedding, one for each patch of an image as the tower was trained on it.
std::int64_t rows_of(const Vision& vision) {
  const std::int64_t side = vision.image_height / vision.patch;
  return side * side + (vision.class_token ? 1 : 0);
}

Tower read_clip(HuggingFaceConfig& config) {
  Tower tower;
  read_plain_tower(config, tower.vision);
  tower.vision.class_token = tower.vision.input_norm = tower.has_last_norm = true;
  tower.vision.position_rows = rows_of(tower.vision);
  return tower;
}

/// A head that pools all patches is held by files that do not say otherwise: a query of its own, attention, norm, MLP.
Tower read_siglip(HuggingFaceConfig& config) {
  Tower tower;
  Vision& vision = tower.vision;
  read_plain_tower(config, vision);
  vision.patch_bias = tower.has_last_norm = true;
  vision.position_rows = rows_of(vision);
  const std::int64_t h = vision.hidden, f = vision.ffn_hidden;
  if (config.boolean_or("vision_use_head", true))
    vision.unused_parameters = h + 4 * (h * h + h) + 2 * h + 2 * h * f + f + h;
  return tower;
}

struct TowerKind {
  std::string model_type;
  Tower (*read)(HuggingFaceConfig& config);
};
const std::vector<TowerKind>& tower_kinds() {
  static const std::vector<TowerKind> all = {{"clip_vision_model", read_clip}, {"siglip_vision_model", read_siglip}};
  return all;
}

/// What the classes of configurations fill in where a file is silent, as those within others are.
void fill_in_text(HuggingFaceConfig& config, const std::string& type) {
  if (type != "llama" && type != "mistral") return;
  const bool is_llama = type == "llama";
  config.otherwise("hidden_size", 4096);
  config.otherwise("num_hidden_layers", 32);
  config.otherwise("num_attention_heads", 32);
  config.otherwise("intermediate_size", is_llama ? 11'008 : 14'336);
  config.otherwise("vocab_size", 32'000);
  config.otherwise("max_position_embeddings", is_llama ? 2048 : 131'072);
  if (is_llama) return;
  config.otherwise("num_key_value_heads", 8);
  if (!config.gives("sliding_window")) config.otherwise("sliding_window", 4096);
}

}  // namespace

Tower read_tower(HuggingFaceConfig& config) {
  const std::string type = config.text_within("vision_config", "model_type");
  const auto known = std::ranges::find(tower_kinds(), type, &TowerKind::model_type);
  Tower tower;
  static_cast<void>(config.within("vision_config", "vision", [&] {
    if (known != tower_kinds().end()) {
      tower = known->read(config);
      return;
    }
    std::vector<std::string> types;
    for (const TowerKind& kind : tower_kinds()) types.push_back(kind.model_type);
    config.ignore_all();
    config.report("model_type", type.empty() ? "missing, expected one of " + config::listed(types)
                                             : config::unknown("vision tower", type, types));
  }));
  return tower;
}

void read_tower_dimensions(HuggingFaceConfig& config, Vision& vision) {
  vision.layers = config.integer("layers", {"num_hidden_layers"});
  vision.hidden = config.integer("hidden", {"hidden_size"});
  vision.heads = config.integer("heads", {"num_attention_heads"});
  vision.ffn_hidden = config.integer("ffn_hidden", {"intermediate_size"});
  vision.image_height = vision.image_width = config.integer("image_height", {"image_size"});
  vision.patch = config.integer("patch", {"patch_size"});
  vision.patch_channels = config.integer_or("patch_channels", {"num_channels"}, 3);
}

void take_last_output(Tower& tower) { tower.vision.final_norm = tower.has_last_norm; }

void take_hidden_state(std::int64_t layer, Tower& tower) {
  Vision& vision = tower.vision;
  vision.layers_run = layer < 0 ? vision.layers + 1 + layer : layer;
  if (tower.has_last_norm) vision.unused_parameters += 2 * vision.hidden;
}

Model read_text_model(HuggingFaceConfig& config) {
  if (!config.enter("text_config")) return {};
  const std::string type = config.text_or("model_type", "llama");
  fill_in_text(config, type);
  std::vector<std::string> types;
  for (const Family& family : families()) {
    if (std::ranges::find(family.model_types, type) != family.model_types.end()) return family.read(config);
    types.insert(types.end(), family.model_types.begin(), family.model_types.end());
  }
  std::ranges::sort(types);
  config.ignore_all();
  config.report("model_type", config::unknown("choice", type, types));
  return {};
}

void assume_image(HuggingFaceConfig& config, const char* key, std::int64_t pixels, Vision& vision) {
  vision.image_height = vision.image_width = pixels;
  if (config.is_laid_over("vision", "image_height") && config.is_laid_over("vision", "image_width")) return;
  config.warn(key, fmt::format("images have any size here; each sequence has one of {} x {} pixels, where "
                               "model.vision.images, image_height and image_width do not say otherwise",
                               pixels, pixels));
}

void add_vision(const Vision& vision, Model& model) {
  model.vision = vision;
  if (vision.layers > 0) model.vision.projector.push_back(model.hidden);
}

}  // namespace tessera::workload
