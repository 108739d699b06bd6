// What is launched, and when, follows Transformer Engine (transformer_engine/pytorch/attention/dot_product_attention/
// context_parallel.py, d0067d0d of August 2026): AttnFuncWithCPAndKVP2P, AttnFuncWithCPAndQKVOA2A and
// AttnFuncWithCPAndKVAllGather, of sequences that lie first ("sbhd"), in 16 bits. Each takes values of another size
// than keys: latent attention exchanges the keys and values of all heads, which have been made of what is compressed by
// then.
#include "context_parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>

#include "fused_attention.hpp"
#include "tessera/base/error.hpp"

namespace tessera::workload::layer {
namespace {

using Kind = ExchangeStep::Kind;

/// Sizes of a rank's part, and a list of operators with the exchanges amid them.
class Part {
 public:
  Part(const Context& context, OperatorSet& set)
      : context_(context),
        set_(set),
        ranks_(context.shape.context_parallel),
        rank_(context.shape.context_rank),
        queries_(context.tokens * context.query_width),
        keys_(context.tokens * context.key_width),
        values_(context.tokens * context.value_width),
        outputs_(context.tokens * context.output_width) {}

 protected:
  /// Bytes of so many numbers in the activations' datatype.
  [[nodiscard]] Bytes bytes(std::int64_t elements) const { return Bytes{context_.element * elements}; }
  [[nodiscard]] Operator copy(const char* name, std::int64_t elements) const {
    return context_.stream(OperatorKind::copy, name, elements, elements);
  }
  [[nodiscard]] Operator add(const char* name, std::int64_t elements) const {
    return context_.stream(OperatorKind::elementwise, name, 2 * elements, elements);
  }
  void forward(const Operator& op) { set_.forward.push_back(op); }
  void backward(const Operator& op) { set_.input_gradient.push_back(op); }
  /// Collectives for which the rank waits.
  void exchange(Kind kind, std::int64_t elements) {
    set_.exchange_steps.push_back({kind, bytes(elements).value(), set_.forward.size(), set_.forward.size()});
  }
  void exchange_gradient(Kind kind, std::int64_t elements) {
    const std::size_t here = set_.input_gradient.size();
    set_.gradient_exchange_steps.push_back({kind, bytes(elements).value(), here, here});
  }
  /// Products of the rank's heads with so many queries and keys of a sequence each.
  [[nodiscard]] FusedAttention attention(std::int64_t queries, std::int64_t keys, std::int64_t visible) const {
    const std::int64_t heads = context_.shape.micro_batch * context_.shape.heads_per_rank;
    return {heads, queries, keys, heads * visible};
  }
  [[nodiscard]] bool is_causal() const { return context_.model.causal; }
  [[nodiscard]] std::int64_t own_tokens() const { return context_.shape.sequence; }  ///< of a sequence
  /// Pairs of n queries and n keys under a causal mask.
  [[nodiscard]] static std::int64_t triangle(std::int64_t n) { return n * (n + 1) / 2; }

  const Context& context_;
  OperatorSet& set_;
  std::int64_t ranks_, rank_;
  std::int64_t queries_, keys_, values_, outputs_;  ///< elements; those of V and of the output may differ from K's, Q's
};

/// Keys and values go to the next rank, step by step, and those of the step before are computed with meanwhile. In the
/// backward pass they come back the same way, each with the sum of its gradient behind it.
class Ring : Part {
 public:
  Ring(const Context& context, OperatorSet& set) : Part(context, set) {}

  void write_forward() {
    forward(copy("keys beside values", keys_ + values_));
    for (std::int64_t step = 0; step < ranks_; ++step) {
      const std::size_t here = set_.forward.size();
      forward(of(step).forward(context_, true));
      merge_statistics(step);
      if (step + 1 < ranks_)
        set_.exchange_steps.push_back({Kind::to_next, bytes(keys_ + values_).value(), here, set_.forward.size()});
    }
    std::int64_t outputs = 0;
    for (std::int64_t step = 0; step < ranks_; ++step) {
      merge_output(step);
      outputs += outputs_ / halves(step);
    }
    // What has come is freed with the last step, and outputs when they are merged.
    set_.exchange_buffers = bytes(ranks_ * (keys_ + values_) + outputs).value();
  }

