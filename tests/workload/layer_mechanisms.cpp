// What layers of newer models run and keep besides, by hand.
#include "models_from.hpp"

namespace tessera::workload {
namespace {

/// h = 64, 4 heads of 16, an MLP of 96, gated, RMS norms, rotary positions, no biases, no dropout.
const std::string plain =
    "name = \"m\"\nlayers = 2\nhidden = 64\nheads = 4\nkv_heads = 2\nffn_hidden = 96\ngated_mlp = true\nvocabulary = "
    "100\nposition = \"rotary\"\nnorm = \"rmsnorm\"\nbias = false\nqkv_bias = false\ndropout = false\n";

Model model_of(const std::string& more) { return model_from(plain + more); }

/// 8 tokens on two tensor ranks: 2 heads, 1 of keys and values, 48 columns of the MLP.
LayerShape shape_of(bool sequence_parallel = false) {
  LayerShape shape;
  shape.sequence = 8;
  shape.tensor = 2;
  shape.sequence_parallel = sequence_parallel;
  return shape;
}

TEST_CASE("norms of queries and keys: one kernel each, before rotary positions, whose inputs are kept") {
  const LayerOperators none = transformer_layer(model_of(""), shape_of());
  const Model model = model_of("query_key_norm = \"shared\"\n");
  const LayerOperators layer = transformer_layer(model, shape_of());
  CHECK(names_of(layer.qkv.forward) == Names{"qkv", "query norm", "key norm", "rotary"});
  CHECK(names_of(layer.qkv.input_gradient) == Names{"rotary dgrad", "query norm dgrad", "key norm dgrad", "qkv dgrad"});
  // 8 tokens by 32 columns of queries and 16 of keys, 2 B each.
  CHECK(moved(named(layer.qkv.forward, "query norm")) == 2 * 2 * 8 * 32);
  CHECK(moved(named(layer.qkv.input_gradient, "key norm dgrad")) == 3 * 2 * 8 * 16);
  CHECK(layer.qkv.kept() - none.qkv.kept() == 2 * 8 * (32 + 16));
  CHECK(layer.attention_core.kept() == none.attention_core.kept());
  // Weights of a head for queries and for keys, on each rank, which sees its heads alone; or of each head, cut.
  const ParameterShare without = layer_parameters(model_of(""), shape_of());
  const ParameterShare shared = layer_parameters(model, shape_of());
  CHECK(shared.replicated - without.replicated == 2 * 16);
  CHECK(shared.partial == 2 * 16);
  const ParameterShare own = layer_parameters(model_of("query_key_norm = \"per-head\"\n"), shape_of());
  CHECK(own.sharded - without.sharded == (2 + 1) * 16);
  CHECK(own.replicated == without.replicated);
}

TEST_CASE("rotary positions: heads copied whole in training, their share in place in inference, or none") {
  const Model quarter = model_of("rotary_fraction = 0.25\n");
  CHECK(moved(named(transformer_layer(quarter, shape_of()).qkv.forward, "rotary")) == 2 * 2 * 8 * 48);
  LayerShape shape = shape_of();
  shape.phase = Phase::prompt;
  // 4 of 16 elements of 3 heads.
  CHECK(moved(named(transformer_layer(quarter, shape).qkv.forward, "rotary")) == 2 * 2 * 8 * 3 * 4);
  CHECK(names_of(transformer_layer(model_of("rotary_fraction = 0\n"), shape_of()).qkv.forward) == Names{"qkv"});
}

TEST_CASE("norms behind attention and MLP stand in the residual's section, and keep their input") {
  const LayerOperators both = transformer_layer(model_of("sublayer_norms = \"both\"\n"), shape_of(true));
  CHECK(names_of(both.attention_norm.forward) == Names{"attention norm"});
  CHECK(names_of(both.attention_residual.forward) == Names{"attention output norm", "attention residual"});
  CHECK(names_of(both.mlp_residual.input_gradient) == Names{"mlp output norm dgrad"});
  CHECK(names_of(both.mlp_residual.weight_gradient) == Names{"mlp output norm wgrad"});
  // 4 tokens of a rank, 64 elements, 2 B.
  CHECK(both.mlp_residual.kept() == 2 * 4 * 64);
  CHECK(moved(both.mlp_residual.forward[0]) == 2 * 2 * 4 * 64);
  // In the place of those before: the layer's input goes into the linear as it is, its gradients are summed all the
  // same.
  const LayerOperators output = transformer_layer(model_of("sublayer_norms = \"output\"\n"), shape_of(true));
  CHECK(output.attention_norm.empty());
  CHECK(names_of(output.attention_norm.input_gradient) == Names{"attention norm residual gradient"});
  CHECK(output.mlp_norm.kept() == 0);
  CHECK(output.qkv.kept_input == 2 * 4 * 64);
  // Norms of h each: two, four, two.
  CHECK(layer_parameters(model_of(""), shape_of()).replicated == 2 * 64);
  CHECK(layer_parameters(model_of("sublayer_norms = \"both\"\n"), shape_of()).replicated == 4 * 64);
  CHECK(layer_parameters(model_of("sublayer_norms = \"output\"\n"), shape_of()).replicated == 2 * 64);
  // A bias comes before the norm, which would have it otherwise.
  const LayerOperators biased =
      transformer_layer(model_of("sublayer_norms = \"both\"\nprojection_bias = \"yes\"\n"), shape_of());
  CHECK(names_of(biased.attention_residual.forward) ==
        Names{"attention output bias", "attention output norm", "attention residual"});
  CHECK(names_of(biased.mlp_residual.forward) == Names{"mlp output norm", "mlp residual"});
}

TEST_CASE("a parallel block with one norm: one gather, one sum each way, two kernels that add") {
  const LayerOperators none = transformer_layer(model_of(""), shape_of(true));
  const LayerOperators layer = transformer_layer(model_of("parallel_block = \"one-norm\"\n"), shape_of(true));
  CHECK(layer.attention_residual.empty());
  CHECK(layer.mlp_norm.empty());
  CHECK(names_of(layer.fc2.forward) == Names{"fc2", "parallel sum"});
  CHECK(names_of(layer.qkv.input_gradient) == Names{"rotary dgrad", "qkv dgrad", "parallel input gradient"});
  // All 8 tokens of what both made, and of both gradients: two read, one written.
  CHECK(moved(layer.fc2.forward.back()) == 3 * 2 * 8 * 64);
  CHECK(moved(layer.qkv.input_gradient.back()) == 3 * 2 * 8 * 64);
  CHECK(layer.qkv.whole_input == 64);
  CHECK(layer.fc1.whole_input == 0);
  CHECK(layer.projection.summed_output == 0);
  CHECK(layer.fc2.summed_output == 64);
  // Backward the MLP comes first: it gathers, attention's linear sums.
  CHECK(layer.fc1.backward_gathers() == 64);
  CHECK(layer.fc1.backward_sums() == 0);
  CHECK(layer.qkv.backward_gathers() == 0);
  CHECK(layer.qkv.backward_sums() == 64);
  // A norm and a residual fewer; of two norms' outputs, and of two inputs of norms, one is kept each.
  const std::int64_t tensor = 2 * 4 * 64;
  CHECK(activation_bytes(none, Recomputation::none) - activation_bytes(layer, Recomputation::none) == 2 * tensor);
  CHECK(activation_bytes(layer, Recomputation::full) == tensor);
  CHECK(layer_parameters(model_of("parallel_block = \"one-norm\"\n"), shape_of()).replicated == 64);
  CHECK(forward_flops(model_of("parallel_block = \"one-norm\"\n"), 8, 8, Phase::training).total() ==
        forward_flops(model_of(""), 8, 8, Phase::training).total());
}

TEST_CASE("a parallel block with two norms gathers and sums twice, and keeps the input of both once") {
  Model model = model_of("parallel_block = \"two-norms\"\n");
  model.bias = true;
  const LayerOperators layer = transformer_layer(model, shape_of(true));
  CHECK(names_of(layer.mlp_norm.forward) == Names{"mlp norm"});
  CHECK(layer.mlp_norm.kept() == 0);
  CHECK(layer.fc1.backward_gathers() == 64);
  CHECK(layer.fc1.backward_sums() == 64);
  CHECK(layer.qkv.backward_gathers() == 64);
  CHECK(layer.fc1.kept_input == 2 * 4 * 64);
  // The biases of both linear layers: h each, read by the kernel that adds the residual; a gradient each.
  CHECK(layer.mlp_residual.forward[0].bytes_read == 2 * (2 * 4 * 64 + 2 * 64));
  CHECK(names_of(layer.mlp_residual.weight_gradient) == Names{"mlp residual wgrad", "mlp residual wgrad"});
  CHECK(layer_parameters(model, shape_of()).replicated == 2 * 64 + 2 * 64);
}

TEST_CASE("of a parallel block runs again what stands between the norms and the sums, or all") {
  const auto problem = [](ParallelBlock block, const std::vector<LayerSection>& sections) {
    LayerFields kind;
    kind.parallel_block = block;
    Recomputed recomputed{{}, true};
    for (const LayerSection section : sections) recomputed.again.set(place_of(section));
    return problem_of(recomputed, kind);
  };
  using L = LayerOperators;
  CHECK(problem(ParallelBlock::one_norm, {&L::qkv, &L::attention_core, &L::fc1, &L::activation}).empty());
  CHECK(problem(ParallelBlock::two_norms, {&L::attention_norm, &L::mlp_norm, &L::fc1}).empty());
  CHECK(problem(ParallelBlock::one_norm, {&L::attention_norm}) ==
        "of a parallel block with one norm qkv, attention_core, fc1 and activation run again, or all sections");
  CHECK(problem(ParallelBlock::two_norms, {&L::projection, &L::attention_residual}) ==
        "of a parallel block attention_norm, qkv, attention_core, mlp_norm, fc1 and activation run again, or all "
        "sections");
  LayerFields kind;
  kind.parallel_block = ParallelBlock::one_norm;
  CHECK(problem_of(recomputed_by(Recomputation::full), kind).empty());
}

TEST_CASE("a soft cap of scores: a kernel each way on unfused scores, whose output is kept") {
  const LayerOperators none = transformer_layer(model_of(""), shape_of());
  LayerShape shape = shape_of();
  const Model model = model_of("attention_softcap = 50\n");
  LayerOperators layer = transformer_layer(model, shape);
  CHECK(names_of(layer.attention_core.forward) == Names{"scores", "soft cap", "softmax", "context", "context layout"});
  // 2 heads of 8 x 8 scores, masked ones too.
  CHECK(moved(named(layer.attention_core.forward, "soft cap")) == 2 * 2 * 128);
  CHECK(moved(named(layer.attention_core.input_gradient, "soft cap dgrad")) == 3 * 2 * 128);
  CHECK(layer.attention_core.kept() - none.attention_core.kept() == 2 * 128);
  shape.flash_attention = true;
  layer = transformer_layer(model, shape);
  CHECK(names_of(layer.attention_core.forward) == Names{"attention"});
}

TEST_CASE("dropout of probabilities alone") {
  const LayerOperators layer = transformer_layer(model_of("attention_dropout = true\n"), shape_of());
  CHECK(names_of(layer.attention_core.forward) ==
        Names{"scores", "softmax", "attention dropout", "context", "context layout"});
  CHECK(layer.attention_residual.kept() == 0);
}

TEST_CASE("a factor on the embedding, and a soft cap of the logits") {
  const Model model = model_of("embedding_scaling = true\nlogits_softcap = 30\n");
  const EmbeddingOperators embedding = embedding_operators(model, shape_of(true));
  CHECK(names_of(embedding.combine.forward) == Names{"embedding layout", "embedding scaling"});
  CHECK(names_of(embedding.combine.input_gradient) == Names{"embedding scaling dgrad", "embedding layout dgrad"});
  CHECK(moved(named(embedding.combine.forward, "embedding scaling")) == 2 * 2 * 4 * 64);
  const HeadOperators head = head_operators(model, shape_of(true));
  CHECK(names_of(head.logits.forward) == Names{"logits", "logits soft cap"});
  CHECK(names_of(head.logits.input_gradient) == Names{"logits soft cap dgrad", "logits dgrad"});
  // 8 tokens by 128 columns of 256.
  CHECK(moved(head.logits.forward.back()) == 2 * 2 * 8 * 128);
  CHECK(head.logits.kept_inside == 2 * 8 * 128);
}

TEST_CASE("layernorms without biases") {
  Model model = model_of("norm_bias = false\n");
  model.norm = Norm::layernorm;
  CHECK(layer_parameters(model, shape_of()).replicated == 2 * 64);
  model.norm_bias = true;
  CHECK(layer_parameters(model, shape_of()).replicated == 4 * 64);
}

TEST_CASE("what does not go together is refused by key") {
  const auto errors = [](const std::string& more) { return errors_of(plain + more); };
  CHECK(errors("parallel_block = \"one-norm\"\nsublayer_norms = \"both\"\n") ==
        Names{"m.toml:14:18: \"parallel_block\": what is side by side is summed as it is: none, or sublayer_norms = "
              "\"input\""});
  CHECK(errors("parallel_block = \"one-norm\"\nexperts = 4\nexperts_per_token = 1\n") ==
        Names{"m.toml:14:18: \"parallel_block\": experts are not beside attention, allowed: none"});
  CHECK(errors("rotary_fraction = 1.5\n") ==
        Names{"m.toml:14:19: \"rotary_fraction\": 1.5 is out of range, allowed: 0 to 1"});
  CHECK(beyond_plain(model_of("parallel_block = \"one-norm\"\n")) == "attention and MLP side by side (parallel_block)");
  CHECK(beyond_plain(model_of("query_key_norm = \"shared\"\n")) == "norms of queries and keys (query_key_norm)");
}

}  // namespace
}  // namespace tessera::workload
