// What the sections of a layer share: the model, the cut, and the counts that follow from both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operations.hpp"
#include "tessera/workload/transformer.hpp"

namespace tessera::workload::layer {

/// y = x W on this rank: `batch` products of (rows x in) by (in x out).
struct Linear {
  std::string name;
  std::int64_t batch = 1;
  std::int64_t rows = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;
  /// What tensor ranks gather under sequence parallelism: the input of a column-parallel layer, the gradient of the
  /// output of a row-parallel one.
  enum class Gathered : std::uint8_t { nothing, input, gradient } gathered = Gathered::nothing;
  bool is_in_layer = true;    ///< Precision speaks of it
  bool shares_input = false;  ///< with a linear layer before it, for which it is gathered
};

/// Of a MoE layer.
enum class Experts : std::uint8_t { all, routed, shared };

/// The shape with its defaults filled in (heads, context, expert tokens) and its sizes on this rank.
/// A cut that does not fit the model: InputError.
struct Context {
  Context(const Model& model, const LayerShape& shape);

  const Model& model;
  const LayerFields& layer;
  LayerShape shape;
  const Stack& stack;
  std::int64_t element;        ///< e: bytes per element of weights and activations
  std::int64_t cache_element;  ///< bytes per element of cached keys and values
  std::int64_t tokens;         ///< s b
  std::int64_t tokens_cut;     ///< s b / t under sequence parallelism, s b otherwise
  std::int64_t query_width;    ///< columns of Q on this rank
  std::int64_t key_width;      ///< columns of K on this rank
  std::int64_t value_width;    ///< columns of V on this rank
  std::int64_t output_width;   ///< columns that attention makes on this rank
  std::int64_t state_groups;   ///< groups of heads of a state on this rank; 0: attention, Mamba
  std::int64_t mlp_width;      ///< columns of the MLP on this rank; 0 when the layer has experts, or no MLP
  std::int64_t expert_width;   ///< those of one expert
  std::int64_t shared_width;   ///< those of all shared experts together
  std::int64_t local_experts;  ///< 0 when the layer is dense
  bool training;
  bool dropout;                    ///< dropout layers run
  bool attention_dropout;          ///< the one of the attention's probabilities does
  bool rotary;                     ///< positions turn queries and keys
  bool has_low_products;           ///< operands of linear layers' products have a datatype of their own
  Experts experts = Experts::all;  ///< whose operators are wanted

  /// Attention and MLP read one norm, which is gathered once.
  [[nodiscard]] bool shares_norm() const { return layer.parallel_block == ParallelBlock::one_norm; }
  [[nodiscard]] std::int64_t qkv_width() const { return query_width + key_width + value_width; }
  /// Keys and values stay compressed: each new token is taken to their size instead of all of them to its own.
  [[nodiscard]] bool absorbs() const { return is_latent(layer) && shape.phase == Phase::generation; }

  /// From h elements of a token to a share of so many, and back: cut in one dimension or in two
  /// (LayerShape::tensor_rows).
  [[nodiscard]] Linear column_linear(const std::string& name, std::int64_t batch, std::int64_t rows,
                                     std::int64_t columns) const {
    return {name, batch, rows, model.hidden / shape.tensor_rows, columns * shape.tensor_rows, Linear::Gathered::input};
  }
  [[nodiscard]] Linear row_linear(const std::string& name, std::int64_t batch, std::int64_t rows,
                                  std::int64_t columns) const {
    return {
        name, batch, rows, columns * shape.tensor_rows, model.hidden / shape.tensor_rows, Linear::Gathered::gradient};
  }

