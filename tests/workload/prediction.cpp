// Modules that predict tokens further ahead, by hand.
#include "models_from.hpp"
#include "tessera/base/error.hpp"
#include "tessera/workload/graph.hpp"

namespace tessera::workload {
namespace {
namespace further_ahead {

/// h = 64, 4 heads of 16, an MLP of 96, gated, RMS norms.
Model model_of(const std::string& more) {
  return model_from(
      "name = \"m\"\nlayers = 2\nhidden = 64\nheads = 4\nffn_hidden = 96\ngated_mlp = true\nvocabulary = 128\n"
      "position = \"rotary\"\nnorm = \"rmsnorm\"\nbias = false\nqkv_bias = false\ndropout = false\n"
      "tied_embeddings = false\n" +
      more);
}

/// 8 tokens of each of 3 sequences.
LayerShape shape_of(std::int64_t tensor, bool sequence_parallel) {
  LayerShape shape;
  shape.sequence = 8;
  shape.micro_batch = 3;
  shape.tensor = tensor;
  shape.sequence_parallel = sequence_parallel;
  return shape;
}

TEST_CASE("a module norms both of its inputs, puts them side by side and makes one of them") {
  const PredictionOperators module = prediction_operators(model_of(""), shape_of(1, false));
  CHECK(names_of(module.combination.forward) ==
        Names{"prediction embedding norm", "prediction norm", "prediction concat"});
  CHECK(names_of(module.combination.input_gradient) == Names{"prediction concat dgrad",
                                                             "prediction embedding norm dgrad", "prediction norm dgrad",
                                                             "prediction norm residual gradient"});
  // 24 tokens by 64 elements of two inputs, 2 B each, read and written.
  CHECK(moved(named(module.combination.forward, "prediction concat")) == 2 * 2 * 2 * 24 * 64);
  CHECK(names_of(module.projection.forward) == Names{"prediction projection"});
  const Operator& product = named(module.projection.forward, "prediction projection");
  CHECK((product.m == 24 && product.k == 128 && product.n == 64));
  CHECK(module.projection.exchange_steps.empty());
  // The embedding, whose norm reads it, and both inputs of the product. What was made before is kept by the norm before
  // the logits.
  CHECK(module.combination.kept() == 2 * 24 * 64);
  CHECK(module.projection.kept() == 2 * 24 * 128);
}

TEST_CASE("a module on tensor ranks takes 128 elements of a token whole, and gathers 64") {
  const PredictionOperators module = prediction_operators(model_of(""), shape_of(2, true));
  CHECK(moved(named(module.combination.forward, "prediction concat")) == 2 * 2 * 2 * 12 * 64);
  const OperatorSet& set = module.projection;
  CHECK(names_of(set.forward) == Names{"prediction projection", "prediction layout"});
  CHECK(set.forward.front().n == 32);
  CHECK(set.whole_input == 128);
  CHECK(set.kept() == 2 * 12 * 128);
  REQUIRE(set.exchange_steps.size() == 1);
  CHECK(set.exchange_steps[0].kind == ExchangeStep::Kind::tensor_gather);
  CHECK((set.exchange_steps[0].begin == 1 && set.exchange_steps[0].bytes == 2 * 24 * 64));
  // Back the gradient of all tokens is gathered before all else, of which a rank takes its columns.
  CHECK(names_of(set.input_gradient) == Names{"prediction layout dgrad", "prediction projection dgrad"});
  CHECK(moved(set.input_gradient.front()) == 2 * 2 * 24 * 32);
  REQUIRE(set.gradient_exchange_steps.size() == 1);
  CHECK((set.gradient_exchange_steps[0].begin == 0 && set.gradient_exchange_steps[0].bytes == 2 * 24 * 64));
  // Without sequence parallelism it is whole.
  CHECK(prediction_operators(model_of(""), shape_of(2, false)).projection.gradient_exchange_steps.empty());
}

TEST_CASE("a module has the parameters of a layer, three norms and 2 h x h; FLOP accordingly, and of logits") {
  const Model none = model_of(""), two = model_of("prediction_depth = 2\n");
  // A layer: four matrices of attention, three of the MLP, two norms.
  const std::int64_t layer = 4 * 64 * 64 + 3 * 64 * 96 + 2 * 64;
  CHECK(parameter_count(two) - parameter_count(none) == 2 * (layer + 2 * 64 * 64 + 3 * 64));
  CHECK(active_parameter_count(two) - active_parameter_count(none) == 2 * (layer + 2 * 64 * 64 + 3 * 64));
  const ParameterShare share = prediction_parameters(two, shape_of(2, false));
  CHECK(share.sharded == (layer - 2 * 64 + 2 * 64 * 64) / 2);
  CHECK(share.replicated == 5 * 64);
  CHECK(prediction_products(two, shape_of(2, false)).sharded == share.sharded);
  const ForwardFlops one = forward_flops(none, 8, 8, Phase::training), more = forward_flops(two, 8, 8, Phase::training);
  // Two layers more are as much as the model has; two products of 8 x 128 x 64; two more of logits, 8 x 64 x 128.
  CHECK(more.layers == 2 * one.layers + 2 * 2 * 8 * 128 * 64);
  CHECK(more.attention_core == 2 * one.attention_core);
  CHECK(more.logits == 3 * one.logits);
  CHECK(forward_flops(two, 8, 8, Phase::prompt).total() == forward_flops(none, 8, 8, Phase::prompt).total());
}

TEST_CASE("DeepSeek-V3's module: 11.6 B parameters of its own, and its published files") {
  Model model = model_named("deepseek-v3.json");
  CHECK(model.prediction_depth == 0);  // its 671 B are published without
  CHECK(parameter_count(model) == 671'026'404'352);
  model.prediction_depth = 1;
  // Latent attention: queries by way of 1536 elements, keys and values of 512, 64 that positions turn, 128 heads.
  const std::int64_t h = 7168;
  const std::int64_t attention =
      h * 1536 + 1536 + 1536 * 128 * 192 + h * (512 + 64) + 512 + 512 * 128 * 256 + 128 * 128 * h;
  // 256 experts of 2048 columns and one that all tokens take; a router; norms before both.
  const std::int64_t layer = attention + 257 * 3 * h * 2048 + 256 * h + 2 * h;
  const std::int64_t module = layer + 2 * h * h + 3 * h;
  CHECK(module == 11'610'067'968);
  CHECK(parameter_count(model) - 671'026'404'352 == module);
  // Of a token 8 of 256 experts.
  Model plain = model;
  plain.prediction_depth = 0;
  CHECK(active_parameter_count(model) - active_parameter_count(plain) == module - 248 * 3 * h * 2048);
  // The files have biases of 59 routers, and embedding and output weight once more: 684.5 B, published as 685 B.
  CHECK(parameter_count(model) + 59 * 256 + 2 * 129280 * h == 684'489'845'504);
}

TEST_CASE("predictions of what is not causal are refused") {
  CHECK(errors_of("name = \"m\"\nlayers = 2\nhidden = 64\nheads = 4\nvocabulary = 128\nposition = \"rotary\"\n"
                  "causal = false\nprediction_depth = 1\n") ==
        Names{"m.toml:8:20: \"prediction_depth\": 1 in a model that does not predict the next token, allowed: 0"});
  const Model model = model_of("prediction_depth = 1\n");
  CHECK(beyond_plain(model) == "modules that predict further ahead (prediction_depth)");
  CHECK_THROWS_AS(lowered_graph(model, 8, "fp16", 1), KeyError);
  // A prompt has none of it.
  LayerShape shape = shape_of(1, false);
  CHECK_THROWS_AS(transformer_graph(model, shape), KeyError);
  shape.phase = Phase::prompt;
  CHECK(transformer_graph(model, shape).nodes.size() == transformer_graph(model_of(""), shape).nodes.size());
}

}  // namespace further_ahead
}  // namespace
}  // namespace tessera::workload
