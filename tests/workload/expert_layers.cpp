// What layers with experts have beyond these, and what attention leaves out or adds: one layer by hand.
#include "models_from.hpp"

namespace tessera::workload {
namespace {
namespace expert_layers {

const std::string experts_model = R"(
name = "m"
layers = 2
hidden = 64
heads = 4
ffn_hidden = 48
gated_mlp = true
experts = 8
experts_per_token = 2
vocabulary = 100
position = "rotary"
norm = "rmsnorm"
bias = false
qkv_bias = false
dropout = false
)";

Model model_of(const std::string& more) { return model_from(experts_model + more); }

LayerShape shape_of(std::int64_t tensor) {
  LayerShape shape;
  shape.sequence = 10;
  shape.tensor = tensor;
  shape.sequence_parallel = tensor > 1;
  return shape;
}

TEST_CASE("a shared expert of a width of its own, behind a gate; a bias of the router") {
  const Model plain = model_of(""), model = model_of(
                                        "shared_experts = 1\nshared_ffn_hidden = 80\nshared_gate = true\n"
                                        "router_bias = true\n");
  // Three matrices of 64 x 80, a gate of 64, 8 biases.
  CHECK(parameter_count(model) - parameter_count(plain) == 2 * (3 * 64 * 80 + 64 + 8));
  // All that is shared counts for every token: 2 of 8 experts of 3 x 64 x 48 do not.
  CHECK(active_parameter_count(model) == parameter_count(model) - 2 * 6 * 3 * 64 * 48);
  const ParameterShare half = layer_parameters(model, shape_of(2));
  CHECK(half.sharded == (3 * 64 * 64 + 64 * 64 + 3 * 64 * 80) / 2);
  CHECK(half.replicated == 2 * 64 + 64 * 8 + 8 + 64);
  const LayerOperators layer = transformer_layer(model, shape_of(2));
  const Operator& fc1 = named(layer.fc1.forward, "shared fc1");
  CHECK(std::vector{fc1.m, fc1.n, fc1.k} == std::vector<std::int64_t>{10, 80, 64});
  CHECK(names_of(layer.router.forward) == Names{"router", "router softmax", "shared gate"});
  const Operator& gate = named(layer.router.forward, "shared gate");
  CHECK(std::vector{gate.m, gate.n, gate.k} == std::vector<std::int64_t>{5, 1, 64});
  CHECK(named(layer.router.weight_gradient, "router bias wgrad").bytes_written == 4 * 8);
  CHECK(names_of(layer.combine.forward) == Names{"combine", "shared scale", "shared sum"});
  CHECK(named(layer.combine.forward, "shared sum").bytes_read == 2 * 2 * 5 * 64);
  CHECK(named(layer.combine.forward, "shared sum").bytes_written == 2 * 5 * 64);
  // A token: 2 experts, the shared one, the router and the gate.
  const Int128 mlp = 2 * (2 * 3 * 64 * 48 + 3 * 64 * 80 + 64 * 9);
  CHECK(forward_flops(model, 1, 1, Phase::training).layers ==
        2 * (mlp + 2 * 4 * 64 * 64 + 4 * 64));  // with four matrices of attention, and one score and its context
}

TEST_CASE("a token sees those before it in its own chunk") {
  // Chunks of 4 of 10 tokens: 10 + 10 + 1 + 2 pairs; with a context of 10, the last 3 tokens see 4, 1 and 2, in keys of
  // the last two chunks.
  const Model model = model_of("attention_chunk = 4\n");
  LayerShape shape = shape_of(1);
  shape.flash_attention = true;
  CHECK(transformer_layer(model, shape).attention_core.forward.front().visible == 4 * 23);
  shape.phase = Phase::prompt;
  shape.sequence = 3;
  shape.context = 10;
  const Operator core = transformer_layer(model, shape).attention_core.forward.back();
  CHECK(core.visible == 4 * 7);
  CHECK(core.n == 6);
  CHECK(kv_cache_bytes(model, shape) == 2 * 4 * 2 * 64);  // no more than a chunk
  CHECK(forward_flops(model, 10, 10, Phase::training).attention_core == 2 * 4 * 10 * 4 * 64);
}

TEST_CASE("sinks: a parameter a head, whose gradient reads the softmax's statistics") {
  const Model model = model_of("attention_sinks = true\n");
  CHECK(parameter_count(model) - parameter_count(model_of("")) == 2 * 4);
  CHECK(layer_parameters(model, shape_of(2)).sharded - layer_parameters(model_of(""), shape_of(2)).sharded == 2);
  const Operator wgrad = named(transformer_layer(model, shape_of(2)).attention_core.weight_gradient, "sinks wgrad");
  CHECK(wgrad.bytes_read == 8 * 10 * 2 + 4 * 2);  // of 2 heads and 10 tokens, and what is there of the gradient
  CHECK(wgrad.bytes_written == 4 * 2);
}

TEST_CASE("experts that cannot be so") {
  const auto problem = [](const std::string& more) { return errors_of(experts_model + more); };
  CHECK(problem("shared_gate = true\n") ==
        Names{"m.toml:16:15: \"shared_gate\": a gate of shared experts, of which there are none, allowed: false"});
  CHECK(problem("expert_groups = 3\ngroups_per_token = 1\n") ==
        Names{"m.toml:16:17: \"expert_groups\": 3 does not divide experts, which is 8"});
  CHECK(
      problem("expert_groups = 8\ngroups_per_token = 1\n") ==
      Names{"m.toml:17:20: \"groups_per_token\": 1 is out of range, allowed: 1 to 8, with 2 experts or more in them"});
  CHECK(problem("attention_chunk = 4\nsliding_window = 4\n") ==
        Names{"m.toml:16:19: \"attention_chunk\": a token has a window or a chunk, and not both: one of them is 0"});
}

}  // namespace expert_layers
}  // namespace
}  // namespace tessera::workload