  void write_backward() {
    backward(copy("keys and values", keys_ + values_));
    if (is_causal() && rank_ + 1 < ranks_) backward(stream_statistics(OperatorKind::copy, "second statistics", 1, 2));
    for (std::int64_t step = ranks_ - 1; step >= 0; --step) {
      const std::size_t here = set_.input_gradient.size();
      backward(of(step).backward(context_));
      add_query_gradient(step);
      // First keys and values alone go round, last their gradients, and both between.
      const bool is_end = step == 0 || step + 1 == ranks_;
      const std::int64_t sent = bytes((is_end ? 1 : 2) * (keys_ + values_)).value();
      set_.gradient_exchange_steps.push_back({Kind::to_previous, sent, here, set_.input_gradient.size()});
      add_key_gradients(step);
    }
    // Two places for keys, values and their gradients, and a step's gradient of the queries beside the sum.
    set_.gradient_exchange_buffers = bytes(2 * 2 * (keys_ + values_) + queries_).value();
  }

 private:
  enum class Tile { diagonal, lower, upper, whole };
  /// Keys and values that arrive in this step are those of the rank so many before.
  [[nodiscard]] Tile tile(std::int64_t step) const {
    if (!is_causal()) return Tile::whole;
    if (step == 0) return Tile::diagonal;
    return step <= rank_ ? Tile::lower : Tile::upper;
  }
  /// Of a rank before, all queries see the first half of the keys; of one behind, the second half sees all of them.
  [[nodiscard]] FusedAttention of(std::int64_t step) const {
    const std::int64_t n = own_tokens(), half = n / 2;
    switch (tile(step)) {
      case Tile::diagonal:
        return attention(n, n, triangle(n));
      case Tile::lower:
        return attention(n, half, n * half);
      case Tile::upper:
        return attention(half, n, half * n);
      default:
        return attention(n, n, n * n);
    }
  }
  /// 2 where only the second half of the queries has taken part.
  [[nodiscard]] std::int64_t halves(std::int64_t step) const { return tile(step) == Tile::upper ? 2 : 1; }

  /// On the logarithms of the sums of exponentials, reading so many tensors of a share of them.
  [[nodiscard]] Operator stream_statistics(OperatorKind kind, const char* name, std::int64_t reads,
                                           std::int64_t share) const {
    const std::int64_t own = of(0).statistics() / share;
    return streaming(kind, name, Bytes{reads * own}, Bytes{own}, context_.shape.datatype);
  }
  void merge_statistics(std::int64_t step) {
    if (step == 0) return forward(stream_statistics(OperatorKind::copy, "softmax statistics", 1, 1));
    forward(stream_statistics(OperatorKind::fused, "merged statistics", 2, halves(step)));
  }
  /// The first output is scaled, and the others are scaled and added to it.
  void merge_output(std::int64_t step) {
    const std::int64_t elements = outputs_ / halves(step);
    Operator op = context_.stream(OperatorKind::fused, "merged output", (step == 0 ? 1 : 2) * elements, elements);
    op.bytes_read += 2 * of(0).statistics() / halves(step);
    forward(op);
  }

