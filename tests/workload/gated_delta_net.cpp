// Gated DeltaNet: one layer by hand, uncut and on one of two tensor ranks; attention with a gate on its output;
// Qwen3-Next.
#include "mixer_layers.hpp"
#include "tessera/base/error.hpp"
#include "tessera/workload/graph.hpp"

namespace tessera::workload {
namespace {
namespace gated_delta_net {

// h = 16; 4 heads with values of 8 elements and keys of 6, in two groups that share queries and keys; a convolution
// over 4 tokens; chunks of 4 tokens. Queries and keys make 12 columns each, values 32: 56 channels are convolved, and
// the in-projection makes 56 + 32 (gate) + 2 x 4 (a decay and a strength a head) = 96 columns.
const std::string delta_model = R"(
name = "delta"
layers = 1
hidden = 16
mixer = "gated-delta-net"
heads = 4
head_dim = 8
state_size = 6
state_groups = 2
conv_width = 4
scan_chunk = 4
mlp = false
vocabulary = 100
position = "none"
norm = "rmsnorm"
dropout = false
)";

TEST_CASE("parameters of a Gated DeltaNet layer: all but the norm that heads share is cut") {
  const Model model = model_from(delta_model);
  // In-projection 16 x 96, convolution 56 x 4, a decay and a bias a head, out-projection 32 x 16; a norm of 8.
  const std::int64_t cut = 1536 + 224 + 8 + 512;
  CHECK(layer_parameters(model, mixer_shape(1)).total() == cut + 8 + 16);
  const ParameterShare half = layer_parameters(model, mixer_shape(2));
  CHECK(half.sharded == cut / 2);
  CHECK(half.replicated == 8 + 16);
  CHECK(half.partial == 8);  // a rank's gradient is of its heads
}

TEST_CASE("a Gated DeltaNet layer in training, one of two tensor ranks: products of chunks") {
  const LayerOperators layer = transformer_layer(model_from(delta_model), mixer_shape(2));
  CHECK(layer.qkv.forward.at(0).n == 48);
  const OperatorSet& core = layer.attention_core;
  CHECK(names_of(core.forward) == Names{"convolution", "strengths", "group repetition", "query key norm", "chunk decay",
                                        "chunk keys", "chunk inverse", "chunk W U", "chunk states", "chunk outputs",
                                        "gated norm"});
  // 2 heads in one group, 10 tokens. Keys of all heads 10 x 12 elements, values 10 x 16; 36 pairs of tokens of a chunk
  // a head; a number in FP32 a token and head 80 bytes; three chunks' states of 6 x 8 a head.
  const std::int64_t k = 2 * 120, v = 2 * 160, tiles = 2 * 72, numbers = 80, states = 2 * 3 * 96;
  CHECK(bytes(core.forward[2]) == Sizes{2 * 2 * 60, 2 * k});
  CHECK(core.forward[5].flops == 2 * 36 * 2 * 6);
  CHECK(bytes(core.forward[5]) == Sizes{k + 2 * numbers, 2 * tiles});
  CHECK(core.forward[6].flops == 36 * 2 * 4 / 3);  // a third of a product of Q x Q x Q, half of its FLOP
  CHECK(core.forward[7].flops == 2 * 36 * 2 * (6 + 8));
  CHECK(bytes(core.forward[7]) == Sizes{k + v + tiles + 2 * numbers, k + v});
  // What W finds in the state, and what is written to it.
  CHECK(core.forward[8].flops == 2 * (2 * 10 * 2 * 48));
  CHECK(bytes(core.forward[8]) == Sizes{2 * k + v + numbers, v + states});
  // Queries with the state, with keys, and what these give of what was written.
  CHECK(core.forward[9].flops == 2 * 10 * 2 * 48 + 2 * 36 * 2 * (6 + 8));
  CHECK(bytes(core.forward[9]) == Sizes{2 * k + v + numbers + states, v});
  // Kept: what the in-projection made; queries and keys of all heads, values, the inverse, decays and strengths; the
  // gated norm's input.
  CHECK(core.kept_input == 2 * 10 * 48);
  CHECK(core.kept_inside == 2 * k + v + tiles + numbers + 2 * 20 + v);
}

TEST_CASE("the backward pass of the gated delta rule makes W, U and states again") {
  const OperatorSet core = transformer_layer(model_from(delta_model), mixer_shape(2)).attention_core;
  CHECK(names_of(core.input_gradient) ==
        Names{"gated norm dgrad", "chunk W U again", "chunk states again", "chunk outputs dgrad written",
              "chunk states dgrad", "chunk outputs dgrad", "chunk W U dgrad", "key gradient sum", "chunk decay dgrad",
              "query key norm dgrad", "group repetition dgrad", "strengths dgrad", "convolution dgrad"});
  // With the state: two again, three of the states' gradients, three of queries, keys and W. Over pairs and keys: W,
  // the scores, three of outputs, five of W; over pairs and values: U, one of what is written, one of scores, two of U.
  // The inverse's gradient is two products of Q x Q x Q.
  const std::int64_t state = 2 * 10 * 2 * 48, keys = 2 * 36 * 2 * 6, values = 2 * 36 * 2 * 8;
  CHECK(total_flops(core.input_gradient) == 8 * state + 10 * keys + 5 * values + 2 * (2 * 36 * 2 * 4));
}

TEST_CASE("a generated token of Gated DeltaNet updates states in FP32") {
  const Model model = model_from(delta_model);
  const OperatorSet core = transformer_layer(model, mixer_shape(2, Phase::generation)).attention_core;
  CHECK(names_of(core.forward) == Names{"convolution", "strengths", "group repetition", "state update", "gated norm"});
  // 3 sequences: queries and keys of 12 elements each, values of 16, three numbers a head; states of 16 x 6.
  CHECK(bytes(core.forward[3]) == Sizes{2 * 3 * (24 + 16 + 6) + 4 * 3 * 96, 2 * 3 * 16 + 4 * 3 * 96});
  CHECK(kv_cache_bytes(model, mixer_shape(2, Phase::generation)) == 3 * (2 * 28 * 4 + 4 * 96));
}

TEST_CASE("FLOP of Gated DeltaNet by its dimensions") {
  const ForwardFlops flops = forward_flops(model_from(delta_model), 10, 10, Phase::training);
  // Three products with the state; in chunks of 4 three of keys and two of values; a third of 4 x 4 for the inverse.
  CHECK(flops.attention_core == 10 * 4 * (6 * 48 + 2 * 4 * (3 * 6 + 2 * 8)) + 10 * 4 * 16 / 3);
  CHECK(flops.layers == 10 * 2 * (1536 + 512) + flops.attention_core);
}

TEST_CASE("a gate on attention's output: columns beside the queries, and a kernel each way") {
  const std::string text = R"(
name = "gated"
layers = 1
hidden = 64
heads = 4
kv_heads = 2
head_dim = 16
output_gate = true
ffn_hidden = 96
vocabulary = 100
position = "rotary"
norm = "rmsnorm"
bias = false
qkv_bias = false
dropout = false
)";
  const Model model = model_from(text);
  LayerShape shape = mixer_shape(2);
  shape.flash_attention = true;
  const LayerOperators layer = transformer_layer(model, shape);
  // 2 heads: 32 columns of queries, as many of the gate, 16 of keys, 16 of values.
  CHECK(layer.qkv.forward.at(0).n == 96);
  CHECK(names_of(layer.attention_core.forward) == Names{"attention", "output gate"});
  CHECK(bytes(layer.attention_core.forward[1]) == Sizes{2 * 2 * 320, 2 * 320});
  CHECK(names_of(layer.attention_core.input_gradient).front() == "output gate dgrad");
  CHECK(bytes(layer.attention_core.input_gradient[0]) == Sizes{2 * 3 * 320, 2 * 2 * 320});
  // The gate, and what it multiplies; logarithms of the softmax.
  CHECK(layer.attention_core.kept_inside == 2 * 2 * 320 + 4 * 20);
  CHECK(layer_parameters(model, shape).sharded == 64 * 96 + 32 * 64 + 2 * 64 * 48);
  // Outside training 32 columns each of queries, gate and outputs and 16 of keys and of values are there at once.
  CHECK(widest_pair(model, shape) == 10 * (3 * 32 + 2 * 16));
  std::string plain = text;
  plain.replace(plain.find("output_gate = true"), 18, "output_gate = false");
  const Int128 gate = forward_flops(model, 10, 10, Phase::training).layers -
                      forward_flops(model_from(plain), 10, 10, Phase::training).layers;
  CHECK(gate == 10 * 2 * 64 * 64);
}

TEST_CASE("strategies of plain layers hear of other mixers, of layers that end with one, and of gates") {
  CHECK(beyond_plain(model_from(delta_model)) == "Gated DeltaNet layers");
  Model attention =
      model_from("name = \"m\"\nlayers = 1\nhidden = 64\nheads = 4\nvocabulary = 100\nmax_positions = 64");
  CHECK(beyond_plain(attention).empty());
  attention.mlp = false;
  CHECK(beyond_plain(attention) == "layers without an MLP");
  attention.mlp = attention.output_gate = true;
  CHECK(beyond_plain(attention) == "a gate on attention's output (output_gate)");
  CHECK_THROWS_AS(lowered_graph(model_from(delta_model), 16, "bf16"), KeyError);
}

TEST_CASE("Qwen3-Next: three layers of four with the gated delta rule, attention with a gate, experts in all") {
  const Model model = model_named("qwen3-next-80b-a3b.json");
  CHECK(model.layer_sequence == Names{"linear-moe * 3", "full-moe"});
  const LayerFields& linear = layer_kind(model, kind_of(model, 0));
  CHECK(linear.mixer == Mixer::gated_delta_net);
  CHECK(linear.heads == 32);
  CHECK(linear.state_groups == 16);
  const LayerFields& full = layer_kind(model, kind_of(model, 3));
  CHECK(full.output_gate);
  CHECK(full.rotary_fraction == 0.25);
  CHECK(full.query_key_norm == QueryKeyNorm::shared);
  // 80B, 3B of them for a token but for the two tables of 0.31 B.
  CHECK((active_parameter_count(model) + 500'000'000) / 1'000'000'000 == 4);
  // As its files have it, with the module for the token after the next.
  Model with_module = model;
  with_module.prediction_depth = 1;
  CHECK(parameter_count(with_module) == 81'324'862'720);
  const std::string start = R"({"model_type": "qwen3_next", "hidden_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 4, "intermediate_size": 96, "vocab_size": 100, "num_experts": 4, "num_experts_per_tok": 2,
    "moe_intermediate_size": 32, "shared_expert_intermediate_size": 32)";
  const Model listed =
      model_from_config(start + R"(, "layer_types": ["full_attention", "linear_attention"], "mlp_only_layers": [1]})");
  CHECK(listed.layer_sequence == Names{"full-moe", "linear-dense"});
  CHECK(layer_kind(listed, kind_of(listed, 0)).head_dim == 256);
  CHECK(
      read_config(start + R"(, "layer_types": ["full_attention", "sliding_attention"]})").errors ==
      Names{"config.json:3:73: \"layer_types\": [\"full_attention\",\"sliding_attention\"] changes the computation and "
            "is not modelled, allowed: \"linear_attention\" and \"full_attention\""});
}

}  // namespace gated_delta_net
}  // namespace
}  // namespace tessera::workload
