// Mamba (transformers, models/mamba/modeling_mamba.py): layers that are a mixer alone.
#include "families.hpp"
#include "tessera/base/integers.hpp"

namespace tessera::workload {

Model read_mamba(HuggingFaceConfig& config) {
  Model model;
  model.layers = config.integer("layers", {"num_hidden_layers"});
  model.hidden = config.integer("hidden", {"hidden_size"});
  model.vocabulary = config.integer("vocabulary", {"vocab_size"});
  model.position = PositionEmbedding::none;
  model.norm = Norm::rmsnorm;
  model.tied_embeddings = config.boolean_or("tie_word_embeddings", true);
  model.dropout = model.bias = model.qkv_bias = model.mlp = false;
  model.mixer = Mixer::mamba;
  model.heads = config.integer_or("heads", {"expand"}, 2) * model.hidden;
  model.head_dim = 1;
  model.state_size = config.integer_or("state_size", {"state_size"}, 16);
  model.conv_width = config.integer_or("conv_width", {"conv_kernel"}, 4);
  model.conv_bias = config.boolean_or("use_conv_bias", true);
  model.step_rank = config.integer_or("step_rank", {"time_step_rank"}, ceil_div(model.hidden, 16));
  config.must_be_off({"use_bias"});
  if (!config.boolean_or("rms_norm", true)) config.refuse("rms_norm", "true");
  if (config.boolean_or("residual_in_fp32", true)) config.leave_out("residual_in_fp32", "sums of the residual in FP32");
  config.ignore({"d_inner", "d_model", "fused_add_norm", "hidden_act", "intermediate_size", "n_layer",
                 "pad_vocab_size_multiple", "rescale_prenorm_residual", "ssm_cfg", "time_step_floor",
                 "time_step_init_scheme", "time_step_max", "time_step_min", "time_step_scale", "use_mambapy"});
  return model;
}

}  // namespace tessera::workload
