// Activation bytes kept by a layer: summed from its operators, against the formulas of Korthikanti et al. 2022,
// section 4.
#include "models_from.hpp"

namespace tessera::workload {
namespace {

struct Paper {
  double s, b, h, a, t;
  [[nodiscard]] double sbh() const { return s * b * h; }
  /// Equation 2: tensor parallelism alone.
  [[nodiscard]] double tensor() const { return sbh() * (10 + 24 / t + 5 * a * s / (h * t)); }
  /// Equation 4: with sequence parallelism.
  [[nodiscard]] double sequence() const { return sbh() / t * (34 + 5 * a * s / h); }
  /// Table 2: with sequence parallelism and selective recomputation.
  [[nodiscard]] double selective() const { return 34 * sbh() / t; }
  /// Table 2: full recomputation.
  [[nodiscard]] double full() const { return 2 * sbh(); }
};

struct Row {
  const char* file;
  std::int64_t micro_batch;
};

TEST_CASE("a layer keeps what the paper says, for the four models of its table 3") {
  const auto row = GENERATE(Row{"megatron-22b.toml", 4}, Row{"megatron-175b.toml", 1}, Row{"megatron-530b.toml", 1},
                            Row{"megatron-1t.toml", 1});
  const Model model = model_named(row.file);
  CAPTURE(row.file);
  const Paper paper{2048, static_cast<double>(row.micro_batch), static_cast<double>(model.hidden),
                    static_cast<double>(model.heads), 8};
  const LayerOperators plain = transformer_layer(model, shape_of_paper(row.micro_batch, false));
  const LayerOperators cut = transformer_layer(model, shape_of_paper(row.micro_batch, true));
  const auto bytes = [](const LayerOperators& layer, Recomputation recomputation) {
    return static_cast<double>(activation_bytes(layer, recomputation));
  };
  const auto within_one_percent = [](double expected) { return Approx(expected).epsilon(0.01); };
  CHECK(bytes(plain, Recomputation::none) == within_one_percent(paper.tensor()));
  CHECK(bytes(cut, Recomputation::none) == within_one_percent(paper.sequence()));
  CHECK(bytes(cut, Recomputation::selective) == within_one_percent(paper.selective()));
  CHECK(bytes(plain, Recomputation::full) == within_one_percent(paper.full()));
  // With sequence parallelism the kept input of the layer is one rank's part.
  CHECK(bytes(cut, Recomputation::full) == within_one_percent(paper.full() / paper.t));
}

TEST_CASE("who keeps what: GPT-3 175B on 8 ranks with sequence parallelism") {
  // sbh/t = 2048 x 1 x 12288 / 8 = 3,145,728; a s^2 b / t = 96 x 2048^2 / 8 = 50,331,648 scores.
  const std::int64_t unit = 3'145'728;
  const std::int64_t scores = 50'331'648;
  const LayerOperators layer = transformer_layer(model_named("megatron-175b.toml"), shape_of_paper(1, true));
  CHECK(layer.attention_norm.kept() == 2 * unit);         // its input in FP16
  CHECK(layer.qkv.kept() == 2 * unit);                    // its input, one rank's part, gathered again in backward
  CHECK(layer.attention_core.kept_input == 6 * unit);     // Q, K, V
  CHECK(layer.attention_core.kept_inside == 5 * scores);  // softmax 2, dropout mask 1, dropout output 2
  CHECK(layer.projection.kept() == 2 * unit);             // its input
  CHECK(layer.attention_residual.kept() == unit);         // dropout mask
  CHECK(layer.mlp_norm.kept() == 2 * unit);
  CHECK(layer.fc1.kept() == 2 * unit);
  CHECK(layer.activation.kept() == 8 * unit);  // 4h wide
  CHECK(layer.fc2.kept() == 8 * unit);
  CHECK(layer.mlp_residual.kept() == unit);
  CHECK(layer.router.kept() + layer.dispatch.kept() + layer.combine.kept() == 0);
}

TEST_CASE("embedding and head keep what the paper's section 4.3 says") {
  // Dropout mask of the embedding: sbh/t. Final norm 2sbh/t, logits' input 2sbh/t, FP32 softmax 4sbv/t.
  const Model model = model_named("megatron-175b.toml");
  const LayerShape shape = shape_of_paper(1, true);
  const std::int64_t unit = 2048LL * 12288 / 8;
  const EmbeddingOperators embedding = embedding_operators(model, shape);
  CHECK(embedding.lookup.kept() + embedding.combine.kept() == unit);
  const HeadOperators head = head_operators(model, shape);
  CHECK(head.norm.kept() == 2 * unit);
  CHECK(head.logits.kept() == 2 * unit);
  CHECK(head.loss[3].kept() == 4LL * 2048 * 51200 / 8);
  CHECK(head.loss[0].kept() + head.loss[1].kept() + head.loss[2].kept() == 0);
}

TEST_CASE("with fused attention the scores are not kept, their statistics are") {
  LayerShape shape = shape_of_paper(1, true);
  shape.flash_attention = true;
  const LayerOperators layer = transformer_layer(model_named("megatron-175b.toml"), shape);
  // 34 sbh/t, and 4 bytes for each of the 12 heads' 2048 queries.
  CHECK(activation_bytes(layer, Recomputation::none) == 34LL * 2048 * 12288 / 8 + 4LL * 12 * 2048);
  CHECK(activation_bytes(layer, Recomputation::selective) == 34LL * 2048 * 12288 / 8);
}

TEST_CASE("without dropout there are no masks and no second copy of the scores") {
  // Llama 2 7B on one rank, s = 4096, b = 1. In bytes per token: norms 2 x 2h, inputs of qkv and fc1 2 x 2h, Q K V 6h,
  // projection 2h, gate and up 2 x 2f, product 2f; softmax 2 a s for each token.
  LayerShape shape;
  shape.sequence = 4096;
  const LayerOperators layer = transformer_layer(model_named("llama2-7b.toml"), shape);
  const std::int64_t h = 4096;
  const std::int64_t f = 11008;
  const std::int64_t per_token = 4 * h + 4 * h + 6 * h + 2 * h + 6 * f;
  CHECK(activation_bytes(layer, Recomputation::selective) == 4096 * per_token);
  CHECK(activation_bytes(layer, Recomputation::none) == 4096 * (per_token + 2LL * 32 * 4096));
}

TEST_CASE("inference keeps no activations") {
  for (const Phase phase : {Phase::prompt, Phase::generation}) {
    LayerShape shape;
    shape.sequence = phase == Phase::prompt ? 512 : 1;
    shape.context = 512;
    shape.phase = phase;
    for (const char* file : {"llama2-70b.toml", "gpt3-175b.toml", "mixtral-8x7b.toml"}) {
      const Model model = model_named(file);
      const LayerOperators layer = transformer_layer(model, shape);
      CHECK(activation_bytes(layer, Recomputation::none) == 0);
      for (const OperatorSet* section : layer.in_order()) {
        CHECK(section->input_gradient.empty());
        CHECK(section->weight_gradient.empty());
      }
    }
  }
}

}  // namespace
}  // namespace tessera::workload
