// One kernel of fused attention: FlashAttention, or cuDNN's.
#pragma once

#include "context.hpp"

namespace tessera::workload::layer {

/// Elements of a head of queries and keys, and of what is made of values.
[[nodiscard]] std::int64_t query_size(const Context& context);
[[nodiscard]] std::int64_t output_size(const Context& context);

/// Queries of a sequence, the tokens behind `before` others, and what they see of all of these.
struct SeenTokens {
  std::int64_t queries = 0, before = 0;

  /// That some query sees: with a window of w tokens those of the last queries + w - 1, with chunks those from the
  /// beginning of the first new token's one.
  [[nodiscard]] std::int64_t keys(const Context& context) const;
  /// Of a query and a key that no mask hides, of one head. With a causal mask, query i sees before + i + 1 tokens, or
  /// as many as its window has, or those of its own chunk.
  [[nodiscard]] std::int64_t pairs(const Context& context) const;
};

/// All sizes are of one kernel on one rank.
struct FusedAttention {
  std::int64_t heads = 0;    ///< of all sequences: products
  std::int64_t queries = 0;  ///< of a product
  std::int64_t keys = 0;
  std::int64_t visible = 0;  ///< pairs that no mask hides, of all products

  /// B: log of the sum of exponentials of each query, FP32.
  [[nodiscard]] std::int64_t statistics() const { return 4 * heads * queries; }
  /// `has_statistics`: they are written; training always does.
  [[nodiscard]] Operator forward(const Context& context, bool has_statistics = false) const;
  /// Five products instead of two: the scores again, then dV, dP, dQ and dK (Dao 2023, section 2.3.2).
  [[nodiscard]] Operator backward(const Context& context) const;

 private:
  /// Elements. Heads share keys and values as all of a rank do.
  [[nodiscard]] std::int64_t query_elements(const Context& context) const;
  [[nodiscard]] std::int64_t output_elements(const Context& context) const;
  /// In latent attention that stays compressed values are a part of the keys.
  [[nodiscard]] std::int64_t kv_elements(const Context& context) const;
};

}  // namespace tessera::workload::layer
