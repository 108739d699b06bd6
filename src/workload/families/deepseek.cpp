// DeepSeek-V2 and -V3 (DeepSeek-AI 2024, arXiv 2405.04434 and 2412.19437; transformers,
// models/deepseek_v2/modeling_deepseek_v2.py, models/deepseek_v3/modeling_deepseek_v3.py).
#include "layer_names.hpp"
#include "llama_layers.hpp"

namespace tessera::workload {
namespace {

void read_latent_attention(HuggingFaceConfig& config, Model& model) {
  const std::int64_t no_rank = config.gives("q_lora_rank") ? 0 : 1536;
  model.query_rank = config.integer_or("query_rank", {"q_lora_rank"}, no_rank);
  model.kv_rank = config.integer_or("kv_rank", {"kv_lora_rank"}, 512);
  model.rotary_dim = config.integer_or("rotary_dim", {"qk_rope_head_dim"}, 64);
  model.value_dim = config.integer_or("value_dim", {"v_head_dim"}, 128);
  model.head_dim = config.integer_or("head_dim", {"qk_nope_head_dim"}, 128) + model.rotary_dim;
}

/// How scores are made of the router's logits, and a bias that balances the load without a gradient, change no traffic
/// that is counted: they are a few numbers a token.
void read_routing(HuggingFaceConfig& config, Model& model) {
  model.experts = config.integer("experts", {"n_routed_experts"});
  model.experts_per_token = config.integer("experts_per_token", {"num_experts_per_tok"});
  model.shared_experts = config.integer("shared_experts", {"n_shared_experts"});
  const std::int64_t groups = config.integer_or("expert_groups", {"n_group"}, 1);
  const std::int64_t taken = config.integer_or("groups_per_token", {"topk_group"}, 1);
  if (groups > 1) {
    model.expert_groups = groups;
    model.groups_per_token = taken;
  }
  if (config.integer_or("layer_sequence", {"moe_layer_freq"}, 1) != 1) config.refuse("moe_layer_freq", "null or 1");
  config.ignore({"aux_loss_alpha", "ep_size", "norm_topk_prob", "routed_scaling_factor", "scoring_func", "seq_aux",
                 "topk_method"});
}

Model read_deepseek(HuggingFaceConfig& config, std::int64_t dense_layers) {
  Model model = read_llama_layers(config, false);
  config.must_be_off({"attention_bias", "mlp_bias"});
  // Modules for tokens further ahead are not part of the model here, as where transformers loads it.
  config.ignore({"num_nextn_predict_layers", "qk_head_dim", "rope_interleave"});
  config.accept_quantization();
  read_latent_attention(config, model);
  read_routing(config, model);
  const std::int64_t width = config.integer("ffn_hidden", {"moe_intermediate_size"});
  const std::int64_t dense = config.integer_or("layer_sequence", {"first_k_dense_replace"}, dense_layers, 0);
  set_dense_layers_first(dense, width, model);
  return model;
}

}  // namespace

Model read_deepseek_v2(HuggingFaceConfig& config) {
  config.accept_code("DeepseekV2Config");
  return read_deepseek(config, 0);
}

Model read_deepseek_v3(HuggingFaceConfig& config) {
  config.accept_code("DeepseekV3Config");
  return read_deepseek(config, 3);
}

}  // namespace tessera::workload
