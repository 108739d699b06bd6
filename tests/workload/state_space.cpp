// Mixers with a state in the place of attention: one layer by hand, uncut and on one of two tensor ranks.
#include "mixer_layers.hpp"

namespace tessera::workload {
namespace {
namespace state_space {

// h = 16; 4 heads of 8 elements, states of 8 x 6, two groups of heads; a convolution over 4 tokens, with a bias; chunks
// of 4 tokens. The heads make 32 columns, what writes and reads states 2 x 2 x 6 = 24: 56 channels are convolved, and
// the in-projection makes 32 (gate) + 56 + 4 (steps) = 92 columns.
const std::string mamba2_model = R"(
name = "mamba2"
layers = 1
hidden = 16
mixer = "mamba2"
heads = 4
head_dim = 8
state_size = 6
state_groups = 2
conv_width = 4
conv_bias = true
scan_chunk = 4
mlp = false
vocabulary = 100
position = "none"
norm = "rmsnorm"
dropout = false
)";

LayerShape shape_of(std::int64_t tensor, Phase phase = Phase::training) {
  LayerShape shape = mixer_shape(tensor, phase);
  shape.sequence_parallel = tensor > 1 && phase != Phase::generation;
  return shape;
}

TEST_CASE("parameters of a Mamba-2 layer: whole groups on each tensor rank, and no MLP") {
  const Model model = model_from(mamba2_model);
  // In-projection 16 x 92, convolution 56 x (4 + 1), three numbers a head, norm of 32, out-projection 32 x 16.
  const std::int64_t own = 1472 + 280 + 12 + 32 + 512;
  CHECK(layer_parameters(model, shape_of(1)).total() == own + 16);
  const ParameterShare half = layer_parameters(model, shape_of(2));
  CHECK(half.sharded == own / 2);
  CHECK(half.replicated == 16);  // the norm before it
  CHECK(product_weights(model, shape_of(2)).sharded == (1472 + 512) / 2);
  CHECK(parameter_count(model) == own + 16 + 16 + 1600);  // tied: one table
}

TEST_CASE("a Mamba-2 layer in training, one of two tensor ranks: chunks of the scan") {
  const LayerOperators layer = transformer_layer(model_from(mamba2_model), shape_of(2));
  // 2 heads, one group: 16 columns, 16 + 12 = 28 channels, 16 + 28 + 2 = 46 columns.
  CHECK(layer.qkv.whole_input == 16);
  CHECK(sizes(layer.qkv.forward.at(0)) == Sizes{1, 10, 46, 16});
  CHECK(sizes(layer.projection.forward.at(0)) == Sizes{1, 10, 16, 16});
  CHECK(layer.projection.summed_output == 16);
  const std::vector<Operator>& core = layer.attention_core.forward;
  CHECK(names_of(core) == Names{"convolution", "chunk decay", "chunk states", "state passing", "chunk scores",
                                "chunk scan", "gated norm"});
  // 10 tokens of 28 channels, and 28 x 5 weights.
  CHECK(bytes(core[0]) == Sizes{2 * (280 + 140), 2 * 280});
  // Chunks of 4, 4 and 2 tokens. Their states: 2 heads of 8 x 6 each, over up to 4 tokens, in FP32.
  const std::int64_t x = 2 * 10 * 16, shared = 2 * 10 * 6, steps = 2 * 4 * 10 * 2, states = 3 * 2 * 8 * 6;
  CHECK(bytes(core[1]) == Sizes{2 * 10 * 2, steps});
  CHECK(sizes(core[2]) == Sizes{6, 8, 6, 4});
  CHECK(core[2].flops == 2 * 10 * 2 * 8 * 6);
  CHECK(bytes(core[2]) == Sizes{x + shared + steps, 4 * states});
  CHECK(bytes(core[3]) == Sizes{4 * states, 2 * states});
  // 16 + 16 + 4 pairs of tokens of a chunk; 10 + 10 + 3 of them are not masked.
  CHECK(sizes(core[4]) == Sizes{3, 4, 4, 6});
  CHECK(core[4].flops == 2 * 36 * 6);
  CHECK(bytes(core[4]) == Sizes{2 * shared, 4 * 36});
  // Each token reads the state before its chunk, and 2.5 tokens of a whole chunk on average: 3.
  CHECK(sizes(core[5]) == Sizes{6, 4, 8, 6 + 3});
  CHECK(core[5].flops == 2 * 10 * 2 * 8 * 6 + 2 * 23 * 2 * 8);
  CHECK(bytes(core[5]) == Sizes{x + shared + steps + 4 * 36 + 2 * states, x});
  CHECK(bytes(core[6]) == Sizes{2 * x, x});
  // Kept: the norm's input on 5 tokens, its output; what the in-projection made; what the scan did; its norm's output.
  CHECK(layer.attention_norm.kept() == 2 * 5 * 16);
  CHECK(layer.qkv.kept() == 2 * 5 * 16);
  CHECK(layer.attention_core.kept_input == 2 * 10 * 46);
  CHECK(layer.attention_core.kept_inside == x);
  CHECK(layer.projection.kept() == x);
  CHECK(layer.mlp_norm.empty());
  CHECK(layer.fc1.empty());
  CHECK(layer.mlp_residual.empty());
}

TEST_CASE("the backward pass of Mamba-2's scan makes scores and states again") {
  const OperatorSet core = transformer_layer(model_from(mamba2_model), shape_of(2)).attention_core;
  CHECK(names_of(core.input_gradient) ==
        Names{"gated norm dgrad", "convolution again", "chunk decay again", "chunk states again", "state passing again",
              "chunk scores again", "chunk scan dgrad states", "state passing dgrad", "chunk dgrad x",
              "chunk states dgrad B", "chunk scan dgrad C", "chunk scan dgrad scores", "chunk scores dgrad B",
              "chunk scores dgrad C", "chunk dgrad decay", "chunk decay dgrad", "convolution dgrad"});
  // Between tokens and states 2 x 10 x 2 x 8 x 6: once again, and once each for the gradients of states, x, B and C.
  // Of 23 pairs and 16 columns: for x, for scores, and for decays. Of 36 pairs and 6 elements: again, for B and for C.
  CHECK(total_flops(core.input_gradient) == 5 * 1920 + 3 * (2 * 23 * 16) + 3 * (2 * 36 * 6));
  CHECK(names_of(core.weight_gradient) == Names{"gated norm wgrad", "convolution wgrad", "scan wgrad"});
}

TEST_CASE("a generated token of Mamba-2 reads and writes a state of constant size") {
  const Model model = model_from(mamba2_model);
  const LayerOperators layer = transformer_layer(model, shape_of(2, Phase::generation));
  const std::vector<Operator>& core = layer.attention_core.forward;
  CHECK(names_of(core) == Names{"convolution", "state update", "gated norm"});
  // 3 sequences: 28 channels of 4 tokens each; states of 16 x 6.
  const std::int64_t window = 3 * 2 * 28 * 4, states = 3 * 2 * 96;
  CHECK(bytes(core[0]) == Sizes{2 * (3 * 28 + 140) + window, 2 * 3 * 28 + window});
  CHECK(bytes(core[1]) == Sizes{2 * 3 * (28 + 2) + states, 2 * 3 * 16 + states});
  CHECK(kv_cache_bytes(model, shape_of(2, Phase::generation)) == window + states);
  LayerShape later = shape_of(2, Phase::generation);
  later.context = 7000;
  CHECK(kv_cache_bytes(model, later) == window + states);
  CHECK(transformer_layer(model, later).attention_core.forward == core);
  // A prompt leaves them there: the scan's states are in FP32.
  const LayerOperators prompt = transformer_layer(model, shape_of(2, Phase::prompt));
  CHECK(prompt.attention_core.forward.back().name == "state cache");
  CHECK(bytes(prompt.attention_core.forward.back()) == Sizes{2 * 28 * 4 + 4 * 96, 2 * 28 * 4 + 2 * 96});
}

TEST_CASE("FLOP of Mamba-2 by its dimensions") {
  const Model model = model_from(mamba2_model);
  // In- and out-projection; a state is written and read, 2 FLOP each an element; scores and outputs within a chunk
  // of 4.
  const ForwardFlops flops = forward_flops(model, 10, 10, Phase::training);
  CHECK(flops.attention_core == 10 * (4 * 4 * 8 * 6 + 2 * 4 * (2 * 6 + 32)));
  CHECK(flops.layers == 10 * 2 * (1472 + 512) + flops.attention_core);
  CHECK(forward_flops(model, 1, 500, Phase::generation).attention_core == 4 * 4 * 8 * 6);
}

TEST_CASE("in FP8 the projections of a mixer have operands of a byte, its scan has not") {
  Stack stack;
  stack.product_datatype = OperandType::fp8;
  LayerShape shape = shape_of(2);
  shape.datatype = "bf16";
  shape.stack = &stack;
  const LayerOperators layer = transformer_layer(model_from(mamba2_model), shape);
  CHECK(named(layer.qkv.forward, "in projection").datatype == "fp8");
  CHECK(named(layer.projection.forward, "projection").datatype == "fp8");
  CHECK(named(layer.attention_core.forward, "chunk scan").datatype == "bf16");
  // Five own tokens wait as they are gathered again, or as the cast that is gathered.
  CHECK(layer.qkv.kept() == 2 * 5 * 16);
  stack.gathers_operands = true;
  CHECK(transformer_layer(model_from(mamba2_model), shape).qkv.kept() == 5 * 16);
}

TEST_CASE("mixers that do not fit together") {
  const auto with = [](const std::string& key, const std::string& value) {
    std::string text = mamba2_model;
    const std::size_t at = text.find("\n" + key + " =");
    if (at != std::string::npos) text.erase(at, text.find('\n', at + 1) - at);
    return errors_of(text + key + " = " + value + "\n");
  };
  CHECK(with("state_size", "0") == Names{"m.toml:17:14: \"state_size\": 0 of Mamba-2 layers, allowed: 1 or more"});
  CHECK(with("scan_chunk", "0") == Names{"m.toml:17:14: \"scan_chunk\": 0 of Mamba-2 layers, allowed: 1 or more"});
  CHECK(with("state_groups", "3") == Names{"m.toml:17:16: \"state_groups\": 3 does not divide heads, which is 4"});
  CHECK(with("sliding_window", "8") == Names{"m.toml:18:18: \"sliding_window\": layers of mixer \"mamba2\" have none"});
  CHECK(with("step_rank", "5") == Names{"m.toml:18:13: \"step_rank\": layers of mixer \"mamba2\" have none"});
  CHECK(errors_of("name = \"a\"\nlayers = 1\nhidden = 16\nheads = 2\nvocabulary = 10\nmax_positions = 8\n"
                  "state_size = 6\n") == Names{"m.toml:7:14: \"state_size\": layers of mixer \"attention\" have none"});
  CHECK(with("experts", "4\nexperts_per_token = 1") ==
        Names{"m.toml:13:7: \"mlp\": experts are an MLP, allowed: true, or experts = 0"});
  LayerShape shape = shape_of(4);
  CHECK_THROWS_WITH(transformer_layer(model_from(mamba2_model), shape),
                    "state_groups = 2 is not a multiple of the 4 tensor-parallel ranks");
}

/// With all that a Mamba-2 configuration has to have.
std::string mamba2_config(const std::string& more) {
  return R"({"model_type": "mamba2", "hidden_size": 2560, "num_hidden_layers": 64, "num_heads": 80, "head_dim": 64,
             "state_size": 128, "n_groups": 1, "vocab_size": 50288, "tie_word_embeddings": true,
             "residual_in_fp32": false)" +
         more + "}";
}

TEST_CASE("Mamba-2 by its configuration: limits without end are read, what is not modelled is refused") {
  const Model model = model_from_config(mamba2_config(", \"time_step_limit\": [0.0, Infinity]"));
  CHECK(model.mixer == Mixer::mamba2);
  CHECK_FALSE(model.mlp);
  // Hugging Face state-spaces/mamba2-2.7b. In-projection 2560 x (2 x 5120 + 256 + 80), convolution 5376 x 5, 240, norm
  // 5120, out-projection 5120 x 2560, norm 2560, 64 times; the table and a norm.
  CHECK(parameter_count(model) == 64 * (2560LL * 10576 + 26880 + 240 + 5120 + 13107200 + 2560) + 50288LL * 2560 + 2560);
  CHECK(parameter_count(model) == 2'702'599'680);
  const std::string at = "config.json:3:", not_modelled = " changes the computation and is not modelled, allowed: ";
  CHECK(read_config(mamba2_config(", \"use_bias\": true")).errors ==
        Names{at + "41: \"use_bias\": true" + not_modelled + "false"});
  CHECK(read_config(mamba2_config(", \"rms_norm\": false")).errors ==
        Names{at + "41: \"rms_norm\": false" + not_modelled + "true"});
  CHECK(read_config(mamba2_config(", \"expand\": 4")).errors ==
        Names{at + "41: \"expand\": 4" + not_modelled + "with hidden_size 2560 that of 80 heads of 64"});
}

}  // namespace state_space
}  // namespace
}  // namespace tessera::workload
