// Stable Diffusion 3 and 3.5, their transformer (Esser et al. 2024, arXiv 2403.03206; diffusers,
// SD3Transformer2DModel). Its config.json names a class in the place of a model type.
#include <fmt/format.h>

#include "families.hpp"
#include "layer_names.hpp"

namespace tessera::workload {
namespace {

/// Tokens of CLIP's encoders side by side, and of T5 (diffusers, StableDiffusion3Pipeline, max_sequence_length).
constexpr std::int64_t clip_tokens = 77, t5_tokens = 256;
/// Sines and cosines of the timestep (diffusers, CombinedTimestepTextProjEmbeddings).
constexpr std::int64_t time_width = 256;
constexpr std::int64_t most_side = 1024;

void read_ends(HuggingFaceConfig& config, Model& model) {
  const std::int64_t side = config.integer_or("diffusion.patch_numbers", {"patch_size"}, 2);
  if (side > most_side) config.refuse("patch_size", fmt::format("up to {}", most_side));
  const std::int64_t channels = config.integer_or("diffusion.patch_numbers", {"in_channels"}, 16);
  const std::int64_t out = config.integer_or("diffusion.output_numbers", {"out_channels"}, channels);
  model.diffusion = {.text_tokens = clip_tokens + t5_tokens,
                     .text_width = config.integer("diffusion.text_width", {"joint_attention_dim"}),
                     .pooled_width = config.integer("diffusion.pooled_width", {"pooled_projection_dim"}),
                     .time_width = time_width,
                     .patch_numbers = channels * side * side,
                     .output_numbers = out * side * side};
  const std::int64_t rows = config.integer_or("max_positions", {"pos_embed_max_size"}, 96);
  model.max_positions = rows * rows + model.diffusion.text_tokens;
}

}  // namespace

Model read_sd3(HuggingFaceConfig& config) {
  Model model;
  model.layers = config.integer("layers", {"num_layers"});
  model.heads = config.integer("heads", {"num_attention_heads"});
  model.head_dim = config.integer("head_dim", {"attention_head_dim"});
  model.hidden = model.heads * model.head_dim;
  if (const std::int64_t text = config.integer("hidden", {"caption_projection_dim"}); text != model.hidden)
    config.refuse("caption_projection_dim", fmt::format("{}, that of the heads", model.hidden));
  model.position = PositionEmbedding::none;
  model.norm_bias = model.causal = model.tied_embeddings = model.dropout = model.final_norm = false;
  if (config.has("qk_norm")) {
    config.must_be("qk_norm", "rms_norm");
    model.query_key_norm = QueryKeyNorm::shared;
  }
  read_ends(config, model);
  config.must_be_off({"dual_attention_layers"});
  config.ignore({"_class_name", "_diffusers_version", "sample_size"});
  const LayerKind both = kind_as(model, "joint");
  LayerKind last = kind_as(model, "last");
  last.text_ends = true;
  std::vector<std::string> layers(static_cast<std::size_t>(model.layers > 0 ? model.layers - 1 : 0), both.name);
  layers.push_back(last.name);
  set_kinds({both, last}, layers, model);
  return model;
}

}  // namespace tessera::workload