  void add_query_gradient(std::int64_t step) {
    const std::int64_t elements = queries_ / halves(step);
    if (step + 1 == ranks_) return backward(copy("query gradient", elements));
    // The first step in which the first half of the queries takes part has nothing to add it to.
    if (is_causal() && step == rank_) {
      backward(copy("query gradient", elements / 2));
      return backward(add("query gradient sum", elements / 2));
    }
    backward(add("query gradient sum", elements));
  }
  /// Of keys, and of values.
  void add_key_gradients(std::int64_t step) {
    const bool is_first = step + 1 == ranks_;
    for (const std::int64_t all : {keys_, values_}) {
      const std::int64_t elements = tile(step) == Tile::lower ? all / 2 : all;
      if (is_first) {
        backward(copy("key-value gradient", elements));
      } else if (is_causal() && step == 0 && rank_ == 0) {
        // Nobody else has seen its second half.
        backward(add("key-value gradient sum", elements / 2));
        backward(copy("key-value gradient", elements / 2));
      } else {
        backward(add("key-value gradient sum", elements));
      }
    }
  }
};

/// Each rank has all tokens of a share of the heads while the core runs.
class AllToAll : Part {
 public:
  AllToAll(const Context& context, OperatorSet& set) : Part(context, set) {}

  void write_forward() {
    for (const auto& [name, elements] : inputs()) {
      forward(copy((std::string(name) + " by heads").c_str(), elements));
      exchange(Kind::all_to_all, elements);
      forward(copy((std::string(name) + " in order").c_str(), elements));
    }
    forward(core().forward(context_));
    forward(copy("output by tokens", outputs_));
    exchange(Kind::all_to_all, outputs_);
    forward(copy("output in order", outputs_));
    set_.exchange_buffers = bytes(2 * largest()).value();  // what is sent and what comes
  }

  void write_backward() {
    backward(copy("output gradient by heads", outputs_));
    exchange_gradient(Kind::all_to_all, outputs_);
    backward(copy("output gradient in order", outputs_));
    backward(core().backward(context_));
    for (const auto& [name, elements] : inputs()) {
      backward(copy((std::string(name) + " gradient by tokens").c_str(), elements));
      exchange_gradient(Kind::all_to_all, elements);
      backward(copy((std::string(name) + " gradient in order").c_str(), elements));
    }
    set_.gradient_exchange_buffers = bytes(2 * largest()).value();
  }
  /// Bytes kept beside the statistics: the output before it goes back.
  [[nodiscard]] std::int64_t kept_output() const { return bytes(outputs_).value(); }

 private:
  struct Input {
    const char* name;
    std::int64_t elements;
  };
  [[nodiscard]] std::int64_t largest() const { return std::max({queries_, keys_, values_, outputs_}); }
  [[nodiscard]] std::array<Input, 3> inputs() const {
    return {{{"queries", queries_}, {"keys", keys_}, {"values", values_}}};
  }
  [[nodiscard]] FusedAttention core() const {
    const std::int64_t n = own_tokens() * ranks_;
    const SeenTokens all{n, 0};
    FusedAttention whole = attention(n, all.keys(context_), all.pairs(context_));
    whole.heads /= ranks_;
    whole.visible /= ranks_;
    return whole;
  }
};

/// Two pieces of the queries, one after the other, with all keys that they see.
class AllGather : Part {
 public:
  AllGather(const Context& context, OperatorSet& set) : Part(context, set) {}

  void write_forward() {
    gather([&](std::int64_t elements) { exchange(Kind::all_gather, elements); },
           [&](const Operator& op) { forward(op); });
    for (const std::int64_t piece : pieces()) {
      forward(of(piece).forward(context_));
      forward(copy("output", outputs_ / 2));
    }
    // Both are there as they came, and one of them in order.
    set_.exchange_buffers = bytes(ranks_ * (keys_ + values_ + std::max(keys_, values_))).value();
  }

