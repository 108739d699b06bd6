// HSTU layers: one by hand, uncut and on one of two tensor ranks; the largest one that was published.
#include "mixer_layers.hpp"

namespace tessera::workload {
namespace {
namespace hstu_layers {

using Sizes = workload::Sizes;

// h = 16 with 4 heads of 4: gates, values, queries and keys of 16 elements each. Ten positions, three buckets of time.
const std::string hstu_model = R"(
name = "hstu"
layers = 1
hidden = 16
mixer = "hstu"
heads = 4
time_buckets = 3
max_positions = 10
mlp = false
vocabulary = 0
position = "none"
bias = false
qkv_bias = false
tied_embeddings = false
dropout = false
final_norm = false
)";

TEST_CASE("parameters of an HSTU layer: biases of scores are all heads', and on each rank") {
  const Model model = model_from(hstu_model);
  // 16 x 64 + 64, 16 x 16, weight and bias of two norms; a bias for each of 19 distances, of three buckets and beyond.
  const std::int64_t cut = 1024 + 64 + 256 + 32, scores = 19 + 4;
  CHECK(parameter_count(model) == cut + scores + 32);
  const ParameterShare half = layer_parameters(model, mixer_shape(2));
  CHECK(half.sharded == cut / 2);
  CHECK(half.replicated == scores + 32);
  CHECK(half.partial == scores);
  CHECK(product_weights(model, mixer_shape(2)).sharded == (1024 + 256) / 2);
  CHECK(embedding_parameters(model, mixer_shape(2)).total() == 0);
  CHECK(head_parameters(model, mixer_shape(2), true).total() == 0);
  CHECK(embedding_operators(model, mixer_shape(1)).combine.empty());
  CHECK(head_operators(model, mixer_shape(1)).logits.empty());
}

TEST_CASE("an HSTU layer keeps 14 B of an element as Zhai et al. 2024 count them, and makes the rest again") {
  const LayerOperators layer = transformer_layer(model_from(hstu_model), mixer_shape(1));
  CHECK(activation_bytes(layer, Recomputation::none) == 14 * 10 * 16);
  CHECK(names_of(layer.attention_core.forward) == Names{"silu", "pointwise attention", "gated norm"});
  CHECK(names_of(layer.attention_core.input_gradient) ==
        Names{"silu again", "gated norm dgrad", "pointwise attention dgrad", "silu dgrad"});
  CHECK(names_of(layer.projection.weight_gradient) == Names{"gated norm again", "projection wgrad"});
  CHECK(layer.fc1.empty());
  // A token sees 1 to 10 tokens, 55 pairs a head: two products of 4 elements forward, five backward.
  const Operator& forward = layer.attention_core.forward[1];
  CHECK(forward.flops == 4 * 55 * 2 * 2 * 4);
  CHECK(layer.attention_core.input_gradient[2].flops == 4 * 55 * 5 * 2 * 4);
  // Queries, keys and values, 23 biases in FP32, a time of 8 B a token; what they make, and no statistics.
  CHECK(bytes(forward) == Sizes{2 * 3 * 160 + 4 * 23 + 80, 2 * 160});
  // Those and the gradient of what they make; gradients of the three, and of the biases.
  CHECK(bytes(layer.attention_core.input_gradient[2]) == Sizes{2 * 4 * 160 + 4 * 23 + 80, 2 * 3 * 160 + 4 * 23});
  // Selective recomputation frees attention's output, and keeps what the projection would make of it.
  CHECK(activation_bytes(layer, Recomputation::selective) == 14 * 10 * 16);
  CHECK(activation_bytes(layer, Recomputation::full) == 2 * 10 * 16);
  // A projection that runs again has what it reads.
  CHECK(layer.projection.kept_to_run_again() == 2 * 160);
}

TEST_CASE("tensor ranks of an HSTU layer sum what its norm over all heads needs") {
  const OperatorSet core = transformer_layer(model_from(hstu_model), mixer_shape(2)).attention_core;
  CHECK(names_of(core.forward) == Names{"silu", "pointwise attention", "gated norm statistics", "gated norm"});
  REQUIRE(core.exchange_steps.size() == 1);
  CHECK(core.exchange_steps[0].bytes == 2 * 4 * 10);
  CHECK(core.exchange_steps[0].begin == 3);
  CHECK(names_of(core.input_gradient) == Names{"silu again", "gated norm statistics dgrad", "gated norm dgrad",
                                               "pointwise attention dgrad", "silu dgrad"});
  REQUIRE(core.gradient_exchange_steps.size() == 1);
  CHECK(core.gradient_exchange_steps[0].begin == 2);
}

TEST_CASE("FLOP of an HSTU layer by its dimensions") {
  const ForwardFlops flops = forward_flops(model_from(hstu_model), 10, 10, Phase::training);
  CHECK(flops.attention_core == 2 * 2 * 100 * 16);
  CHECK(flops.layers == 10 * 2 * (1024 + 256) + flops.attention_core);
  CHECK(flops.logits == 0);
}

TEST_CASE("HSTU by the fields of its configuration: the dense part of the largest one that was published") {
  const Model model = model_named("hstu-largest.json");
  // Zhai et al. 2024, the largest of its scaling: sequences of 8,192, 1,024 elements, 24 layers. A layer: 5 h^2 of
  // products, 4 h biases, 4 h of norms, 2 x 8192 - 1 distances and 129 buckets.
  const std::int64_t h = 1024;
  CHECK(parameter_count(model) == 24 * (5 * h * h + 8 * h + 16383 + 129));
  CHECK(parameter_count(model) == 126'422'016);
  const std::string start = R"({"model_type": "hstu", "hstu_attn_num_layers": 2, "hstu_transducer_embedding_dim": 16,
    "hstu_num_heads": 2, "hstu_attn_linear_dim": 8, "max_seq_len": 32, "hstu_attn_qk_dim": )";
  CHECK(model_from_config(start + "8}").time_buckets == 128);
  CHECK(read_config(start + "4}").errors ==
        Names{"config.json:2:72: \"hstu_attn_qk_dim\": 4 changes the computation and is not modelled, allowed: 8, as "
              "hstu_attn_linear_dim"});
  CHECK(read_config(start + "8, \"hstu_group_norm\": true}").errors.size() == 1);
}

TEST_CASE("HSTU needs positions, and a model without a vocabulary none of its keys") {
  std::string text = hstu_model;
  CHECK(errors_of(text.replace(text.find("max_positions = 10"), 18, "max_positions = 0 ")) ==
        Names{"m.toml:8:17: \"max_positions\": 0, and HSTU layers have a bias for each distance, allowed: 1 or more"});
}

}  // namespace hstu_layers
}  // namespace
}  // namespace tessera::workload