  [[nodiscard]] Operator gemm(const std::string& name, std::int64_t batch, std::int64_t m, std::int64_t n,
                              std::int64_t k) const;
  /// A kernel that reads and writes that many elements of the activations' datatype.
  [[nodiscard]] Operator stream(OperatorKind kind, const std::string& name, std::int64_t elements_read,
                                std::int64_t elements_written) const;
  /// The same with masks of one byte per element beside.
  [[nodiscard]] Operator stream_masked(OperatorKind kind, const std::string& name, std::int64_t elements_read,
                                       std::int64_t elements_written, std::int64_t mask_read,
                                       std::int64_t mask_written) const;
  /// What stands behind a gradient of `parameters` elements: sum over tokens of `elements` gradient elements.
  [[nodiscard]] Operator bias_gradient(const std::string& name, std::int64_t elements, std::int64_t parameters) const;
  /// From where a product stands in its own datatype to the gradient buffer; nothing where that is the same.
  void add_accumulation(const std::string& name, std::int64_t parameters, OperatorSet& set) const;
};

/// Forward, input-gradient and weight-gradient products; the latter adds to the gradient buffer
/// (LayerShape::fused_accumulation).
void add_linear(const Context& context, const Linear& linear, OperatorSet& set);

/// Puts `later`, which exchanges nothing, behind `set` forward and before it backward. Its input is not kept.
void append(const OperatorSet& later, OperatorSet& set);

/// B that linear layers which read the same tensor keep of it for their weight gradients: the tensor as it is, for
/// those that gather it again or take it so, and casts for the others: one of what is gathered as a cast, and one for
/// each that gathers nothing.
[[nodiscard]] std::int64_t kept_input(const Context& context, const std::vector<Linear>& readers);
/// B of a linear layer's input in the activations' datatype, of this rank's own tokens where it is gathered.
[[nodiscard]] std::int64_t input_bytes(const Context& context, const Linear& linear);
/// Of a section whose only linear layer, or the first one, that reads its input is `linear`: what it keeps of it.
void keep_input(const Context& context, const Linear& linear, OperatorSet& set);
/// OperatorSet::gathered_element of sections with a linear layer.
[[nodiscard]] std::int64_t gathered_element(const Context& context);

/// Norm over `tokens` rows of h elements, with the sum of the residual's gradient and its own where `residual`.
[[nodiscard]] OperatorSet norm_section(const Context& context, const std::string& name, std::int64_t tokens,
                                       bool residual);
/// The norm before attention or MLP. Where there is none, the gradients of its input are summed all the same.
[[nodiscard]] OperatorSet input_norm_section(const Context& context, const std::string& name);
/// Biases (of h elements each), norm of the output, dropout and residual behind a row-parallel linear; `name` is
/// "attention" or "mlp".
[[nodiscard]] OperatorSet residual_section(const Context& context, const std::string& name, std::int64_t biases);

/// Columns of attention's first linear layer on this rank: queries, keys, values, and a gate beside the queries.
[[nodiscard]] inline std::int64_t attention_columns(const Context& context) {
  return context.qkv_width() + (context.layer.output_gate ? context.output_width : 0);
}
[[nodiscard]] OperatorSet qkv_section(const Context& context);
[[nodiscard]] Linear qkv_linear(const Context& context);
[[nodiscard]] OperatorSet core_section(const Context& context);
/// The fused kernel's backward pass reads what it made, which the projection keeps unless that is a cast. Ranks that
/// exchange heads for tokens keep it in any case, before it goes back.
[[nodiscard]] bool core_keeps_output(const Context& context);
/// The copy of new keys and values to where generation finds them.
void add_kv_cache(const Context& context, OperatorSet& set);
/// Elements of a token and layer that a cache of keys and values holds on this rank.
[[nodiscard]] std::int64_t cached_elements(const Context& context);
/// Of latent attention: what comes behind the norm and before the column-parallel part, on this rank's own tokens.
void add_compression(const Context& context, OperatorSet& set);
/// Column-parallel: queries, keys and values from what is compressed.
[[nodiscard]] OperatorSet latent_qkv_section(const Context& context);
/// Where keys and values stay compressed: what the core makes of them is brought to the size of values.
void add_expansion(const Context& context, OperatorSet& set);
[[nodiscard]] OperatorSet projection_section(const Context& context);

[[nodiscard]] LossSections loss_sections(const Context& context);

/// What the activation of a layer makes on this rank, experts' included.
[[nodiscard]] std::int64_t mlp_elements(const Context& context);
/// A dense MLP.
void add_dense_mlp(const Context& context, LayerOperators& layer);
/// Attention and MLP side by side, each of which is there already.
void join_parallel(const Context& context, LayerOperators& layer);
/// Router, dispatch, the local experts, combine; shared experts as well.
void add_experts(const Context& context, LayerOperators& layer);
/// The same without what shared experts do, and that alone.
void add_routed(const Context& context, LayerOperators& layer);
void add_shared_experts(const Context& context, SharedExperts& shared);

}  // namespace tessera::workload::layer
