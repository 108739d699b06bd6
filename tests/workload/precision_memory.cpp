// Operands of fewer bits: what a layer keeps of them, and of what for its backward pass.
#include "models_from.hpp"

namespace tessera::workload {
namespace {
namespace kept_operands {

constexpr std::int64_t h = 64, tokens = 8;

/// Eight tokens through a gated layer of 64, of 96 columns in the MLP.
Model model_with(const std::string& keys) {
  return model_from(
      "name = \"small\"\nlayers = 1\nhidden = 64\nheads = 4\nffn_hidden = 96\ngated_mlp = true\nvocabulary = 64\n"
      "norm = \"rmsnorm\"\nbias = false\nqkv_bias = false\ndropout = false\nposition = \"rotary\"\n" +
      keys);
}

Stack in_fp8(bool gathers_operands = false) {
  Stack stack;
  stack.product_datatype = OperandType::fp8;
  stack.gathers_operands = gathers_operands;
  return stack;
}

LayerShape shape_with(const Stack& stack, std::int64_t tensor = 1) {
  LayerShape shape;
  shape.sequence = tokens;
  shape.datatype = "bf16";
  shape.flash_attention = true;
  shape.tensor = tensor;
  shape.sequence_parallel = tensor > 1;
  shape.stack = &stack;
  return shape;
}

TEST_CASE("FP8: tensor ranks keep their tokens as they are gathered again") {
  const Stack plain = in_fp8(), bytes = in_fp8(true);
  const Model model = model_with("");
  // Four of eight tokens, gathered in two bytes or in one; what makes the other sums is not gathered.
  const LayerOperators wide = transformer_layer(model, shape_with(plain, 2));
  const LayerOperators narrow = transformer_layer(model, shape_with(bytes, 2));
  for (const LayerSection section : {&LayerOperators::qkv, &LayerOperators::fc1}) {
    CHECK((wide.*section).kept_input == 2 * 4 * h);
    CHECK((narrow.*section).kept_input == 4 * h);
  }
  CHECK(wide.projection.kept_input == tokens * h / 2);
  CHECK(wide.fc2.kept_input == tokens * 96 / 2);
}

TEST_CASE("FP8: attention and MLP behind one norm have a cast each, or what they gather together") {
  const Model model = model_with("parallel_block = \"one-norm\"\n");
  const Stack plain = in_fp8(), bytes = in_fp8(true);
  const LayerOperators whole = transformer_layer(model, shape_with(plain));
  CHECK(whole.qkv.kept_input == tokens * h);
  CHECK(whole.fc1.kept_input == tokens * h);
  CHECK(named(whole.fc1.forward, "fc1 cast").bytes_read == 2 * tokens * h);
  // The norm's output, of four tokens, is kept once, for both; each casts what is gathered.
  const LayerOperators wide = transformer_layer(model, shape_with(plain, 2));
  CHECK(wide.qkv.kept_input == 2 * 4 * h);
  CHECK(wide.fc1.kept_input == 0);
  CHECK(names_of(wide.fc1.forward) == Names{"fc1 cast", "fc1"});
  // What is gathered as a cast is cast once.
  const LayerOperators narrow = transformer_layer(model, shape_with(bytes, 2));
  CHECK(narrow.qkv.kept_input == 4 * h);
  CHECK(narrow.fc1.kept_input == 0);
  CHECK(names_of(narrow.fc1.forward) == Names{"fc1"});
  CHECK(names_of(narrow.fc1.weight_gradient) == Names{"fc1 wgrad"});
}

TEST_CASE("FP8: a gate of its own has a cast of its own") {
  Stack stack = in_fp8();
  stack.separate_gate = true;
  const Model model = model_with("");
  CHECK(transformer_layer(model, shape_with(stack)).fc1.kept_input == 2 * tokens * h);
  CHECK(transformer_layer(model, shape_with(stack, 2)).fc1.kept_input == 2 * 4 * h);
  stack.gathers_operands = true;
  const LayerOperators narrow = transformer_layer(model, shape_with(stack, 2));
  CHECK(narrow.fc1.kept_input == 4 * h);
  CHECK(names_of(narrow.fc1.forward) == Names{"fc1 cast", "fc1", "fc1 gate"});
  CHECK(names_of(narrow.fc1.weight_gradient) == Names{"fc1 transpose", "fc1 wgrad", "fc1 gate wgrad"});
}

TEST_CASE("FP8: what runs again keeps its input as it comes, not the cast") {
  const Stack stack = in_fp8();
  // Layers that norm what they make have no norm in front: QKV is the first that runs again.
  const LayerOperators layer = transformer_layer(model_with("sublayer_norms = \"output\"\n"), shape_with(stack));
  CHECK(activation_bytes(layer, Recomputation::full) == 2 * tokens * h);
  CHECK(made_again_bytes(layer, recomputed_by(Recomputation::full))[place_of(&LayerOperators::qkv)] == tokens * h);
  // One section alone, behind one that does not.
  const LayerOperators plain = transformer_layer(model_with(""), shape_with(stack));
  Recomputed again;
  again.again.set(place_of(&LayerOperators::fc1));
  CHECK(kept_bytes(plain, again)[place_of(&LayerOperators::fc1)] == 2 * tokens * h);
  CHECK(made_again_bytes(plain, again)[place_of(&LayerOperators::fc1)] == tokens * h);
  // The projection reads what the core keeps for itself.
  again.again.reset().set(place_of(&LayerOperators::projection));
  CHECK(kept_bytes(plain, again)[place_of(&LayerOperators::projection)] == 0);
}

TEST_CASE("FP8: QKV and an MLP that both run again have one input, and either one the same") {
  const Stack stack = in_fp8();
  const LayerOperators layer = transformer_layer(model_with("parallel_block = \"one-norm\"\n"), shape_with(stack));
  const auto kept = [&](std::initializer_list<LayerSection> sections) {
    Recomputed again;
    for (const LayerSection section : sections) again.again.set(place_of(section));
    const auto bytes = kept_bytes(layer, again);
    return bytes[place_of(&LayerOperators::qkv)] + bytes[place_of(&LayerOperators::fc1)];
  };
  CHECK(kept({}) == 2 * tokens * h);  // two casts
  CHECK(kept({&LayerOperators::qkv, &LayerOperators::fc1}) == 2 * tokens * h);
  CHECK(kept({&LayerOperators::qkv}) == 3 * tokens * h);
  CHECK(kept({&LayerOperators::fc1}) == 3 * tokens * h);
}

TEST_CASE("FP8: context ranks keep what their core made in 16 bits") {
  const Stack stack = in_fp8(), plain;
  const Model model = model_with("");
  const auto kept_inside = [&](const Stack& of, ContextExchange exchange) {
    LayerShape shape = shape_with(of);
    shape.sequence = tokens / 2;
    shape.context_parallel = 2;
    shape.context_exchange = exchange;
    return transformer_layer(model, shape).attention_core.kept_inside;
  };
  for (const auto exchange : {ContextExchange::ring, ContextExchange::all_gather})
    CHECK(kept_inside(stack, exchange) == kept_inside(plain, exchange) + 2 * 4 * h);
  // Ranks that exchange heads for tokens have it before it goes back, whatever the projection keeps.
  CHECK(kept_inside(stack, ContextExchange::all_to_all) == kept_inside(plain, ContextExchange::all_to_all));
}

TEST_CASE("FP8: experts keep a cast of what was sent to them, shared ones of what the router reads") {
  const Model model = model_with("experts = 4\nexperts_per_token = 2\nshared_experts = 1\n");
  const Stack stack = in_fp8(), bytes = in_fp8(true);
  // 16 copies, and eight tokens; the router keeps its input in 16 bits.
  const LayerOperators whole = transformer_layer(model, shape_with(stack));
  CHECK(whole.router.kept_input == 2 * tokens * h);
  CHECK(whole.fc1.kept_input == (16 + tokens) * h);
  CHECK(whole.fc2.kept_input == (16 + tokens) * 96);
  // Of four own tokens under sequence parallelism the router's is what is gathered again.
  CHECK(transformer_layer(model, shape_with(stack, 2)).fc1.kept_input == 16 * h);
  const LayerOperators narrow = transformer_layer(model, shape_with(bytes, 2));
  CHECK(narrow.fc1.kept_input == (16 + 4) * h);
  CHECK(narrow.fc1.gathered_element == 1);
  CHECK(named(narrow.fc1.forward, "shared fc1 cast").bytes_read == 2 * 4 * h);
  CHECK(named(narrow.fc1.forward, "expert fc1 cast").bytes_read == 2 * 16 * h);
}

}  // namespace kept_operands
}  // namespace
}  // namespace tessera::workload
