// Which kernels a layer launches, in which order, and how many bytes they move.
#include "models_from.hpp"
#include "tessera/base/error.hpp"

namespace tessera::workload {
namespace {

TEST_CASE("parts of a layer have each section that does something once, in order") {
  const LayerOperators layer = transformer_layer(model_named("megatron-22b.toml"), shape_of_paper(4, true));
  const auto is_refused = [&](const std::vector<LayerPart>& parts) {
    try {
      refuse_other_parts(layer, parts);
      return false;
    } catch (const InternalError&) {
      return true;
    }
  };
  const std::size_t fc1 = place_of(&LayerOperators::fc1), last = LayerOperators::section_count - 1;
  const std::size_t router = place_of(&LayerOperators::router);  // which a dense layer has not, as two behind it
  CHECK(layer.in_order()[fc1] == &layer.fc1);
  CHECK_FALSE(is_refused({{0, last}}));
  CHECK_FALSE(is_refused({{0, router - 1}, {fc1, last}}));
  CHECK_FALSE(is_refused({{0, router}, {fc1, last}}));
  CHECK(is_refused({}));
  CHECK(is_refused({{0, last - 1}}));
  CHECK(is_refused({{1, last}}));
  CHECK(is_refused({{0, fc1}, {fc1, last}}));
  CHECK(is_refused({{0, fc1 - 1}, {fc1 + 1, last}}));
  CHECK(is_refused({{fc1, last}, {0, fc1 - 1}}));
  CHECK(is_refused({{0, last + 1}}));
}

TEST_CASE("Megatron's layer launches these kernels, in this order") {
  const LayerOperators layer = transformer_layer(model_named("megatron-22b.toml"), shape_of_paper(4, true));
  Names forward;
  Names backward;
  for (const OperatorSet* section : layer.in_order()) {
    for (const std::string& name : names_of(section->forward)) forward.push_back(name);
  }
  const auto sections = layer.in_order();
  for (auto section = sections.rbegin(); section != sections.rend(); ++section) {
    for (const std::string& name : names_of((*section)->input_gradient)) backward.push_back(name);
    for (const std::string& name : names_of((*section)->weight_gradient)) backward.push_back(name);
  }
  CHECK(forward == Names{"attention norm", "qkv", "qkv bias", "scores", "softmax", "attention dropout", "context",
                         "context layout", "projection", "attention residual", "mlp norm", "fc1", "activation", "fc2",
                         "mlp residual"});
  CHECK(backward == Names{"mlp residual dgrad",
                          "mlp residual wgrad",
                          "fc2 dgrad",
                          "fc2 wgrad",
                          "activation dgrad",
                          "activation bias wgrad",
                          "fc1 dgrad",
                          "fc1 wgrad",
                          "mlp norm dgrad",
                          "mlp norm residual gradient",
                          "mlp norm wgrad",
                          "attention residual dgrad",
                          "attention residual wgrad",
                          "projection dgrad",
                          "projection wgrad",
                          "context dgrad scores",
                          "context dgrad values",
                          "attention dropout dgrad",
                          "softmax dgrad",
                          "scores dgrad queries",
                          "scores dgrad keys",
                          "qkv gradient layout",
                          "qkv dgrad",
                          "qkv wgrad",
                          "qkv bias wgrad",
                          "attention norm dgrad",
                          "attention norm residual gradient",
                          "attention norm wgrad"});
}

TEST_CASE("bytes of the kernels of one rank, by hand") {
  // 22B, t = 8, b = 1, s = 2048, h = 6144, no sequence parallelism: sbh = 12,582,912; 8 heads of 96: 768 columns of Q.
  const LayerOperators layer = transformer_layer(model_named("megatron-22b.toml"), shape_of_paper(1, false));
  const std::int64_t sbh = 12'582'912;

  const Operator& norm = layer.attention_norm.forward.front();
  CHECK(norm.kind == OperatorKind::norm);
  CHECK(norm.bytes_read == 2 * sbh);
  CHECK(norm.bytes_written == 2 * sbh);

  const Operator& qkv = named(layer.qkv.forward, "qkv");
  CHECK(std::vector{qkv.m, qkv.n, qkv.k} == std::vector<std::int64_t>{2048, 2304, 6144});
  CHECK(qkv.bytes_read == 2 * (2048LL * 6144 + 6144LL * 2304));
  CHECK(qkv.bytes_written == 2LL * 2048 * 2304);

  // 8 score matrices of 2048^2 = 33,554,432 elements; 2048 x 2049 / 2 x 8 = 16,785,408 of them not masked.
  const Operator& softmax = named(layer.attention_core.forward, "softmax");
  CHECK(softmax.bytes_read == 2LL * 16'785'408);
  CHECK(softmax.bytes_written == 2LL * 33'554'432);
  const Operator& dropout = named(layer.attention_core.forward, "attention dropout");
  CHECK(dropout.bytes_read == 2LL * 33'554'432);
  CHECK(dropout.bytes_written == 3LL * 33'554'432);  // FP16 and a mask of one byte
  const Operator& undropout = named(layer.attention_core.input_gradient, "attention dropout dgrad");
  CHECK(undropout.bytes_read == 3LL * 33'554'432);
  CHECK(undropout.bytes_written == 2LL * 33'554'432);
  const Operator& scores = named(layer.attention_core.forward, "scores");
  CHECK(std::vector{scores.batch, scores.m, scores.n, scores.k} == std::vector<std::int64_t>{8, 2048, 2048, 96});

  const Operator& residual = layer.attention_residual.forward.front();
  CHECK(residual.bytes_read == 4 * sbh + 2 * 6144);
  CHECK(residual.bytes_written == 3 * sbh);

  const Operator& activation = layer.activation.forward.front();
  CHECK(activation.bytes_read == 2LL * 2048 * 3072 + 2 * 3072);
  CHECK(activation.bytes_written == 2LL * 2048 * 3072);
}

TEST_CASE("a weight gradient is added in the precision of the gradient buffer") {
  LayerShape shape = shape_of_paper(1, false);
  const Model model = model_named("megatron-22b.toml");
  const std::int64_t weights = 6144LL * 3072;
  const std::int64_t operands = 2 * (2048LL * 6144 + 2048LL * 3072);
  LayerOperators layer = transformer_layer(model, shape);
  Operator wgrad = named(layer.fc1.weight_gradient, "fc1 wgrad");
  CHECK(std::vector{wgrad.m, wgrad.n, wgrad.k} == std::vector<std::int64_t>{3072, 6144, 2048});
  CHECK(wgrad.bytes_read == operands + 4 * weights);
  CHECK(wgrad.bytes_written == 4 * weights);
  shape.gradient_bytes = 2;
  layer = transformer_layer(model, shape);
  CHECK(named(layer.fc1.weight_gradient, "fc1 wgrad").bytes_written == 2 * weights);
  // Without the fused kernel the product is written in FP16 and added by a second one.
  shape.fused_accumulation = false;
  shape.gradient_bytes = 4;
  layer = transformer_layer(model, shape);
  CHECK(names_of(layer.fc1.weight_gradient) == Names{"fc1 wgrad", "fc1 accumulate"});
  CHECK(layer.fc1.weight_gradient[0].bytes_read == operands);
  CHECK(layer.fc1.weight_gradient[0].bytes_written == 2 * weights);
  CHECK(layer.fc1.weight_gradient[1].bytes_read == 6 * weights);
  CHECK(layer.fc1.weight_gradient[1].bytes_written == 4 * weights);
}

TEST_CASE("sequence parallelism cuts norms and residuals, tensor parallelism the rest") {
  const Model model = model_named("megatron-175b.toml");
  const LayerOperators whole = transformer_layer(model, shape_of_paper(1, false));
  const LayerOperators cut = transformer_layer(model, shape_of_paper(1, true));
  CHECK(whole.attention_norm.forward[0].bytes_read == 8 * cut.attention_norm.forward[0].bytes_read);
  CHECK(whole.mlp_residual.forward[0].bytes_written == 8 * cut.mlp_residual.forward[0].bytes_written);
  CHECK(whole.fc1.forward == cut.fc1.forward);
  CHECK(whole.attention_core.forward == cut.attention_core.forward);
  CHECK(whole.fc2.kept() == cut.fc2.kept());
}

TEST_CASE("grouped-query attention: the queries of a group are rows of one product") {
  // Llama 2 70B on 8 ranks: 8 query heads and 1 head of keys and values on a rank, s = 1024.
  LayerShape shape;
  shape.sequence = 1024;
  shape.tensor = 8;
  const LayerOperators layer = transformer_layer(model_named("llama2-70b.toml"), shape);
  const Operator& scores = named(layer.attention_core.forward, "scores");
  CHECK(std::vector{scores.batch, scores.m, scores.n, scores.k} == std::vector<std::int64_t>{1, 8 * 1024, 1024, 128});
  CHECK(named(layer.qkv.forward, "qkv").n == (8 + 2) * 128);
  CHECK(layer.attention_core.kept_input == 2LL * 1024 * (8 + 2) * 128);
  CHECK(names_of(layer.qkv.forward) == Names{"qkv", "rotary"});
  CHECK(layer.qkv.input_gradient.front().name == "rotary dgrad");
  // More ranks than such heads: each rank holds a copy of one.
  shape.tensor = 16;
  CHECK(named(transformer_layer(model_named("llama2-70b.toml"), shape).qkv.forward, "qkv").n == (4 + 2) * 128);
}

TEST_CASE("a gated MLP has two columns of the first matrix for each of the second") {
  LayerShape shape;
  shape.sequence = 16;
  shape.tensor = 2;
  const LayerOperators layer = transformer_layer(model_named("llama2-7b.toml"), shape);
  CHECK(layer.fc1.forward[0].n == 11008);
  CHECK(layer.fc2.forward[0].k == 5504);
  CHECK(layer.activation.forward[0].name == "gate");
  CHECK(layer.activation.forward[0].bytes_read == 2LL * 16 * 11008);
  CHECK(layer.activation.forward[0].bytes_written == 2LL * 16 * 5504);
}

TEST_CASE("a generated token reads the whole cache of keys and values") {
  // Llama 2 7B, b = 4, 1000 tokens cached, the new one included: K is 1000 x 128 for each of 4 x 32 heads.
  LayerShape shape;
  shape.sequence = 1;
  shape.context = 1000;
  shape.micro_batch = 4;
  shape.phase = Phase::generation;
  const Model model = model_named("llama2-7b.toml");
  LayerOperators layer = transformer_layer(model, shape);
  const Operator& scores = named(layer.attention_core.forward, "scores");
  CHECK(std::vector{scores.batch, scores.m, scores.n, scores.k} == std::vector<std::int64_t>{128, 1, 1000, 128});
  CHECK(scores.bytes_read == 2LL * 128 * (128 + 1000 * 128));
  CHECK(named(layer.attention_core.forward, "kv cache").bytes_written == 2LL * 2 * 4 * 4096);
  CHECK(kv_cache_bytes(model, shape) == 2LL * 2 * 4 * 1000 * 4096);
  // 65,536,000 B a layer: 140,737,488,355 of them are the most below 2^63.
  CHECK(kv_cache_bytes(model, shape, 140'737'488'355) == 65'536'000LL * 140'737'488'355);
  CHECK_THROWS_AS(kv_cache_bytes(model, shape, 140'737'488'356), KeyError);
  shape.flash_attention = true;
  layer = transformer_layer(model, shape);
  CHECK(named(layer.attention_core.forward, "attention").bytes_read == 2LL * (4 * 4096 + 2 * 4 * 1000 * 4096));
}

TEST_CASE("keys and values may be cached in another datatype, which kernels convert on their way") {
  // As above: 4 tokens of 4096 columns are read in 2 B and written in 1 B, twice; then 4000 are read in 1 B, twice.
  LayerShape shape;
  shape.sequence = 1;
  shape.context = 1000;
  shape.micro_batch = 4;
  shape.phase = Phase::generation;
  shape.flash_attention = true;
  const Model model = model_named("llama2-7b.toml");
  const auto core = [&] { return transformer_layer(model, shape).attention_core.forward; };
  for (const char* datatype : {"fp8", "int8"}) {
    shape.cache_datatype = datatype;
    CHECK(named(core(), "kv cache").bytes_read == 2LL * 2 * 4 * 4096);
    CHECK(named(core(), "kv cache").bytes_written == 2LL * 4 * 4096);
    CHECK(named(core(), "attention").bytes_read == 2LL * 4 * 4096 + 2LL * 4 * 1000 * 4096);
    CHECK(named(core(), "attention").datatype == "fp16");
    CHECK(kv_cache_bytes(model, shape) == 2LL * 4 * 1000 * 4096);
  }
  // A prompt's attention reads keys and values as the product has made them, and leaves them in the cache.
  shape.phase = Phase::prompt;
  shape.sequence = shape.context;
  CHECK(named(core(), "attention").bytes_read == 2LL * 3 * 4 * 1000 * 4096);
  CHECK(named(core(), "kv cache").bytes_written == 2LL * 4 * 1000 * 4096);
  shape.flash_attention = false;
  CHECK(named(core(), "kv cache").bytes_written == 2LL * 4 * 1000 * 4096);
  // Products of attention convert nothing.
  shape.phase = Phase::generation;
  shape.sequence = 1;
  CHECK_THROWS_AS(core(), KeyError);
  shape.cache_datatype = "fp16";
  CHECK(named(core(), "scores").bytes_read == 2LL * 128 * (128 + 1000 * 128));
}

TEST_CASE("experts: router, copies, and a batch of products") {
  // Mixtral on 4 expert-parallel ranks, s = 1024, b = 1: two experts on a rank; an even load is 2 x 1024 tokens on each
  // rank (every rank of the group sends as many as it gets), 1024 for an expert.
  LayerShape shape;
  shape.sequence = 1024;
  shape.expert_parallel = 4;
  const Model model = model_named("mixtral-8x7b.toml");
  LayerOperators layer = transformer_layer(model, shape);
  CHECK(names_of(layer.router.forward) == Names{"router", "router softmax"});
  CHECK(layer.router.forward[0].n == 8);
  CHECK(layer.dispatch.forward[0].bytes_written == 2 * layer.dispatch.forward[0].bytes_read);
  CHECK(layer.combine.forward[0].bytes_read == 2 * layer.combine.forward[0].bytes_written);
  const Operator& fc1 = named(layer.fc1.forward, "expert fc1");
  CHECK(std::vector{fc1.batch, fc1.m, fc1.n, fc1.k} == std::vector<std::int64_t>{2, 1024, 28672, 4096});
  // An uneven load of 2049 tokens: 1025 for the fuller expert.
  shape.expert_tokens = 2049;
  layer = transformer_layer(model, shape);
  CHECK(named(layer.fc1.forward, "expert fc1").m == 1025);
  // One token: one expert works.
  shape.expert_tokens = 1;
  layer = transformer_layer(model, shape);
  CHECK(named(layer.fc1.forward, "expert fc1").batch == 1);
}

TEST_CASE("shared experts run for every token beside the routed ones") {
  Model model = model_named("mixtral-8x7b.toml");
  model.shared_experts = 1;
  LayerShape shape;
  shape.sequence = 64;
  const LayerOperators layer = transformer_layer(model, shape);
  CHECK(names_of(layer.fc1.forward) == Names{"expert fc1", "shared fc1"});
  CHECK(named(layer.fc1.forward, "shared fc1").m == 64);
}

TEST_CASE("the head works on the last token alone outside training") {
  LayerShape shape;
  shape.sequence = 512;
  shape.micro_batch = 3;
  shape.phase = Phase::prompt;
  const HeadOperators head = head_operators(model_named("llama2-7b.toml"), shape);
  CHECK(head.logits.forward[0].m == 3);
  CHECK(head.loss[0].empty());
  CHECK(head.loss[3].empty());
}

TEST_CASE("cross entropy over a cut vocabulary: four steps in FP32") {
  // 51,200 / 8 = 6,400 columns, 2048 tokens: 13,107,200 logits.
  const HeadOperators head = head_operators(model_named("megatron-22b.toml"), shape_of_paper(1, true));
  const std::int64_t logits = 13'107'200;
  CHECK(names_of(head.loss[0].forward) == Names{"logits to fp32", "loss maximum"});
  CHECK(head.loss[0].forward[0].bytes_read == 2 * logits);
  CHECK(head.loss[0].forward[0].bytes_written == 4 * logits);
  CHECK(names_of(head.loss[1].forward) == Names{"loss subtract maximum", "loss target"});
  CHECK(names_of(head.loss[2].forward) == Names{"loss exponential", "loss sum"});
  CHECK(names_of(head.loss[3].forward) == Names{"loss quotient"});
  CHECK(names_of(head.loss[3].input_gradient) == Names{"loss dgrad", "logits gradient"});
}

TEST_CASE("embedding: rows of other ranks are masked, the gradient of the table is added to its buffer") {
  const Model model = model_named("megatron-22b.toml");
  const EmbeddingOperators embedding = embedding_operators(model, shape_of_paper(1, true));
  CHECK(names_of(embedding.lookup.forward) == Names{"word embedding", "word embedding mask"});
  const std::int64_t table = 6400LL * 6144;
  CHECK(named(embedding.lookup.weight_gradient, "word embedding accumulate").bytes_read == (2 + 4) * table);
  CHECK(named(embedding.lookup.weight_gradient, "word embedding accumulate").bytes_written == 4 * table);
  CHECK(names_of(embedding.combine.forward) ==
        Names{"position embedding", "position embedding sum", "embedding layout", "embedding dropout"});
  CHECK(names_of(embedding.combine.input_gradient) == Names{"embedding dropout dgrad", "embedding layout dgrad"});
  const Model bloom = model_named("bloom-7b1.toml");
  LayerShape shape;
  shape.sequence = 16;
  CHECK(names_of(embedding_operators(bloom, shape).lookup.forward) == Names{"word embedding"});
  CHECK(names_of(embedding_operators(bloom, shape).combine.forward) == Names{"embedding norm", "embedding layout"});
}

TEST_CASE("mixed-precision Adam moves these bytes for each parameter") {
  // FP16 weights, FP32 gradient buffer, 1000 weights of which this device updates 250 (distributed optimizer).
  const OptimizerShape shape = {1000, 250, "fp16", 4};
  CHECK(shape.state_bytes() == 12);  // FP32 weight, two moments
  const OptimizerOperators ops = optimizer_operators(shape);
  REQUIRE(ops.zero.size() == 1);
  CHECK(ops.zero[0].bytes_written == 4000);
  CHECK(ops.average[0].bytes_read == 4000);
  CHECK(names_of(ops.unscale) == Names{"unscale gradients"});
  CHECK(ops.unscale[0].bytes_read == 1000);
  CHECK(ops.norm[0].bytes_read == 1000);
  CHECK(names_of(ops.step) == Names{"adam", "weights from fp32"});
  CHECK(ops.step[0].bytes_read == 16 * 250);     // gradient, weight, two moments
  CHECK(ops.step[0].bytes_written == 12 * 250);  // weight, two moments
  CHECK(ops.step[1].bytes_written == 2 * 250);
  // An FP16 gradient buffer is converted first; bfloat16 needs no loss scale; FP32 weights are updated in place.
  CHECK(names_of(optimizer_operators({1000, 1000, "fp16", 2}).unscale) ==
        Names{"gradients to fp32", "unscale gradients"});
  CHECK(optimizer_operators({1000, 1000, "bf16", 4}).unscale.empty());
}

TEST_CASE("what Adam keeps of a weight, and in which precision its moments are, decides what it moves") {
  const auto step = [](const OptimizerShape& shape) { return optimizer_operators(shape).step; };
  // FP32 weights are their own: 4 + 4 + 8 bytes read a parameter, 4 + 8 written, 8 of state, nothing to copy back.
  const OptimizerShape whole = {1000, 1000, "fp32", 4};
  CHECK(whole.state_bytes() == 8);
  CHECK(names_of(step(whole)) == Names{"adam"});
  CHECK(step(whole)[0].bytes_read == 16000);
  CHECK(step(whole)[0].bytes_written == 12000);
  CHECK(OptimizerShape{1000, 1000, "tf32", 4}.state_bytes() == 8);  // stored as FP32
  // The other half of each BF16 weight: the same bytes, 2 + 8 of them state.
  const OptimizerShape remainder = {1000, 1000, "bf16", 4, 4, MasterWeights::remainder};
  CHECK(remainder.state_bytes() == 10);
  CHECK(names_of(step(remainder)) == Names{"adam"});
  CHECK(step(remainder)[0].bytes_read == 16000);
  CHECK(step(remainder)[0].bytes_written == 12000);
  // BF16 throughout: gradient 4, weight 2, moments 2 x 2.
  const OptimizerShape lean = {1000, 1000, "bf16", 4, 2, MasterWeights::none};
  CHECK(lean.state_bytes() == 4);
  CHECK(step(lean)[0].bytes_read == 10000);
  CHECK(step(lean)[0].bytes_written == 6000);
  // FP8 moments beside FP32 weights: 4 + 4 + 2 read, 4 + 2 written, and the weights copied back.
  const OptimizerShape small = {1000, 1000, "bf16", 4, 1};
  CHECK(small.state_bytes() == 6);
  CHECK(names_of(step(small)) == Names{"adam", "weights from fp32"});
  CHECK(step(small)[0].bytes_read == 10000);
  CHECK(step(small)[0].bytes_written == 6000);
}

void check_refused(const Model& model, const LayerShape& shape, const std::string& message) {
  CHECK_THROWS_AS(transformer_layer(model, shape), InputError);
  CHECK_THROWS_WITH(transformer_layer(model, shape), message);
}

TEST_CASE("a cut that does not fit the model is refused") {
  const Model model = model_named("megatron-22b.toml");
  LayerShape shape = shape_of_paper(1, true);
  shape.tensor = 24;
  check_refused(model, shape, "heads = 64 is not a multiple of the 24 tensor-parallel ranks");
  shape.heads_per_rank = 3;  // padded
  shape.kv_heads_per_rank = 3;
  // 2,048 tokens over 24 ranks: 86 on those that have the most.
  CHECK(transformer_layer(model, shape).qkv.kept_input == 86 * shape.micro_batch * 6144 * 2);
  shape.sequence_parallel = false;
  CHECK(transformer_layer(model, shape).projection.forward[0].k == 3 * 96);
  shape.tensor = 7;
  check_refused(model, shape, "ffn_hidden = 24576 is not a multiple of the 7 tensor-parallel ranks");
  shape = shape_of_paper(1, true);
  shape.context = 100;
  check_refused(model, shape, "context = 100 is shorter than the sequence of 2048 tokens that it contains");
  shape = shape_of_paper(0, false);
  check_refused(model, shape,
                "a layer needs a sequence, micro-batch, tensor and expert parallelism of at least 1, not 2048, 0, 8 "
                "and 1");
  shape = shape_of_paper(1, false);
  shape.datatype = "fp12";
  check_refused(model, shape, "unknown datatype \"fp12\"; choices are fp32, tf32, fp16, bf16, fp8, int8");
  LayerShape experts;
  experts.sequence = 8;
  experts.expert_parallel = 3;
  check_refused(model_named("mixtral-8x7b.toml"), experts,
                "experts = 8 is not a multiple of the 3 expert-parallel ranks");
}

}  // namespace
}  // namespace tessera::workload