  void write_backward() {
    gather([&](std::int64_t elements) { exchange_gradient(Kind::all_gather, elements); },
           [&](const Operator& op) { backward(op); });
    for (const std::int64_t all : {keys_, values_})
      backward(context_.stream(OperatorKind::elementwise, "cleared gradient", 0, ranks_ * all));
    std::int64_t seen = 0;
    for (const std::int64_t piece : pieces()) {
      const FusedAttention one = of(piece);
      seen = std::max(seen, one.keys);
      backward(one.backward(context_));
      backward(copy("query gradient", queries_ / 2));
      for (const std::int64_t width : {context_.key_width, context_.value_width})
        backward(add("key-value gradient sum", context_.shape.micro_batch * one.keys * width));
    }
    for (const std::int64_t all : {keys_, values_}) backward(copy("key-value gradient in order", ranks_ * all));
    for (const std::int64_t all : {keys_, values_}) exchange_gradient(Kind::reduce_scatter, ranks_ * all);
    // Keys and values, the sums of their gradients, and those of a piece.
    const std::int64_t of_a_piece = context_.shape.micro_batch * seen * (context_.key_width + context_.value_width);
    set_.gradient_exchange_buffers = bytes(2 * ranks_ * (keys_ + values_) + of_a_piece).value();
  }

 private:
  template <class Exchange, class Run>
  void gather(const Exchange& exchange, const Run& run) const {
    for (const std::int64_t all : {keys_, values_}) exchange(ranks_ * all);
    run(copy("keys in order", ranks_ * keys_));
    run(copy("values in order", ranks_ * values_));
  }
  [[nodiscard]] std::array<std::int64_t, 2> pieces() const { return {rank_, 2 * ranks_ - 1 - rank_}; }
  [[nodiscard]] FusedAttention of(std::int64_t piece) const {
    const std::int64_t half = own_tokens() / 2;
    // Without a mask the piece might as well be the last one.
    const SeenTokens tokens{half, (is_causal() ? piece : 2 * ranks_ - 1) * half};
    return attention(half, tokens.keys(context_), tokens.pairs(context_));
  }
};

void check(const Context& context) {
  const LayerShape& shape = context.shape;
  if (!shape.flash_attention)
    throw InputError("context parallelism merges what fused attention leaves: workload.flash_attention = true");
  if (shape.sequence % 2 != 0)
    throw InputError(fmt::format("{} tokens of a sequence on each of {} context-parallel ranks are no two pieces",
                                 shape.sequence, shape.context_parallel));
  if (context.layer.sliding_window > 0 && shape.context_exchange == ContextExchange::ring)
    throw InputError("a ring of context-parallel ranks does not know windows of attention");
  const bool by_heads = shape.context_exchange == ContextExchange::all_to_all;
  if (by_heads &&
      (shape.heads_per_rank % shape.context_parallel != 0 || shape.kv_heads_per_rank % shape.context_parallel != 0))
    throw InputError(
        fmt::format("{} heads and {} key-value heads of a rank are no multiple of {} context-parallel ranks",
                    shape.heads_per_rank, shape.kv_heads_per_rank, shape.context_parallel));
}

template <class Scheme>
void write(const Context& context, OperatorSet& set) {
  Scheme scheme(context, set);
  scheme.write_forward();
  if (!context.training) return;
  scheme.write_backward();
  if constexpr (std::is_same_v<Scheme, AllToAll>) set.kept_inside += scheme.kept_output();
}

}  // namespace

OperatorSet context_parallel_core(const Context& context) {
  check(context);
  OperatorSet set;
  if (context.training) {
    set.kept_input = context.element * context.tokens * context.qkv_width();
    set.kept_inside = 4 * context.tokens * context.shape.heads_per_rank;  // logarithms of sums of exponentials, FP32
    if (core_keeps_output(context)) set.kept_inside += context.element * context.tokens * context.output_width;
  } else {
    add_kv_cache(context, set);
  }
  switch (context.shape.context_exchange) {
    case ContextExchange::ring:
      write<Ring>(context, set);
      break;
    case ContextExchange::all_to_all:
      write<AllToAll>(context, set);
      break;
    default:
      write<AllGather>(context, set);
  }
  return set;
}

}  // namespace tessera::workload::layer
