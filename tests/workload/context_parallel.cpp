// The attention core of ranks that share their sequences: nothing is computed twice or left out, and all have as much
// to do.
#include <catch2/catch.hpp>

#include <numeric>

#include "tessera/base/error.hpp"
#include "tessera/workload/transformer.hpp"

namespace tessera::workload {
namespace {

/// Eight heads of 16 numbers, two of them with keys and values of their own.
Model grouped(bool causal = true) {
  Model model;
  model.name = "grouped";
  model.layers = 1;
  model.hidden = 128;
  model.heads = 8;
  model.kv_heads = 4;
  model.head_dim = 16;
  model.ffn_hidden = 512;
  model.vocabulary = 128;
  model.max_positions = 1024;
  model.causal = causal;
  model.dropout = false;
  return model;
}

/// Eight heads of 16 + 8 numbers of queries and keys, and 16 of values, made of 32 that are compressed.
Model latent() {
  Model model = grouped();
  model.name = "latent";
  model.position = PositionEmbedding::rotary;
  model.qkv_bias = false;
  model.kv_heads = 8;
  model.head_dim = 24;
  model.value_dim = 16;
  model.rotary_dim = 8;
  model.kv_rank = 32;
  return model;
}

/// Of `sequence` tokens in all.
LayerShape shape_of(std::int64_t sequence, std::int64_t ranks, ContextExchange exchange, std::int64_t rank = 0) {
  LayerShape shape;
  shape.sequence = sequence / ranks;
  shape.context_parallel = ranks;
  shape.context_rank = rank;
  shape.context_exchange = exchange;
  shape.micro_batch = 3;
  shape.flash_attention = true;
  return shape;
}

OperatorSet core(const Model& model, const LayerShape& shape) { return transformer_layer(model, shape).attention_core; }

std::int64_t visible(const std::vector<Operator>& operators) {
  return std::accumulate(operators.begin(), operators.end(), std::int64_t{0},
                         [](std::int64_t sum, const Operator& op) { return sum + op.visible; });
}

std::int64_t sent(const std::vector<ExchangeStep>& steps) {
  return std::accumulate(steps.begin(), steps.end(), std::int64_t{0},
                         [](std::int64_t sum, const ExchangeStep& step) { return sum + step.bytes; });
}

constexpr auto schemes = {ContextExchange::ring, ContextExchange::all_to_all, ContextExchange::all_gather};

}  // namespace

TEST_CASE("context parallelism: each rank sees as many pairs, and all together those of the whole sequence") {
  constexpr std::int64_t s = 48, products = 3 * 8;
  for (const bool causal : {true, false}) {
    const std::int64_t pairs = causal ? s * (s + 1) / 2 : s * s;
    for (const ContextExchange scheme : schemes) {
      for (const std::int64_t ranks : {2, 4}) {
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
          CAPTURE(causal, static_cast<int>(scheme), ranks, rank);
          const OperatorSet set = core(grouped(causal), shape_of(s, ranks, scheme, rank));
          CHECK(visible(set.forward) == products * pairs / ranks);
          CHECK(visible(set.input_gradient) == products * pairs / ranks);
          CHECK(total_flops(set.forward) == 4 * 16 * products * pairs / ranks);
        }
      }
    }
  }
}

TEST_CASE(
    "context parallelism: every step of a ring but the first is half of all pairs of the tokens, without a mask") {
  // Rank 1 of three, with pieces 1 and 4 of six, 8 tokens each. Rank 0's pieces are 0 and 5: all queries see piece 0.
  // Rank 2's are 2 and 3: the queries of piece 4 see both.
  const OperatorSet set = core(grouped(), shape_of(48, 3, ContextExchange::ring, 1));
  const auto is = [&](const Operator& op, std::int64_t queries, std::int64_t keys, std::int64_t pairs) {
    CHECK(op.m == queries);
    CHECK(op.n == keys);
    CHECK(op.visible == 24 * pairs);
  };
  is(named(set.forward, "attention", 0), 16, 16, 16 * 17 / 2);
  is(named(set.forward, "attention", 1), 16, 8, 16 * 8);
  is(named(set.forward, "attention", 2), 8, 16, 8 * 16);
  // Backward they come in the other order.
  is(named(set.input_gradient, "attention dgrad", 0), 8, 16, 8 * 16);
  is(named(set.input_gradient, "attention dgrad", 1), 16, 8, 16 * 8);
  is(named(set.input_gradient, "attention dgrad", 2), 16, 16, 16 * 17 / 2);
}

