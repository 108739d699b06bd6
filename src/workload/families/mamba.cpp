// Mamba and Mamba-2 (transformers, models/mamba/modeling_mamba.py, models/mamba2/modeling_mamba2.py): layers that are a
// mixer alone.
#include <fmt/format.h>

#include "families.hpp"
#include "tessera/base/integers.hpp"

namespace tessera::workload {
namespace {

/// What both have. `tied`: whether embeddings are where the file does not say.
Model read_mixer_layers(HuggingFaceConfig& config, Mixer mixer, bool tied) {
  Model model;
  model.layers = config.integer("layers", {"num_hidden_layers"});
  model.hidden = config.integer("hidden", {"hidden_size"});
  model.vocabulary = config.integer("vocabulary", {"vocab_size"});
  model.position = PositionEmbedding::none;
  model.norm = Norm::rmsnorm;
  model.tied_embeddings = config.boolean_or("tie_word_embeddings", tied);
  model.dropout = model.bias = model.qkv_bias = model.mlp = false;
  model.mixer = mixer;
  model.conv_width = config.integer_or("conv_width", {"conv_kernel"}, 4);
  model.conv_bias = config.boolean_or("use_conv_bias", true);
  config.must_be_off({"use_bias"});
  if (!config.boolean_or("rms_norm", true)) config.refuse("rms_norm", "true");
  if (config.boolean_or("residual_in_fp32", true)) config.leave_out("residual_in_fp32", "sums of the residual in FP32");
  config.ignore({"hidden_act", "intermediate_size", "rescale_prenorm_residual", "time_step_floor",
                 "time_step_init_scheme", "time_step_max", "time_step_min", "time_step_scale"});
  return model;
}

}  // namespace

Model read_mamba(HuggingFaceConfig& config) {
  Model model = read_mixer_layers(config, Mixer::mamba, true);
  model.heads = config.integer_or("heads", {"expand"}, 2) * model.hidden;
  model.head_dim = 1;
  model.state_size = config.integer_or("state_size", {"state_size"}, 16);
  model.step_rank = config.integer_or("step_rank", {"time_step_rank"}, ceil_div(model.hidden, 16));
  config.ignore(
      {"d_inner", "d_model", "fused_add_norm", "n_layer", "pad_vocab_size_multiple", "ssm_cfg", "use_mambapy"});
  return model;
}

Model read_mamba2(HuggingFaceConfig& config) {
  Model model = read_mixer_layers(config, Mixer::mamba2, false);
  model.heads = config.integer("heads", {"num_heads"});
  model.head_dim = config.integer("head_dim", {"head_dim"});
  model.state_size = config.integer("state_size", {"state_size"});
  model.state_groups = config.integer_or("state_groups", {"n_groups"}, 8);
  model.scan_chunk = config.integer_or("scan_chunk", {"chunk_size"}, 256);
  const std::int64_t expand = config.integer_or("heads", {"expand"}, 2);
  if (expand * model.hidden != model.heads * model.head_dim)
    config.refuse("expand",
                  fmt::format("with hidden_size {} that of {} heads of {}", model.hidden, model.heads, model.head_dim));
  config.ignore({"norm_before_gate", "time_step_limit", "time_step_rank"});
  return model;
}

}  // namespace tessera::workload
