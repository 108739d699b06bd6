// Hugging Face configurations: every family, and what happens to keys that are ignored, refused or unknown.
#include <filesystem>
#include <set>

#include "models_from.hpp"
#include "support/source_folder.hpp"

namespace tessera::workload {
namespace {

using Reading = ConfigReading;

Reading read(const std::string& json) { return read_config(json); }

const std::string gpt2 = R"({
  "model_type": "gpt2",
  "n_layer": 2, "n_embd": 64, "n_head": 4,
  "vocab_size": 100, "n_positions": 32)";

const std::string llama = R"({
  "model_type": "llama",
  "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
  "intermediate_size": 96, "vocab_size": 100)";

TEST_CASE("GPT-2: learned positions, biases, tied embeddings, MLP of 4h unless n_inner says otherwise") {
  Reading reading = read(gpt2 + "}");
  CHECK(reading.errors == Names{});
  CHECK(reading.warnings == Names{});
  CHECK(reading.model.ffn_hidden == 256);
  CHECK(reading.model.kv_heads == 4);
  CHECK(reading.model.head_dim == 16);
  CHECK(reading.model.position == PositionEmbedding::learned);
  CHECK(reading.model.tied_embeddings);
  CHECK(reading.model.dropout);
  CHECK(reading.model.name == "config");
  reading =
      read(gpt2 + R"(, "n_inner": 128, "resid_pdrop": 0, "embd_pdrop": 0.0, "attn_pdrop": 0, "_name_or_path": "x/y"})");
  CHECK(reading.model.ffn_hidden == 128);
  CHECK(!reading.model.dropout);
  CHECK(reading.model.name == "x/y");
}

TEST_CASE("OPT: two more rows of positions, no biases where enable_bias is off, post-norm without a final norm") {
  const std::string opt = R"({"model_type": "opt", "num_hidden_layers": 24, "hidden_size": 2048, "ffn_dim": 8192,
    "num_attention_heads": 32, "vocab_size": 50272, "max_position_embeddings": 2048, "word_embed_proj_dim": 2048,
    "activation_function": "relu", "init_std": 0.02, "layerdrop": 0.0, "do_layer_norm_before": true)";
  Reading reading = read(opt + "}");
  CHECK(reading.errors == Names{});
  CHECK(reading.warnings == Names{});
  CHECK(reading.model.max_positions == 2050);
  CHECK(reading.model.final_norm);
  // OPT 1.3B as published by its Hugging Face repository.
  CHECK(parameter_count(reading.model) == 1'315'758'080);
  reading = read(opt + R"(, "enable_bias": false, "_remove_final_layer_norm": true})");
  CHECK(!reading.model.bias);
  CHECK(!reading.model.qkv_bias);
  CHECK(!reading.model.final_norm);
}

TEST_CASE("BLOOM under both names of its keys: ALiBi, norm behind the embedding, no dropout unless given") {
  for (const char* keys : {R"("n_layer": 24, "n_embed": 1024, "num_attention_heads": 16)",
                           R"("num_hidden_layers": 24, "hidden_size": 1024, "n_head": 16)"}) {
    const Reading reading = read(std::string(R"({"model_type": "bloom", "vocab_size": 250880, "seq_length": 2048,
      "pretraining_tp": 1, "offset_alibi": 100, "n_inner": null, )") +
                                 keys + "}");
    CHECK(reading.errors == Names{});
    CHECK(reading.warnings == Names{});
    CHECK(reading.model.position == PositionEmbedding::alibi);
    CHECK(!reading.model.dropout);
    CHECK(parameter_count(reading.model) == 559'214'592);  // BLOOM-560m, Le Scao et al. 2022, table 3
  }
}

TEST_CASE("LLaMA: grouped queries, head size of its own, biases, and Mistral with its window") {
  const Reading reading = read(llama + R"(, "num_key_value_heads": 2, "head_dim": 32, "rope_theta": 5e5,
    "attention_bias": true, "mlp_bias": true, "tie_word_embeddings": true})");
  CHECK(reading.errors == Names{});
  CHECK(reading.warnings == Names{});
  CHECK(reading.model.kv_heads == 2);
  CHECK(reading.model.head_dim == 32);
  CHECK(reading.model.qkv_bias);
  CHECK(reading.model.tied_embeddings);
  CHECK(reading.model.gated_mlp);
  CHECK(reading.model.norm == Norm::rmsnorm);
  // Mistral 7B v0.2: 7,241,732,096 parameters.
  const Reading mistral = read(R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32000,
    "sliding_window": null, "max_position_embeddings": 32768, "rms_norm_eps": 1e-05})");
  CHECK(mistral.errors == Names{});
  CHECK(parameter_count(mistral.model) == 7'241'732'096);
  CHECK(mistral.model.sliding_window == 0);
  // v0.1 has a window. Whether it matters depends on the sequence, which a model does not know.
  const Reading window = read(llama + ",\n  \"sliding_window\": 4096}");
  CHECK(window.errors == Names{});
  CHECK(window.model.sliding_window == 4096);
  CHECK(read(llama + ", \"sliding_window\": 0}").model.sliding_window == 0);
  CHECK(read(llama + ",\n  \"sliding_window\": -1}").errors ==
        Names{"config.json:5:3: \"sliding_window\": expected a whole number from 0 to 1000000000, not -1"});
}

