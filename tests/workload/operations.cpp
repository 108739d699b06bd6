// What stacks run besides, and instead: bytes and kernels by hand.
#include "models_from.hpp"
#include "tessera/base/error.hpp"

namespace tessera::workload {
namespace {

/// Llama 2 70B on 8 ranks: h = 8192, 8 heads of queries and one of keys and values of 128 on each, f/t = 3584.
LayerShape llama_shape(const Stack& stack) {
  LayerShape shape;
  shape.sequence = 1024;
  shape.tensor = 8;
  shape.flash_attention = true;
  shape.datatype = "bf16";
  shape.stack = &stack;
  return shape;
}

/// Mixtral's experts on 4 ranks, two on each.
LayerShape mixtral_shape(const Stack& stack) {
  LayerShape shape;
  shape.sequence = 1024;
  shape.expert_parallel = 4;
  shape.stack = &stack;
  return shape;
}

AddedOperation operation(const std::string& section, const std::string& width, std::int64_t forward,
                         std::int64_t backward) {
  AddedOperation added;
  added.name = "added";
  added.section = section;
  added.width = width;
  added.forward = Bytes{forward};
  added.backward = Bytes{backward};
  return added;
}

std::int64_t bytes_of(const std::vector<Operator>& operators, const std::string& name) {
  std::int64_t bytes = 0;
  for (const Operator& op : operators) bytes += op.name == name ? op.bytes_read + op.bytes_written : 0;
  return bytes;
}

std::string problem(const std::string& text) {
  config::Diagnostics diagnostics;
  const AddedOperation read = operation_schema().read(*config::parse_toml(text, "o.toml", diagnostics), diagnostics);
  return diagnostics.ok() ? problem_of(read) : diagnostics.errors().front();
}

}  // namespace

TEST_CASE("an operation takes the place of another one, with its kernels and bytes") {
  const Model model = model_named("llama2-70b.toml");
  Stack stack;
  stack.operations = {operation("qkv", "query-key", 20, 30)};
  stack.operations[0].replaces = "rotary";
  stack.operations[0].forward_kernels = 5;
  stack.operations[0].backward_kernels = 9;
  const LayerOperators layer = transformer_layer(model, llama_shape(stack));
  // 1024 tokens of 8 x 128 queries and 128 keys: 1,179,648 elements. Five kernels of 20 / 5 B each, nine of 30 / 9.
  CHECK(names_of(layer.qkv.forward) == Names{"qkv", "added", "added", "added", "added", "added"});
  CHECK(bytes_of(layer.qkv.forward, "added") == 20 * 1'179'648);
  CHECK(layer.qkv.forward[1].bytes_read == 2 * 1'179'648);
  CHECK(layer.qkv.input_gradient.size() == 9 + 1);
  CHECK(layer.qkv.input_gradient.back().name == "qkv dgrad");
  CHECK(bytes_of(layer.qkv.input_gradient, "added dgrad") == 30 * 1'179'648);
  // Where there is nothing to be replaced, nothing runs: GPT-3 has learned positions.
  const LayerOperators learned = transformer_layer(model_named("megatron-175b.toml"), llama_shape(stack));
  CHECK(names_of(learned.qkv.forward) == Names{"qkv", "qkv bias"});
  CHECK(learned.qkv.input_gradient.size() == 1);
}

TEST_CASE("widths are those of a rank, hidden of all tokens or of its own") {
  const Model model = model_named("llama2-70b.toml");
  const std::int64_t tokens = 1024;
  const std::vector<std::pair<std::string, std::int64_t>> expected = {
      {"hidden", tokens * 8192},   {"query", tokens * 1024},      {"value", tokens * 128},
      {"key-value", tokens * 256}, {"query-key", tokens * 1152},  {"qkv", tokens * 1280},
      {"mlp", tokens * 3584},      {"vocabulary", tokens * 4096},  // 32,000 padded to 32,768 of 8 ranks
      {"mask", tokens * tokens}};
  for (const auto& [width, elements] : expected) {
    CAPTURE(width);
    Stack stack;
    stack.operations = {operation("fc1", width, 6, 0)};
    const LayerOperators layer = transformer_layer(model, llama_shape(stack));
    CHECK(bytes_of(layer.fc1.forward, "added") == 6 * elements);
    CHECK(layer.fc1.input_gradient.front().name == "fc1 dgrad");
  }
  Stack stack;
  stack.operations = {operation("mlp_norm", "hidden", 4, 0)};
  stack.operations[0].tokens = "own";
  LayerShape shape = llama_shape(stack);
  CHECK(bytes_of(transformer_layer(model, shape).mlp_norm.forward, "added") == 4 * tokens * 8192);
  shape.sequence_parallel = true;
  CHECK(bytes_of(transformer_layer(model, shape).mlp_norm.forward, "added") == 4 * tokens * 8192 / 8);
}

TEST_CASE("an operation runs where its conditions hold") {
  const Model model = model_named("llama2-70b.toml");
  Stack stack;
  stack.operations = {operation("attention_core", "query", 4, 4)};
  const auto runs = [&](std::int64_t sequences) {
    LayerShape shape = llama_shape(stack);
    shape.micro_batch = sequences;
    return transformer_layer(model, shape).attention_core.forward.size() == 2;
  };
  CHECK((runs(1) && runs(2)));
  stack.operations[0].with = {"rotary", "several-sequences"};
  CHECK((!runs(1) && runs(2)));
  stack.operations[0].without = {"grouped-queries"};
  CHECK((!runs(1) && !runs(2)));
}

TEST_CASE("operations of the model's ends, and of experts") {
  Stack stack;
  stack.operations = {operation("embedding", "hidden", 4, 2), operation("loss", "vocabulary", 40, 0)};
  const Model model = model_named("llama2-70b.toml");
  const LayerShape shape = llama_shape(stack);
  const EmbeddingOperators embedding = embedding_operators(model, shape);
  CHECK(embedding.combine.forward.back().name == "added");
  CHECK(embedding.combine.input_gradient.front().name == "added dgrad");
  CHECK(bytes_of(head_operators(model, shape).loss[3].forward, "added") == 40 * 1024 * 4096);
  // Mixtral on 4 ranks: 2 experts a rank, each 1024 tokens of 14,336 columns.
  stack.operations = {operation("activation", "mlp", 10, 18)};
  stack.operations[0].replaces = "gate";
  const LayerOperators layer = transformer_layer(model_named("mixtral-8x7b.toml"), mixtral_shape(stack));
  CHECK(names_of(layer.activation.forward) == Names{"added"});
  CHECK(bytes_of(layer.activation.forward, "added") == 10LL * 2 * 1024 * 14336);
}

TEST_CASE("operations of a mixture of experts: logits, copies of tokens, what arrives") {
  Stack stack;
  stack.operations = {operation("router", "router-logits", 4, 0), operation("dispatch", "copies", 4, 7),
                      operation("fc2", "arrivals", 8, 0)};
  stack.operations[1].replaces = "dispatch";
  stack.operations[2].with = {"several-experts"};
  LayerShape shape = mixtral_shape(stack);
  const Model model = model_named("mixtral-8x7b.toml");
  // 1024 tokens: 8 logits each; two copies of 4096 numbers each; and as many arrive at a rank, whose experts are two.
  const LayerOperators layer = transformer_layer(model, shape);
  CHECK(bytes_of(layer.router.forward, "added") == 4 * 1024 * 8);
  CHECK(names_of(layer.dispatch.forward) == Names{"added"});
  CHECK(names_of(layer.dispatch.input_gradient) == Names{"added dgrad"});
  CHECK(bytes_of(layer.dispatch.forward, "added") == 4LL * 2 * 1024 * 4096);
  CHECK(bytes_of(layer.dispatch.input_gradient, "added dgrad") == 7LL * 2 * 1024 * 4096);
  CHECK(bytes_of(layer.fc2.forward, "added") == 8LL * 2 * 1024 * 4096);
  shape.expert_parallel = 8;
  CHECK(bytes_of(transformer_layer(model, shape).fc2.forward, "added") == 0);
}

TEST_CASE("experts' products go in one kernel, or one after another with as much work") {
  Stack stack;
  LayerShape shape = mixtral_shape(stack);
  const Model model = model_named("mixtral-8x7b.toml");
  const LayerOperators grouped = transformer_layer(model, shape);
  stack.single_experts = true;
  const LayerOperators single = transformer_layer(model, shape);
  // Two experts of 1024 tokens each on a rank; fc1 has twice the width of 14,336 columns.
  CHECK(names_of(single.fc1.forward) == Names{"expert fc1", "expert fc1"});
  CHECK(single.fc1.forward[0].batch == 1);
  CHECK(single.fc1.forward[0].flops == 2LL * 1024 * 4096 * 2 * 14336);
  for (const auto& [one, other] : {std::pair(&grouped.fc1, &single.fc1), std::pair(&grouped.fc2, &single.fc2)}) {
    for (const auto part : {&OperatorSet::forward, &OperatorSet::input_gradient, &OperatorSet::weight_gradient}) {
      CHECK(total_flops(one->*part) == total_flops(other->*part));
      CHECK((other->*part).size() == 2 * (one->*part).size());
      CHECK(bytes_of(one->*part, (one->*part)[0].name) == bytes_of(other->*part, (other->*part)[0].name));
    }
  }
}

TEST_CASE("what an operation cannot be is said in a line") {
  const std::string begin = "name = \"x\"\nsection = \"qkv\"\n";
  CHECK(problem(begin + "forward = \"4 B\"") == "");
  CHECK(problem(begin) == "an operation that moves nothing, allowed: forward or backward of more than 0 B");
  CHECK(problem(begin + "backward = \"4 B\"\nreplaces = \"rotary\"") ==
        "in place of \"rotary\" nothing would run, allowed: forward of more than 0 B");
  CHECK(problem(begin + "forward = \"4 B\"\nwidth = \"copies\"\ntokens = \"own\"") ==
        "width \"copies\" is of the rank's own tokens anyway, allowed: tokens = \"all\"");
  CHECK(problem(begin + "forward = \"4 B\"\nwidth = \"mlp\"\ntokens = \"own\"") ==
        "width \"mlp\" is not cut along the sequence, allowed: tokens = \"all\"");
  CHECK(problem(begin + "forward = \"4 B\"\nwith = [\"rotry\"]").find("unknown condition \"rotry\" (did you mean") ==
        0);
  CHECK(problem("name = \"x\"\nsection = \"qvk\"\nforward = \"4 B\"").find("(did you mean \"qkv\"?)") !=
        std::string::npos);
}

TEST_CASE("the QKV projection's bias has two kernels, one or none") {
  const Model model = model_named("megatron-175b.toml");
  Stack stack;
  const auto counts = [&](BiasKernels kernels) {
    stack.qkv_bias_kernels = kernels;
    const LayerOperators layer = transformer_layer(model, llama_shape(stack));
    return std::pair{layer.qkv.forward.size(), layer.qkv.weight_gradient.size()};
  };
  using Counts = std::pair<std::size_t, std::size_t>;
  CHECK(counts(BiasKernels::both) == Counts{2, 2});
  CHECK(counts(BiasKernels::gradient) == Counts{1, 2});
  CHECK(counts(BiasKernels::none) == Counts{1, 1});
}

TEST_CASE("a gate with a linear layer of its own: two products each way, and the sum of two input gradients") {
  const Model model = model_named("llama2-70b.toml");
  Stack stack;
  stack.separate_gate = true;
  const LayerOperators layer = transformer_layer(model, llama_shape(stack));
  CHECK(names_of(layer.fc1.forward) == Names{"fc1", "fc1 gate"});
  CHECK(layer.fc1.forward[0].n == 3584);  // 28,672 columns over 8 ranks
  CHECK(names_of(layer.fc1.input_gradient) == Names{"fc1 dgrad", "fc1 gate dgrad", "fc1 input gradient"});
  CHECK(layer.fc1.input_gradient[2].bytes_read == 2 * 2 * 1024 * 8192);
  CHECK(layer.fc1.input_gradient[2].bytes_written == 2 * 1024 * 8192);
  CHECK(names_of(layer.fc1.weight_gradient) == Names{"fc1 wgrad", "fc1 gate wgrad"});
  CHECK(layer.fc1.input_gradients == 2);
  Stack joint;
  const LayerOperators one = transformer_layer(model, llama_shape(joint));
  CHECK(total_flops(one.fc1.forward) == total_flops(layer.fc1.forward));
  CHECK(one.fc1.kept() == layer.fc1.kept());
  CHECK(one.fc1.input_gradients == 1);
}

TEST_CASE("bytes that each loss moves, by logit") {
  const Model model = model_named("llama2-70b.toml");
  Stack stack;
  struct Moved {
    std::int64_t forward = 0, backward = 0, sets = 0, kept = 0;
    bool operator==(const Moved&) const = default;
  };
  // Without what is a few bytes a token; L logits on a rank.
  const std::int64_t logits = 1024 * 4096;
  const auto moved = [&](Loss loss) {
    stack.loss = loss;
    Moved found;
    for (const OperatorSet& set : head_operators(model, llama_shape(stack)).loss) {
      for (const Operator& op : set.forward) found.forward += (op.bytes_read + op.bytes_written) / logits;
      for (const Operator& op : set.input_gradient) found.backward += (op.bytes_read + op.bytes_written) / logits;
      found.sets += set.empty() ? 0 : 1;
      found.kept += set.kept() / logits;
    }
    return found;
  };
  // To FP32 2 + 4, maximum 4, minus it 8, exponential 8, sum 4, quotient 8; backward 8 and 4 + 2.
  CHECK(moved(Loss::vocabulary_parallel) == Moved{38, 14, 4, 4});
  // With the maximum 2 + 4, with the sum 8, quotient 8; backward 4 + 2.
  CHECK(moved(Loss::compiled) == Moved{22, 6, 3, 4});
  // 8 ranks have all logits: out of the buffers 4, side by side 4, to FP32 6, log softmax 12 + 4, accuracy 4; backward
  // zeros 4, log softmax 16 + 4, to BF16 6, and the rank's own part 4.
  CHECK(moved(Loss::gathered) == Moved{8 * 34, 8 * 30 + 4, 1, 8 * 4});
  // Read; read and written.
  CHECK(moved(Loss::fused) == Moved{2, 4, 3, 2});
}

TEST_CASE("bytes that each optimizer moves, by parameter") {
  OptimizerShape shape;
  shape.parameters = shape.updated = 1000;
  shape.datatype = "bf16";
  shape.gradient_bytes = 2;
  const auto bytes = [](const std::vector<Operator>& operators) {
    std::int64_t sum = 0;
    for (const Operator& op : operators) sum += (op.bytes_read + op.bytes_written) / 1000;
    return sum;
  };
  OptimizerOperators one = optimizer_operators(shape);
  // To FP32 2 + 4; norm 4; Adam 4 + 12 + 12, and weights back 4 + 2.
  CHECK(std::vector{bytes(one.average), bytes(one.unscale), bytes(one.norm), bytes(one.step)} ==
        std::vector<std::int64_t>{4, 6, 4, 34});
  shape.update = Update::fused;
  one = optimizer_operators(shape);
  // 2 + 12 read, 12 + 2 written; the norm reads gradients as they lie, and the collective averages them.
  CHECK(std::vector{bytes(one.average), bytes(one.unscale), bytes(one.norm), bytes(one.step)} ==
        std::vector<std::int64_t>{0, 0, 2, 28});
  shape.update = Update::eager;
  one = optimizer_operators(shape);
  // 8, 12, 8, 12, 8, 8, 8 and 16, and weights back; the norm 4, clipping 8.
  CHECK(std::vector{bytes(one.average), bytes(one.unscale), bytes(one.norm), bytes(one.step)} ==
        std::vector<std::int64_t>{4, 6, 12, 80 + 6});
  CHECK(one.step.size() == 9);
}

}  // namespace tessera::workload
