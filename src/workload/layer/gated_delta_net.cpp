// Gated DeltaNet (Yang et al. 2024, arXiv 2412.06464) on one tensor rank: heads with states of N x P elements, from
// which a token takes away what they hold under its key, before it writes its value there (equation 10); groups of
// heads share queries and keys.
//
// Training and prompts take the chunks of section 3.3: with Q tokens in a chunk and the inverse of a triangular matrix
// of Q x Q a head (the UT transform), what the tokens of a chunk write is known together, so that products are left.
// Kernels and what they keep are those of flash-linear-attention (fla/ops/gated_delta_rule/chunk.py), as transformers
// calls them (models/qwen3_next/modeling_qwen3_next.py): queries and keys are repeated for all heads and have unit
// length; tiles of Q x Q are computed whole, masks or not; the inverse is kept, the states are made again. The
// in-projection is one linear layer, and tensor ranks have whole groups, as in Megatron core
// (megatron/core/ssm/gated_delta_net.py), so that none of it communicates.
#include <algorithm>

#include "state_space.hpp"

namespace tessera::workload::layer {
namespace gated_delta_net {
namespace {

std::int64_t values(const Context& context) { return context.output_width; }
/// Of queries, and of keys.
std::int64_t keys(const Context& context) { return context.state_groups * context.layer.state_size; }
std::int64_t channels(const Context& context) { return 2 * keys(context) + values(context); }
/// Of the in-projection: what is convolved, a gate, and a decay and a strength of each head.
std::int64_t columns(const Context& context) {
  return channels(context) + values(context) + 2 * context.shape.heads_per_rank;
}
/// A decay and a bias of it.
std::int64_t head_parameters(const Context& context) { return 2 * context.shape.heads_per_rank; }

/// Sizes of the chunked rule on this rank.
struct Rule {
  explicit Rule(const Context& context)
      : chunks(context),
        tokens(context.tokens),
        heads(context.shape.heads_per_rank),
        key(context.layer.state_size),
        value(context.layer.head_dim),
        k(context.element * tokens * heads * key),
        v(context.element * tokens * heads * value),
        tiles(context.element * heads * chunks.square),
        numbers(fp32 * tokens * heads),
        states(context.element * chunks.count * heads * key * value) {}
  Chunks chunks;
  std::int64_t tokens, heads, key, value;
  std::int64_t k, v;     ///< B of keys, or of queries, of all heads; of values
  std::int64_t tiles;    ///< B of the pairs of tokens of a chunk, of all heads, in the activations' datatype
  std::int64_t numbers;  ///< B of a number in FP32 a token and head
  std::int64_t states;   ///< B of the states before each chunk
  /// FLOP of a product of a tile with rows of so many elements, and of tokens with their chunk's state.
  [[nodiscard]] std::int64_t of_tiles(std::int64_t width) const { return 2 * chunks.square * heads * width; }
  [[nodiscard]] std::int64_t of_states() const { return 2 * tokens * heads * key * value; }
};

Operator bytes(const Context& context, OperatorKind kind, const std::string& name, std::int64_t read,
               std::int64_t written) {
  return streaming(kind, name, Bytes{read}, Bytes{written}, context.shape.datatype);
}

/// A kernel of products of each chunk and head: Q tokens, `n` columns, and as deep as its FLOP say.
Operator product(const Context& context, const Rule& rule, const std::string& name, std::int64_t n, std::int64_t flops,
                 std::int64_t read, std::int64_t written) {
  const std::int64_t batch = rule.chunks.count * rule.heads, m = rule.chunks.length;
  const std::int64_t k = std::max<std::int64_t>(1, flops / (2 * rule.tokens * rule.heads * n));
  return SharedProduct{name, batch, m, n, k, flops, read, written}.on(context);
}

/// What a chunk's tokens write as far as that depends on nothing before it: of keys (W) and of values (U).
Operator written(const Context& context, const Rule& rule, const std::string& again) {
  return product(context, rule, "chunk W U" + again, rule.key + rule.value, rule.of_tiles(rule.key + rule.value),
                 rule.k + rule.v + rule.tiles + 2 * rule.numbers, rule.k + rule.v);
}
/// From chunk to chunk: what its tokens write in all, and the state behind them.
Operator states(const Context& context, const Rule& rule, const std::string& again) {
  return product(context, rule, "chunk states" + again, rule.value, 2 * rule.of_states(),
                 2 * rule.k + rule.v + rule.numbers, rule.v + rule.states);
}

void add_rule(const Context& context, const Rule& rule, OperatorSet& set) {
  const std::int64_t q = rule.chunks.length, inverse = rule.chunks.square * rule.heads * q / 3;
  set.forward.push_back(bytes(context, OperatorKind::norm, "query key norm", 2 * rule.k, 2 * rule.k));
  set.forward.push_back(bytes(context, OperatorKind::fused, "chunk decay", rule.numbers, rule.numbers));
  set.forward.push_back(product(context, rule, "chunk keys", q, rule.of_tiles(rule.key), rule.k + 2 * rule.numbers,
                                fp32 * rule.heads * rule.chunks.square));
  set.forward.push_back(
      product(context, rule, "chunk inverse", q, inverse, fp32 * rule.heads * rule.chunks.square, rule.tiles));
  set.forward.push_back(written(context, rule, ""));
  set.forward.push_back(states(context, rule, ""));
  // Queries read the state before the chunk, and what the tokens of the chunk up to them write.
  set.forward.push_back(product(context, rule, "chunk outputs", rule.value,
                                rule.of_states() + rule.of_tiles(rule.key + rule.value),
                                2 * rule.k + rule.v + rule.numbers + rule.states, rule.v));
}

void add_rule_gradient(const Context& context, const Rule& rule, OperatorSet& set) {
  const std::int64_t q = rule.chunks.length, one = rule.of_tiles(rule.key), other = rule.of_tiles(rule.value);
  std::vector<Operator>& backward = set.input_gradient;
  backward.push_back(written(context, rule, " again"));
  backward.push_back(states(context, rule, " again"));
  // Within the chunk, of what its tokens write: scores again, and what comes back over them.
  backward.push_back(product(context, rule, "chunk outputs dgrad written", rule.value, one + other,
                             2 * rule.k + rule.v + rule.numbers, rule.v));
  // From the last chunk to the first one: of states, over keys, queries and W.
  backward.push_back(product(context, rule, "chunk states dgrad", rule.value, 3 * rule.of_states(),
                             3 * rule.k + 2 * rule.v + rule.numbers, rule.states + rule.v));
  // Of queries, keys and W, over states and over the pairs of the chunk, whose scores are made once more for the decay.
  backward.push_back(product(context, rule, "chunk outputs dgrad", rule.key, 3 * rule.of_states() + other + 3 * one,
                             2 * rule.k + 3 * rule.v + rule.numbers + 2 * rule.states, 3 * rule.k + rule.numbers));
  // Of W and U: of keys and values over the inverse, of the inverse, and through it of the pairs of keys.
  backward.push_back(product(context, rule, "chunk W U dgrad", rule.key, 5 * one + 2 * other + 2 * rule.of_tiles(q),
                             2 * rule.k + 2 * rule.v + rule.tiles + 2 * rule.numbers,
                             rule.k + rule.v + 2 * rule.numbers));
  backward.push_back(bytes(context, OperatorKind::elementwise, "key gradient sum", 2 * rule.k, rule.k));
  backward.push_back(bytes(context, OperatorKind::fused, "chunk decay dgrad", rule.numbers, rule.numbers));
  backward.push_back(bytes(context, OperatorKind::norm, "query key norm dgrad", 4 * rule.k, 2 * rule.k));
}

/// For all heads of a group; nothing where each has its own.
void add_repetition(const Context& context, const Rule& rule, OperatorSet& set) {
  const std::int64_t own = 2 * context.element * rule.tokens * keys(context), all = 2 * rule.k;
  if (own == all) return;
  set.forward.push_back(bytes(context, OperatorKind::copy, "group repetition", own, all));
  if (context.training)
    set.input_gradient.push_back(bytes(context, OperatorKind::reduction, "group repetition dgrad", all, own));
}

/// Of each head and token: a strength in the activations' datatype, and a decay in FP32.
void add_strengths(const Context& context, const Rule& rule, OperatorSet& set) {
  const std::int64_t two = 2 * context.element * rule.tokens * rule.heads;
  set.forward.push_back(bytes(context, OperatorKind::fused, "strengths", two, two / 2 + rule.numbers));
  if (!context.training) return;
  set.input_gradient.push_back(bytes(context, OperatorKind::fused, "strengths dgrad", 2 * rule.numbers + two, two));
  const std::int64_t parameters = head_parameters(context);
  set.weight_gradient.push_back(context.bias_gradient("strengths wgrad", parameters, parameters));
}

/// Between the convolution and the norm.
OperatorSet middle(const Context& context, const Rule& rule) {
  OperatorSet prepared, repeated, set;
  add_strengths(context, rule, prepared);
  add_repetition(context, rule, repeated);
  append(repeated, prepared);
  if (context.shape.phase == Phase::generation) {
    const std::int64_t inputs = 2 * rule.heads * rule.key + values(context) + 3 * rule.heads;
    set.forward.push_back(state_update(context, fp32, inputs, values(context)));
  } else {
    add_rule(context, rule, set);
  }
  if (context.training) {
    add_rule_gradient(context, rule, set);
    // Queries and keys of all heads, values, the inverse, strengths and decays.
    set.kept_inside = 2 * rule.k + rule.v + rule.tiles + rule.numbers + context.element * rule.tokens * rule.heads;
  }
  append(set, prepared);
  return prepared;
}

OperatorSet core(const Context& context) {
  OperatorSet set = convolution_section(context, channels(context)), norm;
  append(middle(context, Rule(context)), set);
  add_gated_norm(context, context.layer.head_dim, norm);
  append(norm, set);
  if (context.shape.phase == Phase::prompt) add_state_copy(context, channels(context), fp32, set);
  if (context.training) set.kept_input = context.element * context.tokens * columns(context);
  return set;
}

void add_parameters(const Context& context, ParameterShare& share) {
  add_projection_weights(context, share);
  share.sharded += convolution_parameters(context.layer, channels(context)) + head_parameters(context);
  // One weight for each element of a head, which all heads share.
  share.replicated += context.layer.head_dim;
  share.partial += context.layer.head_dim;
}

std::int64_t cached_bytes(const Context& context) { return cached_state(context, channels(context), fp32); }

Int128 weights(const Model& model, const LayerFields& kind) {
  const Int128 inner = kind.heads * kind.head_dim;
  return model.hidden * (3 * inner + 2 * kind.state_groups * kind.state_size + 2 * kind.heads);
}

/// A token reads what its key finds, writes, and reads with its query (equation 10); in chunks besides W and U, the
/// pairs of keys and of queries with keys, and what these give.
Int128 core_flops(const LayerFields& kind, std::int64_t sequence, std::int64_t, Phase phase) {
  const Int128 recurrence = recurrence_flops(kind, sequence, 6);
  if (phase == Phase::generation) return recurrence;
  const std::int64_t chunk = std::min(sequence, kind.scan_chunk);
  return recurrence + Int128{2} * sequence * chunk * kind.heads * (3 * kind.state_size + 2 * kind.head_dim) +
         Int128{sequence} * chunk * chunk * kind.heads / 3;
}

}  // namespace
}  // namespace gated_delta_net

MixerKind gated_delta_net_mixer() {
  using namespace gated_delta_net;
  return {.mixer = Mixer::gated_delta_net,
          .key = "gated-delta-net",
          .words = "Gated DeltaNet",
          .needs = {{"state_size", &LayerFields::state_size},
                    {"state_groups", &LayerFields::state_groups},
                    {"conv_width", &LayerFields::conv_width},
                    {"scan_chunk", &LayerFields::scan_chunk}},
          .input_columns = columns,
          .input = input_section,
          .core = core,
          .output = projection_section,
          .add_parameters = add_parameters,
          .add_products = add_projection_weights,
          .cached_bytes = cached_bytes,
          .weights = weights,
          .core_flops = core_flops};
}

}  // namespace tessera::workload::layer
