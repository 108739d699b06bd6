// Families with experts by their own config.json: the published number of parameters, and what layers are.
#include "models_from.hpp"

namespace tessera::workload {
namespace {
namespace expert_families {

double billions(std::int64_t parameters) { return static_cast<double>(parameters) / 1e9; }

const std::string deepseek_v2 = R"({"model_type": "deepseek_v2", "hidden_size": 5120, "num_hidden_layers": 60,
    "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 12288, "vocab_size": 102400,
    "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
    "n_routed_experts": 160, "num_experts_per_tok": 6, "n_shared_experts": 2, "moe_intermediate_size": 1536,
    "first_k_dense_replace": 1, "moe_layer_freq": 1, "n_group": 8, "topk_group": 3, "topk_method": "group_limited_greedy",
    "scoring_func": "softmax", "routed_scaling_factor": 16.0, "norm_topk_prob": false, "aux_loss_alpha": 0.001,
    "seq_aux": true, "ep_size": 1, "rope_theta": 10000, "rms_norm_eps": 1e-06)";

TEST_CASE("DeepSeek-V2: latent attention, a dense layer first, groups of experts") {
  const Model model = model_from_config(deepseek_v2 + "}");
  CHECK(parameter_count(model) == 235'741'434'880);
  // DeepSeek-AI 2024 (arXiv 2405.04434): 21B are activated for a token.
  CHECK(billions(active_parameter_count(model)) == Approx(21.4).margin(0.1));
  CHECK(model.layer_sequence == Names{"dense", "moe * 59"});
  const LayerFields &dense = layer_kind(model, kind_of(model, 0)), &moe = layer_kind(model, kind_of(model, 1));
  CHECK(dense.ffn_hidden == 12288);
  CHECK(!is_moe(dense));
  CHECK(std::vector{moe.ffn_hidden, moe.experts, moe.experts_per_token, moe.shared_experts, moe.expert_groups,
                    moe.groups_per_token} == std::vector<std::int64_t>{1536, 160, 6, 2, 8, 3});
  CHECK(std::vector{moe.head_dim, moe.value_dim, moe.query_rank, moe.kv_rank, moe.rotary_dim} ==
        std::vector<std::int64_t>{192, 128, 1536, 512, 64});
  // A token and layer are 512 + 64 numbers of the cache (section 2.1.4).
  LayerShape shape;
  shape.sequence = 1;
  CHECK(kv_cache_bytes(model, shape) == 2 * 576);
  CHECK(read_config(deepseek_v2 + ",\n\"attention_bias\": true}").errors ==
        Names{"config.json:8:1: \"attention_bias\": true changes the computation and is not modelled, allowed: false"});
}

TEST_CASE("DeepSeek-V3: 37 of 671 B for a token; its own code and its FP8 are accepted, other code is not") {
  const Model model = model_named("deepseek-v3.json");
  // DeepSeek-AI 2024 (arXiv 2412.19437): 37B; README_WEIGHTS of its repository counts the output head, not the
  // embedding.
  CHECK(billions(active_parameter_count(model) - model.hidden * model.vocabulary) == Approx(36.7).margin(0.1));
  CHECK(model.layer_sequence == Names{"dense * 3", "moe * 58"});
  config::Diagnostics diagnostics;
  // The file leaves out how its published weights are quantised.
  std::string text = text_of(models_folder + "deepseek-v3.json");
  text.insert(text.find('{') + 1, R"("quantization_config": {"quant_method": "fp8"},)");
  static_cast<void>(read_hugging_face(text, "c.json", diagnostics));
  CHECK(diagnostics.warnings() == Names{"c.json:1:2: \"quantization_config\": published weights are fp8; here they "
                                        "have the datatype of the workload"});
  CHECK(
      read_config(deepseek_v2 + R"(, "auto_map": {"AutoConfig": "configuration_other.OtherConfig"}})").errors.size() ==
      1);
}

TEST_CASE("Qwen 1.5 and 3 with experts: shared expert behind a gate; norms of heads") {
  const std::string qwen = R"({"model_type": "qwen2_moe", "hidden_size": 2048, "num_hidden_layers": 24,
    "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 5632, "vocab_size": 151936,
    "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632, "num_experts": 60, "num_experts_per_tok": 4,
    "decoder_sparse_step": 1, "norm_topk_prob": false, "output_router_logits": false, "router_aux_loss_coef": 0.001,
    "use_sliding_window": false, "sliding_window": 32768, "max_window_layers": 21, "rope_theta": 1000000.0,
    "tie_word_embeddings": false, "rms_norm_eps": 1e-06)";
  const Model model = model_from_config(qwen + "}");
  CHECK(parameter_count(model) == 14'315'784'192);  // Hugging Face Qwen/Qwen1.5-MoE-A2.7B
  CHECK(layer_kinds(model) == 1);
  CHECK(std::vector{model.ffn_hidden, model.shared_experts, model.shared_ffn_hidden} ==
        std::vector<std::int64_t>{1408, 1, 5632});
  CHECK(model.shared_gate);
  CHECK(model.qkv_bias);
  CHECK(read_config(qwen + R"(, "mlp_only_layers": [3, 5]})").model.layer_sequence ==
        Names{"moe * 3", "dense", "moe", "dense", "moe * 15"});
  const Model three = model_named("qwen3-30b-a3b.json");
  CHECK(three.query_key_norm == QueryKeyNorm::shared);
  CHECK(billions(active_parameter_count(three)) == Approx(3.3).margin(0.1));
  CHECK(billions(active_parameter_count(model_named("qwen3-235b-a22b.json"))) == Approx(22.2).margin(0.1));
}

TEST_CASE("gpt-oss: every other layer has a window; sinks, and biases everywhere") {
  const Model model = model_named("gpt-oss-120b.json");
  CHECK(model.layer_sequence == Names{"sliding", "full"});
  CHECK(layer_kind(model, kind_of(model, 0)).sliding_window == 128);
  CHECK(layer_kind(model, kind_of(model, 35)).sliding_window == 0);
  // OpenAI 2025 (arXiv 2508.10925), table 1: 5.13 B, without the embedding.
  CHECK(billions(active_parameter_count(model) - model.hidden * model.vocabulary) == Approx(5.13).margin(0.01));
  const Model small = model_from_config(R"({"model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 24,
    "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880,
    "num_local_experts": 32, "num_experts_per_tok": 4, "vocab_size": 201088, "sliding_window": 128,
    "attention_bias": true, "initial_context_length": 4096, "swiglu_limit": 7.0})");
  CHECK(parameter_count(small) == 20'914'757'184);  // table 1: 20.91 B
}

TEST_CASE("Llama 4: a chunk and rotary positions in three of four layers; every other layer of Maverick is dense") {
  const Model scout = model_named("llama4-scout.json");
  CHECK(scout.layer_sequence == Names{"chunked-moe * 3", "full-moe"});
  const LayerFields &chunked = layer_kind(scout, kind_of(scout, 0)), &full = layer_kind(scout, kind_of(scout, 3));
  CHECK(chunked.attention_chunk == 8192);
  CHECK(chunked.query_key_norm == QueryKeyNorm::unweighted);
  CHECK(!chunked.scaled_queries);
  CHECK(full.attention_chunk == 0);
  CHECK(full.rotary_fraction == 0);
  CHECK(full.scaled_queries);
  Model language = scout;
  language.vision = {};
  CHECK(billions(active_parameter_count(language)) == Approx(17.2).margin(0.1));  // "17B"
  const Model maverick =
      model_from_config(R"({"model_type": "llama4_text", "hidden_size": 5120, "num_hidden_layers": 48,
    "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 8192,
    "intermediate_size_mlp": 16384, "num_local_experts": 128, "num_experts_per_tok": 1, "interleave_moe_layer_step": 2,
    "attention_chunk_size": 8192, "use_qk_norm": false, "vocab_size": 202048, "max_position_embeddings": 1048576,
    "attn_temperature_tuning": 4, "tie_word_embeddings": false})");
  // By hand: tables and norm; 48 attentions with two norms; 24 layers with 129 experts and a router, 24 dense ones.
  const std::int64_t h = 5120, attention = 2 * h * h + 2 * h * 1024 + 2 * h, expert = 3 * h * 8192;
  CHECK(parameter_count(maverick) ==
        2 * 202048 * h + h + 48 * attention + 24 * (129 * expert + 128 * h) + 24 * 2 * expert);
  CHECK(maverick.layer_sequence == Names{"chunked-dense", "chunked-moe", "chunked-dense", "full-moe"});
  CHECK(layer_kind(maverick, kind_of(maverick, 0)).ffn_hidden == 16384);
}

TEST_CASE("GLM-4.5-Air: a dense layer first, biases of queries, keys and values, half of a head turned") {
  const Model model = model_from_config(R"({"model_type": "glm4_moe", "hidden_size": 4096, "num_hidden_layers": 46,
    "num_attention_heads": 96, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 10944,
    "moe_intermediate_size": 1408, "n_routed_experts": 128, "num_experts_per_tok": 8, "n_shared_experts": 1,
    "first_k_dense_replace": 1, "n_group": 1, "topk_group": 1, "norm_topk_prob": true, "routed_scaling_factor": 1.0,
    "attention_bias": true, "partial_rotary_factor": 0.5, "use_qk_norm": false, "vocab_size": 151552,
    "num_nextn_predict_layers": 1, "tie_word_embeddings": false})");
  // Zhipu AI 2025 (arXiv 2508.06471), table 1: 106 B, 12 B of them for a token, without embedding and output.
  CHECK(parameter_count(model) == 106'852'245'504);
  CHECK(billions(active_parameter_count(model) - 2 * model.hidden * model.vocabulary) == Approx(12.2).margin(0.1));
  CHECK(layer_kind(model, 0).rotary_fraction == 0.5);
}

}  // namespace expert_families
}  // namespace
}  // namespace tessera::workload
