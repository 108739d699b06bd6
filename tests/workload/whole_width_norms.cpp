// Norms of queries and keys over all heads, whose statistics tensor ranks sum amid a section.
#include "models_from.hpp"

namespace tessera::workload {
namespace {
namespace whole_width {

/// h = 64, 4 heads of 16, two of keys and values, RMS norms, rotary positions.
Model model_of(const std::string& more) {
  return model_from(
      "name = \"m\"\nlayers = 2\nhidden = 64\nheads = 4\nkv_heads = 2\nffn_hidden = 96\ngated_mlp = true\n"
      "vocabulary = 100\nposition = \"rotary\"\nbias = false\nqkv_bias = false\ndropout = false\n" +
      more);
}
const std::string rms = "norm = \"rmsnorm\"\n", whole = "query_key_norm = \"whole-width\"\n";

/// 8 tokens of each of 3 sequences; 2 heads and 1 of keys and values on each of 2 ranks.
LayerShape shape_of(std::int64_t tensor) {
  LayerShape shape;
  shape.sequence = 8;
  shape.micro_batch = 3;
  shape.tensor = tensor;
  return shape;
}

TEST_CASE("a norm over all heads: on one rank two kernels as of heads, and nothing to sum") {
  const LayerOperators own = transformer_layer(model_of(rms + "query_key_norm = \"per-head\"\n"), shape_of(1));
  const LayerOperators layer = transformer_layer(model_of(rms + whole), shape_of(1));
  CHECK(names_of(layer.qkv.forward) == Names{"qkv", "query norm", "key norm", "rotary"});
  CHECK(names_of(layer.qkv.input_gradient) == names_of(own.qkv.input_gradient));
  CHECK(layer.qkv.exchange_steps.empty());
  CHECK(layer.qkv.gradient_exchange_steps.empty());
  CHECK(layer.qkv.kept() == own.qkv.kept());
}

TEST_CASE("a norm over all heads: tensor ranks sum a number of each token for queries and one for keys") {
  const LayerOperators layer = transformer_layer(model_of(rms + whole), shape_of(2));
  CHECK(names_of(layer.qkv.forward) ==
        Names{"qkv", "query norm statistics", "key norm statistics", "query norm", "key norm", "rotary"});
  // 24 tokens by 32 columns of queries and 16 of keys, 2 B each, and 4 B of each token.
  CHECK(moved(named(layer.qkv.forward, "query norm statistics")) == 2 * 24 * 32 + 4 * 24);
  CHECK(moved(named(layer.qkv.forward, "key norm statistics")) == 2 * 24 * 16 + 4 * 24);
  CHECK(moved(named(layer.qkv.forward, "query norm")) == 2 * 2 * 24 * 32 + 4 * 24);
  // Behind both, before the norms: one message, 4 B of each token for queries and for keys.
  REQUIRE(layer.qkv.exchange_steps.size() == 1);
  const ExchangeStep& sum = layer.qkv.exchange_steps.front();
  CHECK(sum.kind == ExchangeStep::Kind::tensor_sum);
  CHECK((sum.begin == 3 && sum.end == 3));
  CHECK((sum.bytes == 2 * 4 * 24 && sum.element == 4));
  // Back the gradients of what is turned; sums of products, and what is made of them.
  CHECK(names_of(layer.qkv.input_gradient) == Names{"rotary dgrad", "query norm statistics dgrad",
                                                    "key norm statistics dgrad", "query norm dgrad", "key norm dgrad",
                                                    "qkv dgrad"});
  CHECK(moved(named(layer.qkv.input_gradient, "query norm statistics dgrad")) == 2 * 2 * 24 * 32 + 4 * 24);
  CHECK(moved(named(layer.qkv.input_gradient, "query norm dgrad")) == 3 * 2 * 24 * 32 + 4 * 24);
  REQUIRE(layer.qkv.gradient_exchange_steps.size() == 1);
  const ExchangeStep& back = layer.qkv.gradient_exchange_steps.front();
  CHECK((back.begin == 3 && back.end == 3));
  CHECK(back.bytes == 2 * 4 * 24);
  // The input of each, as of norms of heads.
  CHECK(layer.qkv.kept() - transformer_layer(model_of(rms), shape_of(2)).qkv.kept() == 2 * 24 * (32 + 16));
}

TEST_CASE("a layernorm over all heads sums two numbers of each token") {
  const LayerOperators layer = transformer_layer(model_of(whole), shape_of(2));
  CHECK(layer.qkv.exchange_steps.at(0).bytes == 2 * 2 * 4 * 24);
  CHECK(moved(named(layer.qkv.forward, "key norm statistics")) == 2 * 24 * 16 + 2 * 4 * 24);
}

TEST_CASE("weights of a norm over all heads are cut as heads are") {
  const ParameterShare without = layer_parameters(model_of(rms), shape_of(2));
  const ParameterShare share = layer_parameters(model_of(rms + whole), shape_of(2));
  CHECK(share.sharded - without.sharded == (2 + 1) * 16);
  CHECK((share.replicated == without.replicated && share.partial == 0));
  CHECK(parameter_count(model_of(rms + whole)) - parameter_count(model_of(rms)) == 2 * (4 + 2) * 16);
}

TEST_CASE("what replaces an operator leaves sums where they stand among the others") {
  Stack stack;
  AddedOperation own;
  own.name = "fused norm";
  own.section = "qkv";
  own.replaces = "query norm";
  own.kind = OperatorKind::fused;
  own.width = "query";
  own.forward = own.backward = Bytes{4};
  stack.operations = {own};
  LayerShape shape = shape_of(2);
  shape.stack = &stack;
  const LayerOperators layer = transformer_layer(model_of(rms + whole), shape);
  CHECK(names_of(layer.qkv.forward) ==
        Names{"qkv", "query norm statistics", "key norm statistics", "key norm", "rotary", "fused norm"});
  CHECK(layer.qkv.exchange_steps.at(0).begin == 3);
  CHECK(names_of(layer.qkv.input_gradient) == Names{"fused norm dgrad", "rotary dgrad", "query norm statistics dgrad",
                                                    "key norm statistics dgrad", "key norm dgrad", "qkv dgrad"});
  CHECK(layer.qkv.gradient_exchange_steps.at(0).begin == 4);
}

TEST_CASE("OLMo 2 and 3: norms of outputs, and of queries and keys over all heads") {
  const auto file = [](const std::string& type, std::int64_t vocabulary, const std::string& more) {
    return "{\"model_type\": \"" + type +
           "\", \"hidden_size\": 4096, \"num_hidden_layers\": 32, \"num_attention_heads\": 32, "
           "\"intermediate_size\": 11008, \"max_position_embeddings\": 4096, \"attention_bias\": false, "
           "\"attention_dropout\": 0.0, \"vocab_size\": " +
           std::to_string(vocabulary) + more + "}";
  };
  const Model seven = model_from_config(file("olmo2", 100352, ""));
  CHECK(seven.sublayer_norms == SublayerNorms::output);
  CHECK(seven.query_key_norm == QueryKeyNorm::whole_width);
  // Two tables of words; of a layer four square matrices, three of the MLP, two norms of outputs and two of queries and
  // keys; one norm behind.
  CHECK(parameter_count(seven) ==
        2 * 100352LL * 4096 + 32 * (4 * 4096LL * 4096 + 3 * 4096LL * 11008 + 4 * 4096) + 4096);
  CHECK(parameter_count(seven) == 7'298'617'344);
  // allenai/Olmo-3-1025-7B: three of four layers have a window.
  const Model three = model_from_config(file("olmo3", 100278, ", \"sliding_window\": 4096"));
  CHECK(parameter_count(three) == 7'298'011'136);
  CHECK(three.layer_sequence == Names{"sliding * 3", "full"});
  CHECK(layer_kind(three, 0).query_key_norm == QueryKeyNorm::whole_width);
  CHECK(layer_kind(three, 0).sliding_window == 4096);
}

}  // namespace whole_width
}  // namespace
}  // namespace tessera::workload
