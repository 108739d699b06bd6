// Multi-head latent attention: one layer by hand, uncut and on one of two tensor ranks, in training and in generation.
#include "mixer_layers.hpp"

namespace tessera::workload {
namespace {
namespace latent {

// h = 64; 4 heads, of 16 + 8 elements in queries and keys and 20 in values; queries from 32 elements, keys and values
// from 12. Queries: 4 x 24 = 96 columns; what expands keys and values: 4 x (16 + 20) = 144; attention makes 80.
const std::string latent_model = R"(
name = "latent"
layers = 1
hidden = 64
heads = 4
head_dim = 24
value_dim = 20
query_rank = 32
kv_rank = 12
rotary_dim = 8
ffn_hidden = 96
gated_mlp = true
vocabulary = 100
position = "rotary"
norm = "rmsnorm"
bias = false
qkv_bias = false
dropout = false
)";

LayerShape shape_of(std::int64_t tensor, Phase phase = Phase::training) {
  LayerShape shape = mixer_shape(tensor, phase);
  shape.sequence_parallel = tensor > 1 && phase != Phase::generation;
  shape.flash_attention = true;
  return shape;
}

TEST_CASE("parameters of latent attention: what compresses is on every tensor rank, what expands is cut") {
  const Model model = model_from(latent_model);
  // Down: 64 x 32 + 64 x (12 + 8), norms of 32 and 12; up: 32 x 96 + 12 x 144; projection 80 x 64.
  const std::int64_t down = 2048 + 1280 + 44, up = 3072 + 1728 + 5120;
  // Two norms of 64, and an MLP of three matrices of 64 x 96.
  CHECK(layer_parameters(model, shape_of(1)).total() == down + up + 128 + 18432);
  const ParameterShare half = layer_parameters(model, shape_of(2));
  CHECK(half.replicated == down + 128);
  CHECK(half.sharded == up / 2 + 9216);
  CHECK(parameter_count(model) == down + up + 128 + 18432 + 64 + 6400);  // tied: one table
}

TEST_CASE("latent attention in training, one of two tensor ranks: ranks gather what is compressed") {
  const LayerOperators layer = transformer_layer(model_from(latent_model), shape_of(2));
  // Own tokens: 5 of 10.
  CHECK(names_of(layer.attention_norm.forward) ==
        Names{"attention norm", "query down", "key-value down", "compressed query norm", "compressed key-value norm"});
  CHECK(sizes(named(layer.attention_norm.forward, "query down")) == Sizes{1, 5, 32, 64});
  CHECK(sizes(named(layer.attention_norm.forward, "key-value down")) == Sizes{1, 5, 20, 64});
  CHECK(named(layer.attention_norm.forward, "compressed query norm").bytes_read == 2 * 5 * 32);
  CHECK(names_of(layer.attention_norm.input_gradient) ==
        Names{"compressed key-value norm dgrad", "compressed query norm dgrad", "query down dgrad",
              "key-value down dgrad", "compression input gradient", "attention norm dgrad",
              "attention norm residual gradient"});
  // All tokens, 2 of 4 heads.
  CHECK(layer.qkv.whole_input == 32 + 12 + 8);
  CHECK(sizes(named(layer.qkv.forward, "query up")) == Sizes{1, 10, 48, 32});
  CHECK(sizes(named(layer.qkv.forward, "key-value up")) == Sizes{1, 10, 72, 12});
  CHECK(named(layer.qkv.forward, "rotary").bytes_read == 2 * 10 * 2 * 8);
  CHECK(named(layer.qkv.forward, "key-value layout").bytes_read == 2 * 10 * (72 + 8));
  CHECK(named(layer.qkv.forward, "key-value layout").bytes_written == 2 * 10 * 2 * (24 + 20));
  // 2 heads x 55 visible pairs x 2 x (24 + 20); backward three products of 24 and two of 20.
  const Operator& core = named(layer.attention_core.forward, "attention");
  CHECK(core.flops == 2 * 2 * 55 * 44);
  CHECK(core.bytes_read == 2 * 10 * 2 * (24 + 24 + 20));
  CHECK(core.bytes_written == 2 * 10 * 2 * 20 + 4 * 2 * 10);
  CHECK(layer.attention_core.input_gradient.front().flops == 2 * 2 * 55 * (3 * 24 + 2 * 20));
  CHECK(sizes(layer.projection.forward.front()) == Sizes{1, 10, 64, 40});
  // Kept: the norm's input and output, what is compressed before and behind its norms; queries, keys, values; context.
  CHECK(layer.attention_norm.kept() == 2 * 5 * (64 + 64 + 32 + 12));
  CHECK(layer.qkv.kept() == 2 * 5 * (32 + 12));
  CHECK(layer.attention_core.kept_input == 2 * 10 * 2 * (24 + 24 + 20));
  CHECK(layer.projection.kept_input == 2 * 10 * 2 * 20);
}

TEST_CASE("latent attention in FP8 keeps operands of a byte, but for norms' inputs and the core's") {
  Stack stack;
  stack.product_datatype = OperandType::fp8;
  LayerShape shape = shape_of(2);
  shape.datatype = "bf16";
  shape.stack = &stack;
  const LayerOperators layer = transformer_layer(model_from(latent_model), shape);
  CHECK(named(layer.attention_norm.forward, "query down").datatype == "fp8");
  // Each of the two that compress has a cast of the norm's output.
  CHECK(layer.attention_norm.kept() == 5 * (2 * 64 + 2 * 64 + 2 * (32 + 12)));
  // What is gathered in 16 bits is kept so, and cast transposed behind the second gather.
  CHECK(layer.qkv.kept() == 2 * 5 * (32 + 12));
  CHECK(named(layer.qkv.weight_gradient, "query up transpose").bytes_read == 2 * 10 * 32);
  stack.gathers_operands = true;
  CHECK(transformer_layer(model_from(latent_model), shape).qkv.kept() == 5 * (32 + 12));
}

TEST_CASE("latent attention in FP8 without a rank of queries: the hidden elements have three readers") {
  std::string direct = latent_model;
  direct.replace(direct.find("query_rank = 32"), 15, "query_rank = 0");
  Stack stack;
  stack.product_datatype = OperandType::fp8;
  LayerShape shape = shape_of(1);
  shape.stack = &stack;
  // 10 tokens: the norm's input and a cast of its output; what is compressed, before its norm and as a cast behind it;
  // another cast of the norm's output, which queries come from.
  const LayerOperators whole = transformer_layer(model_from(direct), shape);
  CHECK(whole.attention_norm.kept() == 10 * (2 * 64 + 64 + 2 * 12));
  CHECK(whole.qkv.kept() == 10 * (64 + 12));
  // Tensor ranks that gather it in 16 bits keep it so.
  shape = shape_of(2);
  shape.stack = &stack;
  CHECK(transformer_layer(model_from(direct), shape).qkv.kept() == 2 * 5 * (64 + 12));
}

TEST_CASE("latent attention: products with weights that are absorbed have operands as all linear layers") {
  Stack stack;
  stack.product_datatype = OperandType::fp8;
  LayerShape shape = shape_of(2, Phase::generation);
  shape.stack = &stack;
  const LayerOperators layer = transformer_layer(model_from(latent_model), shape);
  // Queries of 2 heads and 3 tokens, 16 elements each, and 2 matrices of 16 x 12; then 12 elements and 12 x 20.
  CHECK(named(layer.qkv.forward, "query absorption cast").bytes_read == 2 * 2 * 3 * 16);
  CHECK(named(layer.qkv.forward, "query absorption").datatype == "fp8");
  CHECK(named(layer.qkv.forward, "query absorption").bytes_read == 2 * (3 * 16 + 16 * 12));
  CHECK(named(layer.qkv.forward, "query absorption").bytes_written == 2 * 2 * 3 * 12);
  CHECK(named(layer.attention_core.forward, "value expansion").bytes_read == 2 * (3 * 12 + 12 * 20));
}

TEST_CASE("latent attention without a rank of queries gathers the hidden elements too") {
  std::string direct = latent_model;
  direct.replace(direct.find("query_rank = 32"), 15, "query_rank = 0");
  const LayerOperators layer = transformer_layer(model_from(direct), shape_of(2));
  CHECK(names_of(layer.attention_norm.forward) ==
        Names{"attention norm", "key-value down", "compressed key-value norm"});
  CHECK(layer.qkv.whole_input == 64 + 12 + 8);
  CHECK(sizes(named(layer.qkv.forward, "query up")) == Sizes{1, 10, 48, 64});
  CHECK(layer.qkv.kept() == 2 * 5 * 12);  // the rest is kept already
}

TEST_CASE("latent attention in generation: keys and values stay compressed, and every rank keeps them") {
  const Model model = model_from(latent_model);
  LayerShape shape = shape_of(2, Phase::generation);
  const LayerOperators layer = transformer_layer(model, shape);
  // 16 elements of each head's query become 12; then 2 x 3 queries of 12 + 8 meet 7 keys, of which 12 are the values.
  CHECK(names_of(layer.qkv.forward) == Names{"query up", "query absorption", "rotary"});
  CHECK(sizes(named(layer.qkv.forward, "query absorption")) == Sizes{2, 3, 12, 16});
  CHECK(named(layer.qkv.forward, "rotary").bytes_read == 2 * 3 * (2 + 1) * 8);
  CHECK(names_of(layer.attention_core.forward) == Names{"kv cache", "attention", "value expansion"});
  CHECK(layer.attention_core.forward[0].bytes_written == 2 * 3 * 20);
  const Operator& core = layer.attention_core.forward[1];
  CHECK(core.flops == 2 * 6 * 7 * (20 + 12));
  CHECK(core.bytes_read == 2 * (6 * 20 + 3 * 7 * 20));
  CHECK(core.bytes_written == 2 * 6 * 12);
  CHECK(sizes(layer.attention_core.forward[2]) == Sizes{2, 3, 20, 12});
  CHECK(kv_cache_bytes(model, shape) == 2 * 3 * 7 * 20);
  // Without fusion the products are of all heads at once.
  shape.flash_attention = false;
  const LayerOperators single = transformer_layer(model, shape);
  CHECK(sizes(named(single.attention_core.forward, "scores")) == Sizes{3, 2, 7, 20});
  CHECK(sizes(named(single.attention_core.forward, "context")) == Sizes{3, 2, 12, 7});
}

TEST_CASE("FLOP of latent attention: by the dimensions, and by the operators") {
  const Model model = model_from(latent_model);
  for (const Phase phase : {Phase::training, Phase::prompt, Phase::generation}) {
    LayerShape shape = shape_of(1);
    shape.flash_attention = false;  // all scores, as the dimensions count them
    shape.phase = phase;
    shape.context = 10;
    if (phase == Phase::generation) shape.sequence = 1;
    Int128 sum = 0;
    const LayerOperators layer = transformer_layer(model, shape);
    for (const OperatorSet* section : layer.in_order()) sum += total_flops(section->forward);
    CHECK(forward_flops(model, shape.sequence, 10, phase).layers == sum);
  }
  // A token: 64 x 52 down, 32 x 96 and 12 x 144 up, 80 x 64 and 3 x 64 x 96; two FLOP each; scores and context of
  // 4 x (24 + 20) x 2 for each of 10 keys.
  CHECK(forward_flops(model, 10, 10, Phase::training).layers == 10 * (2 * (3328 + 3072 + 1728 + 5120 + 18432) + 3520));
}

TEST_CASE("latent attention that cannot be") {
  const auto problem_of = [](const std::string& line) {
    const std::string key = line.substr(0, line.find(' '));
    std::string changed = latent_model;
    if (const std::size_t at = changed.find("\n" + key + " "); at != std::string::npos)
      changed.erase(at, changed.find('\n', at + 1) - at);
    return errors_of(changed + line + "\n");
  };
  CHECK(problem_of("rotary_dim = 24") ==
        Names{"m.toml:18:14: \"rotary_dim\": 24 is out of range, allowed: less than head_dim, which is 24"});
  CHECK(problem_of("rotary_dim = 0") == Names{"m.toml:18:14: \"rotary_dim\": elements that positions turn: more than 0 "
                                              "with rotary positions, and 0 without"});
  CHECK(problem_of("kv_heads = 2") == Names{"m.toml:19:12: \"kv_heads\": 2, and latent attention has keys and values "
                                            "for each head, allowed: 4"});
  CHECK(problem_of("qkv_bias = true") ==
        Names{"m.toml:18:12: \"qkv_bias\": latent attention has no biases of its own, allowed: false"});
  CHECK(problem_of("parallel_block = \"one-norm\"") ==
        Names{"m.toml:19:18: \"parallel_block\": latent attention gathers what it compresses, and an MLP beside it all "
              "of a token, allowed: none"});
  CHECK(problem_of("scaled_queries = true") ==
        Names{"m.toml:19:18: \"scaled_queries\": latent attention has no such kernel, allowed: false"});
  CHECK(problem_of("rotary_fraction = 0.5") ==
        Names{"m.toml:19:19: \"rotary_fraction\": rotary_dim says what positions turn in latent attention, allowed: 0, "
              "1"});
  CHECK(problem_of("kv_rank = 0") ==
        Names{"m.toml:8:14: \"query_rank\": 32 without latent attention (kv_rank = 0), allowed: 0",
              "m.toml:9:14: \"rotary_dim\": 8 without latent attention (kv_rank = 0), allowed: 0"});
}

}  // namespace latent
}  // namespace
}  // namespace tessera::workload
