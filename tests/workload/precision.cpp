// Operands of fewer bits: what is cast when, and what stays in 16 bits.
#include "models_from.hpp"

namespace tessera::workload {
namespace {

constexpr std::int64_t h = 6144, rows = 16;

/// Of Megatron's 22B, uncut, 16 tokens, in BF16.
LayerShape shape_with(const Stack& stack) {
  LayerShape shape;
  shape.sequence = rows;
  shape.datatype = "bf16";
  shape.flash_attention = true;
  shape.stack = &stack;
  return shape;
}

Stack in_fp8() {
  Stack stack;
  stack.product_datatype = OperandType::fp8;
  return stack;
}

LayerOperators layer_with(const Stack& stack) {
  return transformer_layer(model_named("megatron-22b.toml"), shape_with(stack));
}

TEST_CASE("operands: bytes of numbers and their scales") {
  CHECK(operand_bytes(1280, "fp8", Scaling::delayed) == 1280);
  CHECK(operand_bytes(1280, "fp8", Scaling::current) == 1280);
  CHECK(operand_bytes(1280, "fp8", Scaling::blocks) == 1280 + 4 * 10);  // one of 4 B for 128
  CHECK(operand_bytes(1280, "fp8", Scaling::mx) == 1280 + 40);          // one of 1 B for 32
  CHECK(operand_bytes(1281, "fp4", Scaling::delayed) == 641);
  CHECK(operand_bytes(1280, "fp4", Scaling::mx) == 640 + 40);
  CHECK(operand_bytes(1280, "bf16", Scaling::mx) == 2560);
  // Of weights blocks are 128 x 128: a matrix of 256 x 384 has 2 x 3 of them.
  CHECK(weight_operand_bytes(256 * 384, "fp8", Scaling::blocks) == 256 * 384 + 4 * 6);
  CHECK(weight_operand_bytes(256 * 384, "fp8", Scaling::mx) == 256 * 384 + 256 * 384 / 32);
  CHECK(weight_operand_bytes(256 * 384, "fp8", Scaling::current) == 256 * 384);
}

TEST_CASE("FP8: blocks have a scale for 128 numbers of the input and one for 128 x 128 of the weight") {
  Stack stack = in_fp8();
  stack.scaling = Scaling::blocks;
  const OperatorSet set = layer_with(stack).projection;
  constexpr std::int64_t tokens = rows * h + 4 * rows * 48, weight = h * h + 4 * 48 * 48;  // 6144 = 48 x 128
  CHECK(set.forward[1].bytes_read == tokens + weight);
  CHECK(set.input_gradient[1].bytes_read == tokens + weight);
  CHECK(set.weight_gradient[0].bytes_read == 2 * tokens + 4 * h * h);
  CHECK(set.kept_input == tokens);
}

TEST_CASE("FP8: a linear layer casts its input and its output's gradient, each either way, once") {
  const Stack stack = in_fp8();
  const LayerOperators layer = layer_with(stack);
  const OperatorSet& set = layer.projection;
  REQUIRE(names_of(set.forward) == Names{"projection cast", "projection"});
  REQUIRE(names_of(set.input_gradient) == Names{"projection gradient cast", "projection dgrad"});
  REQUIRE(names_of(set.weight_gradient) == Names{"projection wgrad"});
  for (const Operator& cast : {set.forward[0], set.input_gradient[0]}) {
    CHECK(cast.datatype == "bf16");
    CHECK(cast.bytes_read == 2 * rows * h);
    CHECK(cast.bytes_written == 2 * rows * h);  // as it is and transposed, a byte each
  }
  // Operands of a byte, the result in BF16, the weight's gradient added to one in FP32.
  CHECK(set.forward[1].datatype == "fp8");
  CHECK(set.forward[1].flops == 2 * rows * h * h);
  CHECK(set.forward[1].bytes_read == rows * h + h * h);
  CHECK(set.forward[1].bytes_written == 2 * rows * h);
  CHECK(set.input_gradient[1].bytes_read == rows * h + h * h);
  CHECK(set.input_gradient[1].bytes_written == 2 * rows * h);
  CHECK(set.weight_gradient[0].bytes_read == 2 * rows * h + 4 * h * h);
  CHECK(set.weight_gradient[0].bytes_written == 4 * h * h);
  // What waits for the weight gradient is a byte; attention keeps its own output.
  CHECK(set.kept_input == rows * h);
  CHECK(layer.attention_core.kept_inside == 4 * 64 * rows + 2 * rows * h);
}

TEST_CASE("FP8: attention, norms, residuals and logits stay as they are") {
  const Stack stack = in_fp8(), plain;
  const LayerOperators low = layer_with(stack), whole = layer_with(plain);
  CHECK(low.attention_core.forward == whole.attention_core.forward);
  CHECK(low.attention_norm.forward == whole.attention_norm.forward);
  CHECK(low.mlp_residual.input_gradient == whole.mlp_residual.input_gradient);
  CHECK(low.activation.forward == whole.activation.forward);
  const Model model = model_named("megatron-22b.toml");
  CHECK(head_operators(model, shape_with(stack)).logits.forward ==
        head_operators(model, shape_with(plain)).logits.forward);
  const Model experts = model_named("mixtral-8x7b.toml");
  CHECK(names_of(transformer_layer(experts, shape_with(stack)).router.forward) == Names{"router", "router softmax"});
  CHECK(total_flops(low.fc1.forward) == total_flops(whole.fc1.forward));
}

TEST_CASE("FP8: scales of the tensor itself read it once more; weights are cast in passes that gather them") {
  Stack stack = in_fp8();
  stack.scaling = Scaling::current;
  const OperatorSet set = layer_with(stack).projection;
  CHECK(names_of(set.forward) == Names{"projection cast amax", "projection cast", "projection"});
  CHECK(set.forward[0].bytes_read == 2 * rows * h);
  CHECK(set.forward[0].bytes_written == 0);
  LayerShape shape = shape_with(stack);
  shape.casts_weights = true;
  const OperatorSet gathered = transformer_layer(model_named("megatron-22b.toml"), shape).projection;
  // As they are for the forward product, and transposed when they are gathered again for the backward pass.
  CHECK(gathered.forward[0].name == "projection weight cast");
  CHECK(gathered.input_gradient[0].name == "projection weight transpose");
  for (const Operator& cast : {gathered.forward[0], gathered.input_gradient[0]}) {
    CHECK(cast.bytes_read == 2 * h * h);
    CHECK(cast.bytes_written == h * h);
  }
}

TEST_CASE("FP8: what tensor ranks gather is cast in between, or before") {
  Stack stack = in_fp8();
  LayerShape shape = shape_with(stack);
  shape.tensor = 8;
  shape.sequence_parallel = true;
  const Model model = model_named("megatron-22b.toml");
  // The input of QKV is gathered twice: each time all 16 tokens are cast, once as they are, once transposed.
  LayerOperators layer = transformer_layer(model, shape);
  CHECK(layer.qkv.gathered_element == 0);
  CHECK(named(layer.qkv.forward, "qkv cast").bytes_read == 2 * rows * h);
  CHECK(named(layer.qkv.forward, "qkv cast").bytes_written == rows * h);
  CHECK(named(layer.qkv.weight_gradient, "qkv transpose").bytes_read == 2 * rows * h);
  CHECK(named(layer.qkv.weight_gradient, "qkv transpose").bytes_written == rows * h);
  // The gradient is gathered once: one kernel casts all of it either way.
  CHECK(names_of(layer.projection.input_gradient) == Names{"projection gradient cast", "projection dgrad"});
  CHECK(layer.projection.input_gradient[0].bytes_read == 2 * rows * h);
  CHECK(layer.projection.input_gradient[0].bytes_written == 2 * rows * h);
  // Before it: the rank's own two tokens are cast, and bytes are gathered and transposed.
  stack.gathers_operands = true;
  layer = transformer_layer(model, shape);
  CHECK(layer.qkv.gathered_element == 1);
  CHECK(named(layer.qkv.forward, "qkv cast").bytes_read == 2 * 2 * h);
  CHECK(named(layer.qkv.weight_gradient, "qkv transpose").bytes_read == rows * h);
  CHECK(named(layer.projection.input_gradient, "projection gradient cast").bytes_read == 2 * 2 * h);
  CHECK(named(layer.projection.weight_gradient, "projection gradient transpose").bytes_written == rows * h);
}

TEST_CASE("inference: weights of fewer bits are read so, and products of fewer bits cast their input") {
  Stack stack;
  stack.weight_datatype = OperandType::int8;
  LayerShape shape = shape_with(stack);
  shape.phase = Phase::prompt;
  const Model model = model_named("megatron-22b.toml");
  OperatorSet set = transformer_layer(model, shape).projection;
  REQUIRE(names_of(set.forward) == Names{"projection"});
  CHECK(set.forward[0].datatype == "bf16");
  CHECK(set.forward[0].bytes_read == 2 * rows * h + h * h);
  stack.product_datatype = OperandType::fp8;
  stack.weight_datatype = OperandType::fp4;
  stack.scaling = Scaling::mx;
  set = transformer_layer(model, shape).projection;
  REQUIRE(names_of(set.forward) == Names{"projection cast", "projection"});
  CHECK(set.forward[0].bytes_written == rows * h + rows * h / 32);
  CHECK(set.forward[1].datatype == "fp8");
  CHECK(set.forward[1].bytes_read == rows * h + rows * h / 32 + h * h / 2 + h * h / 32);
}

TEST_CASE("weights of linear layers are the model's but for embeddings, norms, biases and router") {
  const Model model = model_named("llama2-7b.toml");  // no biases
  LayerShape shape;
  shape.sequence = 1;
  const std::int64_t layer = layer_parameters(model, shape).total();
  CHECK(product_weights(model, shape).total() == layer - 2 * 4096);  // two norms
  const Model experts = model_named("mixtral-8x7b.toml");
  CHECK(product_weights(experts, shape).total() == layer_parameters(experts, shape).total() - 2 * 4096 - 8 * 4096);
  CHECK(product_weights(experts, shape).expert == layer_parameters(experts, shape).expert);
}

}  // namespace
}  // namespace tessera::workload