TEST_CASE("context parallelism: what goes round is keys and values, and backward their gradients too") {
  // 3 x 16 tokens of a rank with 4 x 16 numbers of K and as many of V, 2 B each.
  constexpr std::int64_t keys_values = 2 * 3 * 16 * 64 * 2;
  const OperatorSet set = core(grouped(), shape_of(48, 3, ContextExchange::ring, 1));
  REQUIRE(set.exchange_steps.size() == 2);
  for (const ExchangeStep& step : set.exchange_steps) CHECK(step.bytes == keys_values);
  REQUIRE(set.gradient_exchange_steps.size() == 3);
  CHECK(set.gradient_exchange_steps[0].bytes == keys_values);      // gradients are still to be computed
  CHECK(set.gradient_exchange_steps[1].bytes == 2 * keys_values);  // both
  CHECK(set.gradient_exchange_steps[2].bytes == keys_values);      // the gradients come home
  // Each begins in front of the attention that it runs beside, and has to be over behind that.
  for (const ExchangeStep& step : set.exchange_steps) {
    CHECK(set.forward.at(step.begin).kind == OperatorKind::attention);
    CHECK(step.end == step.begin + 2);  // statistics are merged beside it too
  }
}

TEST_CASE("context parallelism: outputs of a ring's steps are merged by their statistics") {
  // Output: 3 x 16 tokens of 128 numbers in 2 B. Statistics: 3 x 16 x 8 in 4 B. Rank 1 of three sees half of the
  // queries in its last step.
  constexpr std::int64_t output = 3 * 16 * 128 * 2, statistics = 3 * 16 * 8 * 4;
  const OperatorSet set = core(grouped(), shape_of(48, 3, ContextExchange::ring, 1));
  const auto moves = [](const Operator& op, std::int64_t read, std::int64_t written) {
    CHECK(op.bytes_read == read);
    CHECK(op.bytes_written == written);
  };
  moves(named(set.forward, "softmax statistics"), statistics, statistics);
  moves(named(set.forward, "merged statistics", 0), 2 * statistics, statistics);
  moves(named(set.forward, "merged statistics", 1), statistics, statistics / 2);
  moves(named(set.forward, "merged output", 0), output + 2 * statistics, output);
  moves(named(set.forward, "merged output", 1), 2 * output + 2 * statistics, output);
  moves(named(set.forward, "merged output", 2), output + statistics, output / 2);
}

TEST_CASE("context parallelism: the other exchanges move heads, or gather keys and values") {
  constexpr std::int64_t queries = 3 * 24 * 128 * 2, keys = 3 * 24 * 64 * 2;  // B of a rank of two
  const OperatorSet heads = core(grouped(), shape_of(48, 2, ContextExchange::all_to_all));
  CHECK(sent(heads.exchange_steps) == 2 * queries + 2 * keys);  // Q, K, V, and the output back
  CHECK(sent(heads.gradient_exchange_steps) == 2 * queries + 2 * keys);
  const Operator& attention = named(heads.forward, "attention");
  CHECK(attention.batch == 3 * 4);
  CHECK(attention.m == 48);
  CHECK(attention.bytes_read == queries + 2 * keys);  // as many numbers, of half of the heads
  const OperatorSet gathered = core(grouped(), shape_of(48, 2, ContextExchange::all_gather));
  CHECK(sent(gathered.exchange_steps) == 2 * 2 * keys);               // whole buffers
  CHECK(sent(gathered.gradient_exchange_steps) == 2 * 2 * 2 * keys);  // gathered again, and gradients scattered
}

TEST_CASE("context parallelism: latent attention exchanges keys and values of all heads, which differ in size") {
  // 3 x 16 tokens of rank 1 of three: 8 x 24 numbers of K and 8 x 16 of V and of the output, 2 B each.
  constexpr std::int64_t keys = 3 * 16 * 192 * 2, values = 3 * 16 * 128 * 2, statistics = 3 * 16 * 8 * 4;
  const OperatorSet ring = core(latent(), shape_of(48, 3, ContextExchange::ring, 1));
  REQUIRE(ring.exchange_steps.size() == 2);
  for (const ExchangeStep& step : ring.exchange_steps) CHECK(step.bytes == keys + values);
  REQUIRE(ring.gradient_exchange_steps.size() == 3);
  CHECK(ring.gradient_exchange_steps[0].bytes == keys + values);
  CHECK(ring.gradient_exchange_steps[1].bytes == 2 * (keys + values));
  CHECK(ring.gradient_exchange_steps[2].bytes == keys + values);
  CHECK(named(ring.forward, "keys beside values").bytes_read == keys + values);
  // Outputs have the size of values, and so have their merges; rank 1 sees half of the queries in its last step.
  CHECK(named(ring.forward, "merged output", 1).bytes_read == 2 * values + 2 * statistics);
  CHECK(ring.exchange_buffers == 3 * (keys + values) + values * 5 / 2);
  // Two places for K, V and their gradients, and a gradient of Q, which is as large as K.
  CHECK(ring.gradient_exchange_buffers == 2 * 2 * (keys + values) + keys);
  // Gradients of keys, then of values, are put where the first step has none yet.
  CHECK(named(ring.input_gradient, "key-value gradient", 0).bytes_read == keys);
  CHECK(named(ring.input_gradient, "key-value gradient", 1).bytes_read == values);
  // Products of scores have 24 numbers, those with values 16: 2 (24 + 16) FLOP a pair.
  constexpr std::int64_t pairs = 3 * 8 * 48 * 49 / 2 / 3;
  CHECK(visible(ring.forward) == pairs);
  CHECK(total_flops(ring.forward) == 2 * (24 + 16) * pairs);
  CHECK(total_flops(ring.input_gradient) == 2 * (3 * 24 + 2 * 16) * pairs);
  const OperatorSet heads = core(latent(), shape_of(48, 2, ContextExchange::all_to_all));
  constexpr std::int64_t of_two = 3 * 24 * 2;  // B of a number of each token of a rank of two
  CHECK(sent(heads.exchange_steps) == of_two * (192 + 192 + 128 + 128));  // Q, K, V, and the output back
  CHECK(sent(heads.gradient_exchange_steps) == of_two * (192 + 192 + 128 + 128));
  CHECK(heads.exchange_buffers == 2 * of_two * 192);
  const OperatorSet gathered = core(latent(), shape_of(48, 2, ContextExchange::all_gather));
  CHECK(sent(gathered.exchange_steps) == 2 * of_two * (192 + 128));               // whole buffers
  CHECK(sent(gathered.gradient_exchange_steps) == 2 * 2 * of_two * (192 + 128));  // gathered again, gradients scattered
  CHECK(gathered.exchange_buffers == 2 * of_two * (192 + 128 + 192));
}

