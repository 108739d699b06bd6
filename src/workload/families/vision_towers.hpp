// Vision towers of models that read images, by the model_type of their vision_config, and the language model behind.
#pragma once

#include "families.hpp"

namespace tessera::workload {

/// A tower under "vision_config", and what a model takes of it.
struct Tower {
  Vision vision;
  /// It has a norm behind the last layer, which does not run where a hidden state is taken.
  bool has_last_norm = false;
};
/// Of clip_vision_model and siglip_vision_model; another one is refused with these names.
[[nodiscard]] Tower read_tower(HuggingFaceConfig& config);

/// Layers, widths, the image's and the patches' sizes, by the keys of CLIP's, SigLIP's and Llama 4's configurations.
void read_tower_dimensions(HuggingFaceConfig& config, Vision& vision);

/// What the tower returns is taken, the norm behind its last layer included.
void take_last_output(Tower& tower);
/// "vision_feature_layer": which layer's output is taken, counted from the last one where it is below 0. The norm
/// behind the last layer is left out, and counted.
void take_hidden_state(std::int64_t layer, Tower& tower);

/// The language model under "text_config", of any family.
[[nodiscard]] Model read_text_model(HuggingFaceConfig& config);

/// Of images of any size: so many pixels each way, and a warning that says so.
void assume_image(HuggingFaceConfig& config, const char* key, std::int64_t pixels, Vision& vision);

/// The tower is that of `vision`, and the projector its linear layers and a last one to the model's hidden elements.
void add_vision(const Vision& vision, Model& model);

}  // namespace tessera::workload