TEST_CASE("Llama 3 8B as Hugging Face describes it") {
  const Reading reading = read(R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false,
    "attention_dropout": 0.0, "bos_token_id": 128000, "eos_token_id": 128001, "hidden_act": "silu", "hidden_size": 4096,
    "initializer_range": 0.02, "intermediate_size": 14336, "max_position_embeddings": 8192, "model_type": "llama",
    "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "pretraining_tp": 1,
    "rms_norm_eps": 1e-05, "rope_scaling": null, "rope_theta": 500000.0, "tie_word_embeddings": false,
    "torch_dtype": "bfloat16", "transformers_version": "4.40.0.dev0", "use_cache": true, "vocab_size": 128256})");
  CHECK(reading.errors == Names{});
  CHECK(reading.warnings == Names{});
  CHECK(parameter_count(reading.model) == 8'030'261'248);
}

TEST_CASE("an unknown model type names the choices") {
  const std::string all_types =
      "SD3Transformer2DModel, bert, bloom, cohere, cohere2, deepseek_v2, deepseek_v3, falcon, gemma, gemma2, gemma3, "
      "gemma3_text, glm, glm4, "
      "glm4_moe, gpt2, gpt_neox, gpt_oss, granite, hstu, jamba, llama, llama4, llama4_text, llava, llava_next, mamba, "
      "mamba2, mistral, mixtral, "
      "olmo2, olmo3, opt, phi3, qwen2, qwen2_5_vl, qwen2_moe, qwen2_vl, qwen3, qwen3_moe, qwen3_next";
  CHECK(read("{\n  \"model_type\": \"t5\"\n}").errors ==
        Names{"config.json:2:3: \"model_type\": unknown choice \"t5\", allowed: " + all_types});
  CHECK(read("{\"model_type\": \"lama\"}").errors ==
        Names{"config.json:1:2: \"model_type\": unknown choice \"lama\" (did you mean \"llama\"?), allowed: " +
              all_types});
  CHECK(read("{}").errors == Names{"config.json:1:1: missing key \"model_type\", expected one of " + all_types});
}

TEST_CASE("keys that change the computation are refused") {
  CHECK(read(gpt2 + ",\n  \"add_cross_attention\": true}").errors ==
        Names{"config.json:5:3: \"add_cross_attention\": true changes the computation and is not modelled, allowed: "
              "false"});
  CHECK(read(llama + ",\n  \"quantization_config\": {\"bits\": 4}}").errors ==
        Names{"config.json:5:3: \"quantization_config\": {\"bits\":4} changes the computation and is not modelled, "
              "allowed: null"});
  const std::string bert = R"({"model_type": "bert", "num_hidden_layers": 2, "hidden_size": 64,
"num_attention_heads": 4, "intermediate_size": 256, "vocab_size": 100, "max_position_embeddings": 16,
"type_vocab_size": 2)";
  CHECK(read(bert + ",\n\"position_embedding_type\": \"relative_key\"}").errors ==
        Names{"config.json:4:1: \"position_embedding_type\": \"relative_key\" changes the computation and is not "
              "modelled, allowed: \"absolute\""});
}

TEST_CASE("unknown keys whose names are of what layers compute are refused, unless they are off") {
  for (const char* key : {"num_experts", "kv_lora_rank", "attn_logit_softcapping", "index_topk", "use_qk_norm"}) {
    const std::string given = ",\n  \"" + std::string(key) + "\": ";
    CHECK(
        read(llama + given + "4}").errors ==
        Names{"config.json:5:3: \"" + std::string(key) +
              "\": 4 changes the computation and is not modelled, allowed: null, since this family does not read it"});
    CHECK(read(llama + given + "0}").errors == Names{});
  }
  CHECK(read(llama + ",\n  \"moe_aux_loss_coef\": 0.1}").errors == Names{});  // of a loss
}

TEST_CASE("unknown keys warn, and the model is read all the same") {
  const Reading reading = read(gpt2 + ",\n  \"my_own_key\": [1, {\"n_head\": 3}]}");
  CHECK(reading.errors == Names{});
  CHECK(reading.warnings == Names{"config.json:5:3: unknown key \"my_own_key\" is not read "
                                  "(docs/model-families.md lists those that are)"});
  CHECK(reading.model.heads == 4);
  CHECK(read(gpt2 + ",\n  \"my_own_key\": null}").warnings == Names{});  // as if it were not there
  CHECK(read(gpt2 + ",\n  \"attn_pdrop\": 0}").warnings ==
        Names{"config.json:1:1: dropout layers are modelled all or none; here some are 0, and all are counted"});
}

