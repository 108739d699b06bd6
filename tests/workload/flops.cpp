// FLOP of layers, logits and iterations against the closed forms of Korthikanti et al. 2022, appendix A.
#include "models_from.hpp"

namespace tessera::workload {
namespace {

std::int64_t forward_flops_of(const LayerOperators& layer) {
  std::int64_t flops = 0;
  for (const OperatorSet* section : layer.in_order()) flops += total_flops(section->forward);
  return flops;
}

std::int64_t backward_flops_of(const LayerOperators& layer) {
  std::int64_t flops = 0;
  for (const OperatorSet* section : layer.in_order()) {
    flops += total_flops(section->input_gradient) + total_flops(section->weight_gradient);
  }
  return flops;
}

TEST_CASE("a layer does 24 B s h^2 + 4 B s^2 h forward and twice that backward") {
  const auto file = GENERATE("megatron-22b.toml", "megatron-175b.toml", "megatron-530b.toml", "megatron-1t.toml");
  const Model model = model_named(file);
  const std::int64_t B = 4;
  const std::int64_t s = 2048;
  const std::int64_t h = model.hidden;
  const LayerOperators layer = transformer_layer(model, shape_of_paper(B, true));
  const std::int64_t expected = 24 * B * s * h * h + 4 * B * s * s * h;
  CHECK(forward_flops_of(layer) * 8 == expected);
  CHECK(backward_flops_of(layer) * 8 == 2 * expected);
  // Selective recomputation repeats scores and context: 4 B s^2 h.
  CHECK(total_flops(layer.attention_core.forward) * 8 == 4 * B * s * s * h);
  const HeadOperators head = head_operators(model, shape_of_paper(B, true));
  CHECK(total_flops(head.logits.forward) * 8 == 2 * B * s * h * model.vocabulary);
}

TEST_CASE("model FLOP of an iteration: 72 B s L h^2 (1 + s/6h + v/12hL)") {
  const Model model = model_named("megatron-175b.toml");
  const double B = 64;
  const double s = 2048;
  const double L = 96;
  const double h = 12288;
  const double v = 51200;
  const ForwardFlops flops = forward_flops(model, 2048, 2048, Phase::training);
  const double expected = 72 * B * s * L * h * h * (1 + s / (6 * h) + v / (12 * h * L));
  CHECK(3 * B * static_cast<double>(flops.total()) == Approx(expected).epsilon(1e-12));
  // Hardware FLOP with selective recomputation: 72 B s L h^2 (1 + s/3h + v/12hL), as the paper rounds it: the
  // recomputed 4 B s^2 h L are 1/18 s/h of 72 B s L h^2, so the exact sum has s/6h + s/18h.
  const double selective = 72 * B * s * L * h * h * (1 + s / (6 * h) + s / (18 * h) + v / (12 * h * L));
  CHECK(B * static_cast<double>(3 * flops.total() + flops.attention_core) == Approx(selective).epsilon(1e-12));
  // With full recomputation all layers run forward once more: 96 instead of 72, the logits as before.
  const double full = 96 * B * s * L * h * h * (1 + s / (6 * h)) + 6 * B * s * h * v;
  CHECK(B * static_cast<double>(3 * flops.total() + flops.layers) == Approx(full).epsilon(1e-12));
}

TEST_CASE("the dimensions alone and the operators agree on FLOP") {
  for (const char* file :
       {"llama2-70b.toml", "bloom-7b1.toml", "palm-540b.toml", "opt-6.7b.toml", "mixtral-8x7b.toml"}) {
    CAPTURE(file);
    const Model model = model_named(file);
    LayerShape shape;
    shape.sequence = 1024;
    const ForwardFlops flops = forward_flops(model, 1024, 1024, Phase::training);
    CHECK(flops.layers == model.layers * forward_flops_of(transformer_layer(model, shape)));
  }
}

TEST_CASE("a causal mask halves the work of fused attention") {
  // 8 queries see 1 + 2 + ... + 8 = 36 keys of 64; two products of 2 d FLOP each; backward five products.
  Model model = model_named("megatron-22b.toml");
  LayerShape shape;
  shape.sequence = 8;
  shape.flash_attention = true;
  const std::int64_t d = 96;
  LayerOperators layer = transformer_layer(model, shape);
  CHECK(total_flops(layer.attention_core.forward) == 4 * 64 * 36 * d);
  CHECK(total_flops(layer.attention_core.input_gradient) == 10 * 64 * 36 * d);
  model.causal = false;
  layer = transformer_layer(model, shape);
  CHECK(total_flops(layer.attention_core.forward) == 4 * 64 * 64 * d);
}

TEST_CASE("a window hides what is before it") {
  // 8 queries with a window of 3 see 1 + 2 + 3 x 6 = 21 keys.
  Model model = model_named("megatron-22b.toml");
  model.sliding_window = 3;
  LayerShape shape;
  shape.sequence = 8;
  shape.flash_attention = true;
  const std::int64_t d = 96;
  CHECK(total_flops(transformer_layer(model, shape).attention_core.forward) == 4 * 64 * 21 * d);
  CHECK(forward_flops(model, 8, 8, Phase::training).attention_core == Int128{4} * 48 * 8 * 3 * 6144);
  // Two new tokens behind 3 others: the first sees its 3, and so does the second; keys of 4 tokens are read.
  shape.phase = Phase::prompt;
  shape.sequence = 2;
  shape.context = 5;
  const Operator one = transformer_layer(model, shape).attention_core.forward.back();
  CHECK(one.visible == 64 * 6);
  CHECK(one.n == 4);
  // One behind one: it sees two, its window has room for more.
  shape.sequence = 1;
  shape.context = 2;
  CHECK(transformer_layer(model, shape).attention_core.forward.back().visible == 64 * 2);
  // Keys and values are kept of 3 tokens: 2 x 2 B x 6144 each.
  shape.context = 100;
  CHECK(kv_cache_bytes(model, shape) == 3 * 2 * 2 * 6144);
}

TEST_CASE("a generated token: two FLOP for each active weight, and the attention over its context") {
  const Model model = model_named("mixtral-8x7b.toml");
  const ForwardFlops flops = forward_flops(model, 1, 1000, Phase::generation);
  const std::int64_t core = 4LL * 32 * 1000 * 4096;
  CHECK(flops.attention_core == core);
  // Weights without the word embedding (a lookup) and the norms (not on the matrix units): 2 x 32 + 1 norms of h.
  const std::int64_t weights = active_parameter_count(model) - 32000LL * 4096 - 65LL * 4096;
  CHECK(flops.total() == 2 * weights + core);
}

}  // namespace
}  // namespace tessera::workload
