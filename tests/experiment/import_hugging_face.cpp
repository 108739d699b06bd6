// Folders of Hugging Face's as experiments.
#include <catch2/catch.hpp>

#include "importing.hpp"

namespace tessera::experiment {
namespace {

using test::imported;
using test::on;
using FaceLines = std::vector<std::string>;

const std::string small_llama = R"({
  "model_type": "llama", "hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 22, "num_attention_heads": 32,
  "num_key_value_heads": 4, "vocab_size": 32000, "max_position_embeddings": 2048, "tie_word_embeddings": false,
  "torch_dtype": "bfloat16"
})";

}  // namespace

TEST_CASE("a configuration becomes a job whose cut is searched, and the model stays a file") {
  const auto made = imported({{"tiny/config.json", small_llama}}, on("a100-80g-cluster"));
  CHECK(made.errors == FaceLines{});
  REQUIRE(made.built != nullptr);
  CHECK(made.text.find("hugging_face = \"tiny/config.json\"") != std::string::npos);
  CHECK(made.value("title") == "\"tiny\"");
  CHECK(made.value("workload.sequence") == "2048");
  CHECK(made.value("workload.datatype") == "\"bf16\"");
  CHECK(made.value("strategy.tensor") == "\"any\"");
  // 1.1 billion parameters of 18 bytes are 20 GB: one node has room.
  CHECK(made.value("machine.topology.nodes") == "1");
  CHECK(workload::parameter_count(*made.built->model) == 1'100'048'384);  // TinyLlama 1.1B has these dimensions
}

TEST_CASE("a large model gets as many nodes as its state needs") {
  std::string large = small_llama;
  large.replace(large.find("22,"), 3, "220,");
  large.replace(large.find("2048, \"inter"), 4, "8192");
  const auto made = imported({{"config.json", large}}, on("a100-80g-cluster"));
  REQUIRE(made.built != nullptr);
  // Layer: q and output 2 x 8192^2, keys and values 2 x 8192 x 1024, MLP 3 x 8192 x 5632: 289 M; 220 of them 64 G, at
  // 18 B 1.15 TB. A node has 0.6 x 8 x 83.1 GB = 399 GB: three would do, and a power of two is four.
  CHECK(made.value("machine.topology.nodes") == "4");
}

TEST_CASE("what the family refuses is refused at its key, and phases have the keys that they take") {
  std::string quantised = small_llama;
  quantised.insert(1, "\"quantization_config\": {\"bits\": 4},");
  CHECK(imported({{"config.json", quantised}}, on("h100-cluster"))
            .errors.front()
            .find("config.json:1:2: \"quantization_config\"") == 0);
  CHECK(imported({{"config.json", "{\"model_type\": \"nonesuch\"}"}}, on("h100-cluster")).errors.size() == 1);
  auto request = on("h100-cluster");
  request.settings = {parse_setting("workload.phase=generation"), parse_setting("workload.global_batch=64")};
  const auto generation = imported({{"config.json", small_llama}}, request);
  CHECK(generation.errors == FaceLines{});
  CHECK(generation.text.find("recomputation") == std::string::npos);
  // Prompts and what is made of them have no state of an optimizer either, and no sequence to cut.
  request.settings = {parse_setting("workload.phase=prompt-and-generation"), parse_setting("workload.generated=8")};
  const auto both = imported({{"config.json", small_llama}}, request);
  CHECK(both.errors == FaceLines{});
  CHECK(both.text.find("sequence_parallel") == std::string::npos);
  CHECK(imported({{"config.json", small_llama}}, {}).errors.front().find("config.json:1:1: which machine?") == 0);
}

}  // namespace tessera::experiment