TEST_CASE("broken JSON: line, column, reason") {
  const Names truncated = read("{\n  \"model_type\": \"gpt2\",\n  \"n_layer\": 2").errors;
  CHECK(truncated ==
        Names{"config.json:3:15: invalid JSON: syntax error while parsing object - unexpected end of input; "
              "expected '}'"});
  CHECK(read("").errors == Names{"config.json:1:1: invalid JSON: syntax error while parsing value - unexpected end of "
                                 "input; expected '[', '{', or a literal"});
  CHECK(read("[1, 2]").errors == Names{"config.json:1:1: a Hugging Face configuration is one JSON object, {...}"});
}

TEST_CASE("missing and wrong values, all at once") {
  const Names errors =
      read(
          "{\"model_type\": \"gpt2\",\n \"n_layer\": \"two\",\n \"n_head\": 0,\n \"vocab_size\": 10.5,\n"
          " \"resid_pdrop\": \"x\", \"n_positions\": 8, \"tie_word_embeddings\": 1}")
          .errors;
  CHECK(errors == Names{"config.json:1:1: missing key \"n_embd\", expected a whole number",
                        "config.json:2:2: \"n_layer\": expected a whole number from 1 to 1000000000, not \"two\"",
                        "config.json:3:2: \"n_head\": expected a whole number from 1 to 1000000000, not 0",
                        "config.json:4:2: \"vocab_size\": expected a whole number from 1 to 1000000000, not 10.5",
                        "config.json:5:2: \"resid_pdrop\": expected a probability, not \"x\"",
                        "config.json:5:40: \"tie_word_embeddings\": expected true or false, not 1"});
}

TEST_CASE("dimensions that do not fit are reported under the configuration's own names") {
  CHECK(read(R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 64,
"n_head": 5, "vocab_size": 100, "n_positions": 32})")
            .errors ==
        Names{"config.json:2:1: \"n_head\": 5 does not divide n_embd, which is 64; give head_dim where a "
              "model means it so"});
  CHECK(read(llama + ",\n\"num_key_value_heads\": 3}").errors ==
        Names{"config.json:5:1: \"num_key_value_heads\": 3 does not divide num_attention_heads, which is 4"});
}

/// What stands between quotes and consists of lower-case letters, digits and underscores.
Names quoted_words(const std::string& text) {
  const std::string letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  Names words;
  for (std::size_t open = text.find('"'); open != std::string::npos; open = text.find('"', open + 1)) {
    const std::size_t end = text.find_first_not_of(letters, open + 1);
    if (end != std::string::npos && text[end] == '"' && end > open + 1) {
      words.push_back(text.substr(open + 1, end - open - 1));
    }
  }
  return words;
}

TEST_CASE("a key that is given twice, and what nests too deep, are refused where they stand") {
  config::Diagnostics twice;
  (void)read_hugging_face("{\"model_type\": \"gpt2\", \"n_layer\": 2,\n \"n_layer\": 4, \"x\": {\"n_layer\": 1}}",
                          "c.json", twice);
  CHECK(twice.errors().back() == "c.json:2:2: the key \"n_layer\" is given twice");
  config::Diagnostics deep;
  std::string levels(100'000, '[');
  levels.append("1").append(100'000, ']');
  (void)read_hugging_face("{\"a\": " + levels + "}", "c.json", deep);
  // The outermost object and 255 arrays are allowed.
  CHECK(deep.errors() ==
        std::vector<std::string>{"c.json:1:262: more than 256 levels of objects and arrays within each "
                                 "other, allowed: 256"});
}

TEST_CASE("docs/model-families.md names every key that the readers know") {
  const std::string source = test::source_folder() + "/src/workload/";
  const std::string page = text_of(test::source_folder() + "/docs/model-families.md");
  std::string readers = text_of(source + "hugging_face.cpp");
  for (const auto& entry : std::filesystem::directory_iterator(source + "families")) {
    readers += text_of(entry.path().string());
  }
  // Keys are the quoted words, but for these and the fields of Model that they fill.
  std::set<std::string> others = {"null", "true", "false", "choice"};  // literals and a message's word
  for (const config::SchemaBase* schema : schemas())
    if (schema->path().starts_with("model"))
      for (const config::ParameterHelp& field : schema->parameters()) others.insert(field.name);
  int keys = 0;
  for (const std::string& key : quoted_words(readers)) {
    if (others.count(key) != 0) continue;
    CAPTURE(key);
    CHECK(page.find('`' + key + '`') != std::string::npos);
    ++keys;
  }
  CHECK(keys > 100);
}

}  // namespace
}  // namespace tessera::workload
