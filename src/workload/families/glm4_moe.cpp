// GLM-4.5 (Zhipu AI 2025, arXiv 2508.06471; transformers, models/glm4_moe/modeling_glm4_moe.py).
#include "layer_names.hpp"
#include "llama_layers.hpp"

namespace tessera::workload {

Model read_glm4_moe(HuggingFaceConfig& config) {
  Model model = read_llama_layers(config, false);
  model.qkv_bias = config.boolean_or("attention_bias", false);  // of queries, keys and values alone
  if (config.boolean_or("use_qk_norm", false)) model.query_key_norm = QueryKeyNorm::shared;
  read_rotary_fraction(config, "partial_rotary_factor", 0.5, model);
  model.experts = config.integer("experts", {"n_routed_experts"});
  model.experts_per_token = config.integer("experts_per_token", {"num_experts_per_tok"});
  model.shared_experts = config.integer("shared_experts", {"n_shared_experts"});
  if (config.integer_or("expert_groups", {"n_group"}, 1) > 1) config.refuse("n_group", "null or 1");
  config.ignore({"norm_topk_prob", "num_nextn_predict_layers", "routed_scaling_factor", "topk_group"});
  const std::int64_t width = config.integer("ffn_hidden", {"moe_intermediate_size"});
  set_dense_layers_first(config.integer_or("layer_sequence", {"first_k_dense_replace"}, 1, 0), width, model);
  return model;
}

}  // namespace tessera::workload
