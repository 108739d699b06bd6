// Dense families by the configurations that they were published with, to the last parameter.
#include "models_from.hpp"

namespace tessera::workload {
namespace {

/// As rounded counts are published.
std::int64_t millions(const Model& model) { return (parameter_count(model) + 500'000) / 1'000'000; }

/// Under LLaMA's names of the keys.
struct Sizes {
  const char* type;
  std::int64_t hidden, layers, heads, kv_heads, mlp, vocabulary;
};
std::string config_of(const Sizes& sizes, const std::string& more) {
  return std::string("{\"model_type\": \"") + sizes.type + "\", \"hidden_size\": " + std::to_string(sizes.hidden) +
         ", \"num_hidden_layers\": " + std::to_string(sizes.layers) +
         ", \"num_attention_heads\": " + std::to_string(sizes.heads) +
         ", \"num_key_value_heads\": " + std::to_string(sizes.kv_heads) +
         ", \"intermediate_size\": " + std::to_string(sizes.mlp) +
         ", \"vocab_size\": " + std::to_string(sizes.vocabulary) + ", \"attention_dropout\": 0.0" + more + "}";
}

TEST_CASE("Qwen 2 and 3: biases of queries, keys and values; norms of heads; windows of the last layers if used") {
  // Hugging Face Qwen/Qwen2.5-0.5B; its embeddings are tied.
  const Model small =
      model_from_config(config_of({"qwen2", 896, 24, 14, 2, 4864, 151936}, ", \"tie_word_embeddings\": true"));
  CHECK(parameter_count(small) == 494'032'768);
  CHECK(small.qkv_bias);
  CHECK_FALSE(has_projection_bias(small));
  // Qwen3-8B and -0.6B: Keras Hub's presets count the same.
  const Model qwen3 = model_from_config(config_of({"qwen3", 4096, 36, 32, 8, 12288, 151936}, ", \"head_dim\": 128"));
  CHECK(parameter_count(qwen3) == 8'190'735'360);
  CHECK(qwen3.query_key_norm == QueryKeyNorm::shared);
  const Sizes tiny{"qwen3", 1024, 28, 16, 8, 3072, 151936};
  CHECK(parameter_count(model_from_config(config_of(tiny, ", \"tie_word_embeddings\": true"))) == 596'049'920);
  // A window of 4096 in the layers from the 20th on; not used, it is nowhere.
  const std::string window = ", \"sliding_window\": 4096, \"max_window_layers\": 20, \"use_sliding_window\": ";
  const Model used = model_from_config(config_of(tiny, window + "true"));
  CHECK(used.layer_sequence == Names{"full * 20", "sliding * 8"});
  CHECK(layer_kind(used, kind_of(used, 20)).sliding_window == 4096);
  CHECK(layer_kind(used, kind_of(used, 19)).sliding_window == 0);
  const Model unused = model_from_config(config_of(tiny, window + "false"));
  CHECK(unused.layer_kinds.empty());
  CHECK(unused.sliding_window == 0);
}

TEST_CASE("Gemma: scaled and tied embeddings; norms on both sides; soft caps; alternating windows") {
  // Keras Hub's presets count the same.
  const Model first = model_from_config(config_of({"gemma", 3072, 28, 16, 16, 24576, 256000}, ", \"head_dim\": 256"));
  CHECK(parameter_count(first) == 8'537'680'896);
  CHECK(first.embedding_scaling);
  CHECK(first.tied_embeddings);
  CHECK(norms_of(first) == 2);
  const Model second = model_from_config(config_of({"gemma2", 2304, 26, 8, 4, 9216, 256000}, ""));
  CHECK(parameter_count(second) == 2'614'341'888);
  CHECK(second.logits_softcap == 30);
  CHECK(second.layer_sequence == Names{"sliding", "full"});
  CHECK(layer_kind(second, 0).sliding_window == 4096);
  CHECK(layer_kind(second, 1).attention_softcap == 50);
  CHECK(norms_of(layer_kind(second, 1)) == 4);
  // Null is no cap; a key that is not there is the class's default.
  CHECK(model_from_config(config_of({"gemma2", 2304, 26, 8, 4, 9216, 256000}, ", \"final_logit_softcapping\": null"))
            .logits_softcap == 0);
  const Model third =
      model_from_config(config_of({"gemma3_text", 1152, 26, 4, 1, 6912, 262144}, ", \"sliding_window\": 512"));
  CHECK(parameter_count(third) == 999'885'952);
  CHECK(third.layer_sequence == Names{"sliding * 5", "full"});
  CHECK(layer_kind(third, 0).query_key_norm == QueryKeyNorm::shared);
}

TEST_CASE("Gemma 3 with a vision tower: the language model within, and keys of all three objects where they stand") {
  const std::string file = R"({
    "model_type": "gemma3", "boi_token_index": 255999, "eoi_token_index": 256000, "image_token_index": 262144,
    "mm_tokens_per_image": 256, "text_config": {
      "head_dim": 128, "hidden_size": 5376, "intermediate_size": 21504, "model_type": "gemma3_text",
      "num_attention_heads": 32, "num_hidden_layers": 62, "num_key_value_heads": 16, "query_pre_attn_scalar": 168,
      "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "sliding_window": 1024)";
  const std::string end = R"(}, "vision_config": {"hidden_size": 1152, "image_size": 896, "intermediate_size": 4304,
    "model_type": "siglip_vision_model", "num_attention_heads": 16, "num_hidden_layers": 27, "patch_size": 14,
    "vision_use_head": false}})";
  const ConfigReading reading = read_config(file + end);
  CHECK(reading.errors == Names{});
  CHECK(reading.warnings == Names{});
  CHECK(parameter_count(reading.model) == 27'432'406'640);  // google/gemma-3-27b-it
  Model language = reading.model;
  language.vision = {};
  CHECK(parameter_count(language) == 27'432'406'640 - 416'866'032 - 1152LL * 5377);  // tower and projector
  CHECK(reading.model.family == "gemma3");
  // Keys within are refused where they stand.
  CHECK(read_config(file + ",\n\"quantization_config\": {\"bits\": 4}" + end).errors ==
        Names{"config.json:7:1: \"quantization_config\": {\"bits\":4} changes the computation and is not modelled, "
              "allowed: null"});
  // And keys around it, which would be passed over.
  for (const std::string key : {"auto_map", "quantization_config"}) {
    std::string around = file;
    around.insert(1, "\"" + key + "\": {\"bits\": 4},");
    CHECK(read_config(around + end).errors == Names{"config.json:1:2: \"" + key +
                                                    "\": {\"bits\":4} changes the computation and is not modelled, "
                                                    "allowed: null"});
  }
  CHECK(read_config(R"({"model_type": "gemma3"})").errors ==
        Names{"config.json:1:1: \"vision_config\": expected an object, {...}",
              "config.json:1:1: \"text_config\": expected an object, {...}"});
}

TEST_CASE("Phi-3 and 4: windows, partial rotary positions, and the code that was published along with them") {
  const std::string code = ", \"auto_map\": {\"AutoConfig\": \"x--configuration_phi3.Phi3Config\"}";
  // microsoft/Phi-3-mini-4k-instruct; Keras Hub's preset counts the same.
  const Model mini =
      model_from_config(config_of({"phi3", 3072, 32, 32, 32, 8192, 32064}, code + ", \"sliding_window\": 2047"));
  CHECK(parameter_count(mini) == 3'821'079'552);
  CHECK(mini.sliding_window == 2047);
  const Model four = model_from_config(config_of({"phi3", 3072, 32, 24, 8, 8192, 200064},
                                                 code + R"(, "partial_rotary_factor": 0.75, "tie_word_embeddings": true,
    "full_attn_mod": 1, "interpolate_factor": 1, "lm_head_bias": false, "attention_bias": false, "mlp_bias": false)"));
  CHECK(parameter_count(four) == 3'836'021'760);  // microsoft/Phi-4-mini-instruct
  CHECK(four.rotary_fraction == 0.75);
  CHECK(read_config(config_of({"phi3", 64, 2, 4, 4, 96, 100}, ",\n\"auto_map\": {\"AutoConfig\": \"mine.MyConfig\"}"))
            .errors ==
        Names{"config.json:2:1: \"auto_map\": {\"AutoConfig\":\"mine.MyConfig\"} changes the computation and is not "
              "modelled, allowed: null, or the code of Phi3Config, which transformers has since"});
  CHECK(read_config(config_of({"phi3", 64, 2, 4, 4, 96, 100}, ",\n\"partial_rotary_factor\": 2")).errors ==
        Names{"config.json:2:1: \"partial_rotary_factor\": expected a number from 0 to 1, not 2"});
}

std::string falcon(std::int64_t hidden, std::int64_t layers, std::int64_t heads, const std::string& more) {
  return "{\"model_type\": \"falcon\", \"hidden_size\": " + std::to_string(hidden) +
         ", \"num_hidden_layers\": " + std::to_string(layers) + ", \"num_attention_heads\": " + std::to_string(heads) +
         ", \"vocab_size\": 65024, \"bias\": false, \"alibi\": false" + more + "}";
}

TEST_CASE("Falcon: one norm or two for attention and MLP side by side") {
  // tiiuae/falcon-7b: files of it have 13,843,441,408 B in BF16.
  const Model small = model_from_config(falcon(4544, 32, 71, ", \"multi_query\": true, \"parallel_attn\": true"));
  CHECK(2 * parameter_count(small) == 13'843'441'408);
  CHECK(small.parallel_block == ParallelBlock::one_norm);
  CHECK(small.kv_heads == 1);
  // Files of tiiuae/falcon-180B have 179,522,565,120, the tied output weight among them once more.
  const Model large =
      model_from_config(falcon(14848, 80, 232, ", \"new_decoder_architecture\": true, \"num_kv_heads\": 8"));
  CHECK(parameter_count(large) + 65024LL * 14848 == 179'522'565'120);
  CHECK(large.parallel_block == ParallelBlock::two_norms);
  // tiiuae/falcon-11B: 11.103 billion. Tables 2 v h; of each of 60 layers h (h + 2 x 8 x 128) for queries, keys and
  // values, h^2, 8 h^2, and one norm of 2 h; the last norm.
  const Model eleven = model_from_config(falcon(4096, 60, 32, R"(, "new_decoder_architecture": true, "num_kv_heads": 8,
    "num_ln_in_parallel_attn": 1, "tie_word_embeddings": false, "ffn_hidden_size": 16384, "ff_factor": 4)"));
  const std::int64_t h = 4096;
  CHECK(parameter_count(eleven) == 2 * 65024 * h + 60 * (10 * h * h + 2048 * h + 2 * h) + 2 * h);
  CHECK(millions(eleven) == 11'103);
  CHECK(eleven.parallel_block == ParallelBlock::one_norm);
  const Model old = model_from_config(falcon(2048, 24, 32, ", \"multi_query\": false, \"parallel_attn\": false"));
  CHECK(old.kv_heads == 32);
  CHECK_FALSE(is_parallel(old));
  CHECK(read_config(falcon(64, 2, 4, ", \"new_decoder_architecture\": true,\n\"parallel_attn\": false")).errors ==
        Names{"config.json:2:1: \"parallel_attn\": false changes the computation and is not modelled, allowed: true "
              "with new_decoder_architecture"});
}

TEST_CASE("GPT-NeoX: side by side or not, with all biases") {
  const Sizes pythia{"gpt_neox", 4096, 32, 32, 32, 16384, 50432};
  const Model model = model_from_config(config_of(pythia, ", \"rotary_pct\": 0.25, \"hidden_dropout\": 0.0"));
  // EleutherAI/pythia-6.9b: 6,444,163,072 without its two tables.
  CHECK(parameter_count(model) == 6'444'163'072 + 2LL * 50432 * 4096);
  CHECK(model.parallel_block == ParallelBlock::two_norms);
  CHECK(model.rotary_fraction == 0.25);
  CHECK(has_projection_bias(model));
  const Model in_turn =
      model_from_config(config_of(pythia, ", \"use_parallel_residual\": false, \"hidden_dropout\": 0"));
  CHECK_FALSE(is_parallel(in_turn));
  CHECK(parameter_count(in_turn) == parameter_count(model));
  // Without attention's biases, 4 h a layer less.
  const Model fewer = model_from_config(config_of(pythia, ", \"attention_bias\": false, \"hidden_dropout\": 0"));
  CHECK(parameter_count(fewer) == parameter_count(model) - 32 * 4 * 4096);
}

TEST_CASE("GLM, Granite: biases of their own, factors, dropout of probabilities alone") {
  // zai-org/glm-4-9b-hf has two norms a layer fewer than GLM-4-9B-0414.
  const Model glm = model_from_config(config_of({"glm", 4096, 40, 32, 2, 13696, 151552}, ", \"attention_bias\": true"));
  CHECK(parameter_count(glm) == 9'400'279'040 - 40 * 2 * 4096);
  CHECK(glm.rotary_fraction == 0.5);
  CHECK_FALSE(has_projection_bias(glm));
  const Model granite = model_named("granite-3.1-8b.json");
  CHECK(granite.embedding_scaling);
  CHECK(granite.attention_dropout);
  CHECK_FALSE(granite.dropout);
  CHECK_FALSE(model_from_config(config_of({"granite", 64, 2, 4, 4, 96, 100}, "")).embedding_scaling);
}

TEST_CASE("Command R: one norm without bias, and layers without positions") {
  // CohereForAI/c4ai-command-r-v01: 34.981 billion. Tables v h once; of each of 40 layers 4 h^2, 3 h m and h.
  const std::int64_t h = 8192, m = 22528;
  const Model first = model_from_config(config_of({"cohere", h, 40, 64, 64, m, 256000}, ", \"logit_scale\": 0.0625"));
  CHECK(parameter_count(first) == 256000 * h + 40 * (4 * h * h + 3 * h * m + h) + h);
  CHECK(millions(first) == 34'981);
  CHECK(first.query_key_norm == QueryKeyNorm::none);
  CHECK(model_named("command-r-plus.json").query_key_norm == QueryKeyNorm::per_head);
  // Command R7B: three layers with a window, one without it and without positions.
  const Model second = model_from_config(config_of({"cohere2", 4096, 32, 32, 8, 14336, 256000}, R"(, "head_dim": 128,
    "layer_switch": 4, "order_of_interleaved_layers": "local_attn_first", "position_embedding_type": "rope_gptj",
    "rotary_pct": 1.0, "sliding_window": 4096, "sliding_window_pattern": 4, "use_embedding_sharing": true,
    "use_gated_activation": true, "use_parallel_block": true, "use_parallel_embedding": true)"));
  CHECK(parameter_count(second) == 8'028'033'024);
  CHECK(second.layer_sequence == Names{"sliding * 3", "full"});
  CHECK(layer_kind(second, 0).rotary_fraction == 1);
  CHECK(layer_kind(second, 1).rotary_fraction == 0);
}

TEST_CASE("kinds of layers by name: each layer has one, and another kind is refused") {
  const Sizes sizes{"gemma2", 64, 3, 4, 4, 96, 100};
  const std::string types = ",\n\"layer_types\": ";
  const Model model =
      model_from_config(config_of(sizes, types + R"(["full_attention", "full_attention", "sliding_attention"])"));
  CHECK(model.layer_sequence == Names{"full * 2", "sliding"});
  CHECK(model_from_config(config_of(sizes, types + R"(["full_attention", "full_attention", "full_attention"])"))
            .sliding_window == 0);
  CHECK(read_config(config_of(sizes, types + R"(["full_attention", "chunked_attention", "full_attention"])")).errors ==
        Names{"config.json:2:1: \"layer_types\": [\"full_attention\",\"chunked_attention\",\"full_attention\"] changes "
              "the computation and is not modelled, allowed: \"sliding_attention\" and \"full_attention\""});
  CHECK(read_config(config_of(sizes, types + R"(["full_attention"])")).errors ==
        Names{"config.json:2:1: \"layer_types\": [\"full_attention\"] changes the computation and is not modelled, "
              "allowed: one for each of the 3 layers"});
  CHECK(read_config(config_of(sizes, types + "3")).errors ==
        Names{"config.json:2:1: \"layer_types\": expected a list of texts, not 3"});
}

}  // namespace
}  // namespace tessera::workload
