// The operators of a transformer on one tensor-parallel rank, and the activations that they keep.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/workload/model.hpp"
#include "tessera/workload/operator.hpp"

namespace tessera::workload {

enum class Phase { training, prompt, generation };
enum class Recomputation { none, selective, full };

/// How one layer is cut and run on a device.
struct LayerShape {
  std::int64_t sequence = 0;          ///< s: new tokens per sequence (1 in generation)
  std::int64_t context = 0;           ///< keys and values per sequence (= sequence in training; KV cache length in generation)
  std::int64_t micro_batch = 1;       ///< b: sequences
  std::int64_t tensor = 1;            ///< t: tensor-parallel ranks
  bool sequence_parallel = false;     ///< norms, dropouts and residuals are cut along the sequence too
  std::int64_t heads_per_rank = 0;    ///< query heads on this rank (ceil with uneven_heads = "pad")
  std::int64_t kv_heads_per_rank = 0; ///< at least 1
  bool flash_attention = false;
  Phase phase = Phase::training;
  std::string datatype = "fp16";
  std::int64_t expert_parallel = 1;   ///< MoE: ranks over which experts are spread
  std::int64_t expert_tokens = 0;     ///< MoE: tokens that this rank's experts process for the micro-batch (capacity, imbalance applied)
};

/// One operator with its three parts. A part without work is empty.
struct OperatorSet {
  std::vector<Operator> forward;
  std::vector<Operator> input_gradient;
  std::vector<Operator> weight_gradient;
  std::int64_t kept = 0;              ///< activation bytes kept from forward to backward by these operators
};

/// Where a strategy has to communicate: between the sections of a layer.
/// attention_in (norm) | attention | attention_out (dropout, residual) | mlp_in (norm) | mlp | mlp_out (dropout, residual)
struct LayerOperators {
  OperatorSet attention_in;    ///< cut along the sequence under sequence parallelism
  OperatorSet attention;       ///< qkv, attention core, output projection: cut by heads
  OperatorSet attention_core;  ///< the part of `attention` that selective recomputation repeats (not repeated in `attention`)
  OperatorSet attention_proj;  ///< output projection, after the core
  OperatorSet attention_out;
  OperatorSet mlp_in;
  OperatorSet mlp;             ///< cut by columns, then rows; the experts of a MoE layer
  OperatorSet router;          ///< MoE: gate; empty when dense
  OperatorSet mlp_out;
};

/// Bytes of activations kept per layer and micro-batch on this rank (Korthikanti et al. 2022, eq. 1-6).
[[nodiscard]] std::int64_t activation_bytes(const LayerOperators& layer, Recomputation recomputation, const Model&, const LayerShape&);

[[nodiscard]] LayerOperators transformer_layer(const Model& model, const LayerShape& shape);
/// Word and position embedding of this rank's vocabulary share, with the dropout behind it.
[[nodiscard]] OperatorSet embedding_operators(const Model& model, const LayerShape& shape);
/// Final norm, logits of this rank's vocabulary share, cross entropy.
[[nodiscard]] OperatorSet head_operators(const Model& model, const LayerShape& shape);
/// Adam on `parameters` of this device: reads gradients and fp32 states, writes states and the low-precision weights.
[[nodiscard]] std::vector<Operator> optimizer_operators(std::int64_t parameters, const std::string& datatype);

}  // namespace tessera::workload