TEST_CASE("context parallelism: a rank keeps its share, and the rest of the layer is that of its tokens") {
  const Model model = GENERATE(grouped(), latent());
  LayerShape whole = shape_of(48, 1, ContextExchange::ring);
  LayerShape part = whole;
  part.sequence = 12;
  const LayerOperators uncut = transformer_layer(model, whole), short_sequence = transformer_layer(model, part);
  for (const ContextExchange scheme : schemes) {
    const LayerOperators cut = transformer_layer(model, shape_of(48, 4, scheme, 2));
    const std::int64_t output = scheme == ContextExchange::all_to_all ? 3 * 12 * 128 * 2 : 0;  // before it goes back
    CHECK(4 * (cut.attention_core.kept() - output) == uncut.attention_core.kept());
    for (std::size_t i = 0; i < LayerOperators::section_count; ++i) {
      if (i == place_of(&LayerOperators::attention_core)) continue;
      CHECK(cut.in_order()[i]->forward == short_sequence.in_order()[i]->forward);
      CHECK(cut.in_order()[i]->kept() == short_sequence.in_order()[i]->kept());
    }
  }
}

TEST_CASE("context parallelism: under a window a rank sees less, and all together what the whole sequence does") {
  // 48 tokens see 5 each, but for the first four: 48 x 5 - (4 + 3 + 2 + 1).
  constexpr std::int64_t pairs = 48 * 5 - 10, products = 3 * 8;
  Model model = grouped();
  model.sliding_window = 5;
  std::int64_t gathered = 0;
  for (const std::int64_t rank : {0, 1, 2})
    gathered += visible(core(model, shape_of(48, 3, ContextExchange::all_gather, rank)).forward);
  CHECK(gathered == products * pairs);
  CHECK(visible(core(model, shape_of(48, 2, ContextExchange::all_to_all)).forward) == products * pairs / 2);
  // A piece of 8 tokens reads the 4 before it as well.
  CHECK(named(core(model, shape_of(48, 3, ContextExchange::all_gather, 1)).forward, "attention").n == 12);
  CHECK_THROWS_AS(core(model, shape_of(48, 3, ContextExchange::ring)), InputError);
}

TEST_CASE("context parallelism: sinks have gradients of a rank's own queries, and of its own heads") {
  Model model = grouped();
  model.attention_sinks = true;
  for (const ContextExchange scheme : schemes) {
    const LayerShape shape = shape_of(48, 4, scheme);
    const OperatorSet set = core(model, shape);
    REQUIRE(set.weight_gradient.size() == 1);
    // Two numbers of each of 3 x 8 heads and 12 tokens, or of a quarter of the heads and all tokens.
    const std::int64_t heads = scheme == ContextExchange::all_to_all ? 2 : 8;
    CHECK(set.weight_gradient[0].bytes_read == 2 * 4 * 3 * 8 * 12 + shape.gradient_bytes * heads);
    CHECK(set.weight_gradient[0].bytes_written == shape.gradient_bytes * heads);
  }
}

TEST_CASE("context parallelism: a core that cannot be cut is refused") {
  LayerShape shape = shape_of(48, 4, ContextExchange::ring);
  shape.flash_attention = false;
  CHECK_THROWS_AS(core(grouped(), shape), InputError);
  CHECK_THROWS_AS(core(grouped(), shape_of(12, 4, ContextExchange::ring)), InputError);  // 3 tokens are no two pieces
  CHECK_THROWS_AS(core(grouped(), shape_of(48, 3, ContextExchange::all_to_all)), InputError);
}

}  // namespace tessera::workload
