// Diffusion transformers: a layer of two streams by hand, uncut and on one of two tensor ranks, and what stands at the
// ends; Stable Diffusion 3.5 Large by its configuration.
#include "mixer_layers.hpp"
#include "tessera/base/error.hpp"

namespace tessera::workload {
namespace {
namespace diffusion {

using Sizes = workload::Sizes;

// h = 16 with 4 heads of 4, MLPs of 64. Of ten tokens the last four are a text's. Text encoders make 24 elements of a
// token and 20 of a text, the timestep is 8 sines and cosines, a patch 12 numbers.
const std::string joint_model = R"(
name = "joint"
layers = 2
hidden = 16
heads = 4
ffn_hidden = 64
vocabulary = 0
position = "none"
norm_bias = false
causal = false
tied_embeddings = false
dropout = false
final_norm = false
query_key_norm = "shared"
layer_sequence = ["both", "last"]
[[layer_kinds]]
name = "both"
[[layer_kinds]]
name = "last"
text_ends = true
[diffusion]
text_tokens = 4
text_width = 24
pooled_width = 20
time_width = 8
patch_numbers = 12
)";

LayerShape on_ranks(std::int64_t tensor, std::uint32_t kind = 0) {
  LayerShape shape = mixer_shape(tensor);
  shape.sequence_parallel = tensor > 1;
  shape.flash_attention = true;
  shape.kind = kind;
  return shape;
}

// Of a stream: QKV 16 x 48 + 48, output 16 x 16 + 16, MLP 16 x 64 + 64 and 64 x 16 + 16, six vectors of modulation 16 x
// 96 + 96, norms of heads of queries and of keys 2 x 4.
constexpr std::int64_t of_stream = 816 + 272 + 1088 + 1040 + 1632 + 8;
// A text that ends: QKV, two vectors 16 x 32 + 32, norms of heads.
constexpr std::int64_t of_ending_text = 816 + 544 + 8;

TEST_CASE("diffusion: parameters of layers and ends, by hand") {
  const Model model = model_from(joint_model);
  CHECK(layer_parameters(model, on_ranks(1)).total() == 2 * of_stream);
  CHECK(layer_parameters(model, on_ranks(1, 1)).total() == of_stream + of_ending_text);
  // Timestep and pooled text through two linear layers each, patches and tokens through one; modulation of the last
  // norm, and a linear layer back to the numbers of a patch.
  const std::int64_t before = (8 * 16 + 16) + (20 * 16 + 16) + 2 * (16 * 16 + 16) + (12 * 16 + 16) + (24 * 16 + 16);
  const std::int64_t behind = (16 * 32 + 32) + (16 * 12 + 12);
  CHECK(parameter_count(model) == 3 * of_stream + of_ending_text + before + behind);
  // On one of two ranks: what is not cut are biases of two outputs and norms of heads, of each stream.
  const ParameterShare half = layer_parameters(model, on_ranks(2));
  CHECK(half.replicated == 2 * (32 + 8));
  CHECK(half.partial == 2 * 8);
  CHECK(half.sharded == of_stream - 40);
  CHECK(product_weights(model, on_ranks(2)).sharded == 768 + 256 + 2048);
  CHECK(embedding_parameters(model, on_ranks(2)).replicated == before);
  CHECK(head_parameters(model, on_ranks(2), true).total() == behind - 17 * 16);
}

TEST_CASE("diffusion: each stream has products of its own, and all tokens meet in attention") {
  const LayerOperators layer = transformer_layer(model_from(joint_model), on_ranks(1));
  CHECK(names_of(layer.qkv.forward) == Names{"qkv", "qkv bias", "query norm", "key norm", "text qkv", "text qkv bias",
                                             "text query norm", "text key norm"});
  CHECK(sizes(layer.qkv.forward[0]) == Sizes{1, 6, 48, 16});
  CHECK(sizes(layer.qkv.forward[4]) == Sizes{1, 4, 48, 16});
  // Side by side: 10 tokens of 48 elements. Four heads, all pairs, two products forward and five backward.
  CHECK(names_of(layer.attention_core.forward) == Names{"joint tokens", "attention"});
  CHECK(bytes(layer.attention_core.forward[0]) == Sizes{2 * 480, 2 * 480});
  CHECK(layer.attention_core.forward[1].flops == 2 * 2 * 4 * 100 * 4);
  CHECK(layer.attention_core.input_gradient[0].flops == 5 * 2 * 4 * 100 * 4);
  CHECK(sizes(named(layer.projection.forward, "text projection")) == Sizes{1, 4, 16, 16});
  CHECK(sizes(named(layer.fc1.forward, "fc1")) == Sizes{1, 6, 64, 16});
  CHECK(sizes(named(layer.fc2.forward, "text fc2")) == Sizes{1, 4, 16, 64});
  // A sample's vector, once for all of its tokens: 16 elements to 96.
  CHECK(names_of(layer.attention_norm.forward) == Names{"conditioning silu", "modulation", "text modulation",
                                                        "attention norm", "attention norm modulation",
                                                        "text attention norm", "text attention norm modulation"});
  CHECK(sizes(layer.attention_norm.forward[1]) == Sizes{1, 1, 96, 16});
  CHECK(layer.attention_norm.exchange_steps.empty());
  // Kept: inputs of both norms and what they make, 2 x 10 x 16 each; QKV's and fc1's input; 48 elements, statistics of
  // four heads; projection's input; what attention and MLP make, for the gates; 64 elements before and behind the
  // activation; the vector and twelve that are made of it.
  CHECK(activation_bytes(layer, Recomputation::none) ==
        2 * 10 * (2 * 2 * 16 + 16 + 16 + 48 + 16 + 2 * 16 + 2 * 64) + 4 * 4 * 10 + 2 * (16 + 192) + 2 * 10 * 2 * 16);
}

TEST_CASE("diffusion: tensor ranks gather what modulates, and sum its gradient") {
  const LayerOperators layer = transformer_layer(model_from(joint_model), on_ranks(2));
  const OperatorSet& norm = layer.attention_norm;
  CHECK(sizes(norm.forward[1]) == Sizes{1, 1, 48, 16});
  REQUIRE(norm.exchange_steps.size() == 1);
  CHECK(norm.exchange_steps[0].kind == ExchangeStep::Kind::tensor_gather);
  CHECK(norm.exchange_steps[0].bytes == 2 * 192);
  CHECK(norm.exchange_steps[0].begin == 3);
  // Backward all that needs shifts, scales and gates is done: ranks with tokens of their own sum these, then the
  // gradient of the vector.
  REQUIRE(norm.gradient_exchange_steps.size() == 2);
  CHECK(norm.gradient_exchange_steps[0].bytes == 2 * 192);
  CHECK(norm.gradient_exchange_steps[0].begin == 6);
  CHECK(norm.gradient_exchange_steps[1].bytes == 2 * 16);
  CHECK(norm.gradient_exchange_steps[1].begin == 8);
  // Three of six patches, two of four tokens.
  CHECK(named(norm.forward, "attention norm").bytes_read == 2 * 3 * 16);
  CHECK(named(norm.forward, "text attention norm").bytes_read == 2 * 2 * 16);
  CHECK(layer.qkv.whole_input == 16);
  CHECK(layer.fc2.summed_output == 16);
  LayerShape whole = on_ranks(2);
  whole.sequence_parallel = false;
  CHECK(transformer_layer(model_from(joint_model), whole).attention_norm.gradient_exchange_steps.size() == 1);
}

TEST_CASE("diffusion: behind the last layer's attention there is no text") {
  const LayerOperators layer = transformer_layer(model_from(joint_model), on_ranks(2, 1));
  CHECK(names_of(layer.projection.forward) == Names{"projection"});
  CHECK(names_of(layer.fc1.forward) == Names{"fc1"});
  CHECK(sizes(named(layer.qkv.forward, "text qkv")) == Sizes{1, 4, 24, 16});
  CHECK(sizes(named(layer.attention_norm.forward, "text modulation")) == Sizes{1, 1, 16, 16});
  // 6 of 10 tokens are moved: 16 x 6 / 10 elements of each.
  CHECK(layer.projection.summed_output == 10);
  CHECK(layer.fc1.whole_input == 10);
}

TEST_CASE("diffusion: FLOP of a model by its dimensions") {
  const ForwardFlops flops = forward_flops(model_from(joint_model), 10, 10, Phase::training);
  // 16 x 48 + 16 x 16 + 2 x 16 x 64 weights a token, without the last two of the text in the last layer; modulation.
  CHECK(flops.attention_core == 2 * 4 * 100 * 16);
  CHECK(flops.layers ==
        flops.attention_core + 2 * (10 * 3072 + 2 * 16 * 96) + 2 * (6 * 3072 + 4 * 768 + 16 * 96 + 16 * 32));
  CHECK(flops.logits == 2 * (16 * (8 + 20 + 32) + 6 * 16 * 24 + 4 * 16 * 24 + 16 * 32));
}

TEST_CASE("diffusion: ends have patches, a text and a sample's vector in the place of words") {
  const Model model = model_from(joint_model);
  const EmbeddingOperators embedding = embedding_operators(model, on_ranks(2));
  CHECK(embedding.lookup.empty());
  // Each rank makes its own three patches and two tokens, and all of the vector. Nothing before them is learnt.
  CHECK(sizes(named(embedding.combine.forward, "patch embedding")) == Sizes{1, 3, 16, 12});
  CHECK(sizes(named(embedding.combine.forward, "text embedding")) == Sizes{1, 2, 16, 24});
  CHECK(sizes(named(embedding.combine.forward, "pooled text embedding 1")) == Sizes{1, 1, 16, 20});
  CHECK(names_of(embedding.combine.input_gradient) ==
        Names{"pooled text embedding 2 dgrad", "pooled text embedding silu dgrad", "timestep embedding 2 dgrad",
              "timestep embedding silu dgrad"});
  const HeadOperators head = head_operators(model, on_ranks(2));
  CHECK(head.logits.empty());
  CHECK(names_of(head.norm.forward) ==
        Names{"conditioning silu", "final modulation", "final norm", "final norm modulation", "patch output", "image"});
  CHECK(sizes(named(head.norm.forward, "patch output")) == Sizes{1, 3, 12, 16});
  CHECK(names_of(head.loss[0].forward) == Names{"mean square error"});
  CHECK(head.loss[1].empty());
}

TEST_CASE("diffusion: what does not fit together is refused") {
  LayerShape shape = on_ranks(1);
  shape.sequence = 4;
  CHECK_THROWS_WITH(transformer_layer(model_from(joint_model), shape),
                    "sequences of 4 tokens, of which 4 are the text of model joint, allowed: more");
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = joint_model;
    return errors_of(text.replace(text.find(from), from.size(), to));
  };
  CHECK(with("vocabulary = 0", "vocabulary = 7") ==
        Names{"m.toml:7:14: \"vocabulary\": 7 beside [model.diffusion], whose patches stand in its place, allowed: 0"});
  CHECK(with("causal = false", "causal = true") ==
        Names{"m.toml:10:10: \"causal\": each token of [model.diffusion] sees all others, allowed: false"});
  CHECK(with("text_ends = true", "text_ends = false").size() == 1);
  CHECK(with("tied_embeddings = false", "tied_embeddings = true") ==
        Names{"m.toml:11:19: \"tied_embeddings\": there is no vocabulary, allowed: false"});
}

TEST_CASE("Stable Diffusion 3.5 Large by its configuration") {
  const Model model = model_named("stable-diffusion-3.5-large.json");
  CHECK(model.hidden == 2432);
  CHECK(model.diffusion.text_tokens == 333);
  CHECK(model.diffusion.patch_numbers == 64);
  CHECK(model.layer_sequence == Names{"joint * 37", "last"});
  // With h = 2432 a layer has 36 h^2 + 30 h + 256 parameters, the last one 23 h^2 + 20 h + 256; ends 4 h^2 + (64 + 256
  // + 2048 + 4096 + 6 + 2) h and 64 (h + 1).
  const std::int64_t h = 2432;
  CHECK(parameter_count(model) ==
        1355 * h * h + 1130 * h + 38 * 256 + 4 * h * h + (64 + 256 + 2048 + 4096 + 8) * h + 64 * (h + 1));
  CHECK(parameter_count(model) == 8'056'627'520);
  const std::string start = R"({"_class_name": "SD3Transformer2DModel", "num_layers": 2, "num_attention_heads": 2,
    "attention_head_dim": 8, "caption_projection_dim": 16, "joint_attention_dim": 24, "pooled_projection_dim": 20)";
  CHECK(model_from_config(start + "}").query_key_norm == QueryKeyNorm::none);
  CHECK(read_config(start + ", \"dual_attention_layers\": [0]}").errors ==
        Names{"config.json:2:116: \"dual_attention_layers\": [0] changes the computation and is not modelled, allowed: "
              "null"});
  CHECK(read_config(start + ", \"qk_norm\": \"layer_norm\"}").errors.size() == 1);
  CHECK(read_config(R"({"_class_name": "FluxTransformer2DModel"})").errors.size() == 1);
}

}  // namespace diffusion
}  // namespace
}  // namespace tessera::workload
