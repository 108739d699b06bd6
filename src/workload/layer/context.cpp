#include "context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tessera/base/error.hpp"

namespace tessera::workload::layer {
namespace {

const Stack of_megatron;

/// whole / parts, which has to be exact.
std::int64_t share(std::int64_t whole, std::int64_t parts, const char* what, const char* ranks) {
  if (whole % parts != 0) {
    throw InputError(fmt::format("{} = {} is not a multiple of the {} {} ranks", what, whole, parts, ranks));
  }
  return whole / parts;
}

/// Of queries and keys, compressed ones as well, or values.
std::int64_t largest_head(const LayerFields& kind) {
  return std::max({kind.head_dim, value_dim(kind), kind.kv_rank + kind.rotary_dim});
}

/// The largest tensors of a layer, some of which are read and written many times in one kernel, and the FLOP of its
/// attention, up to ten times those of one product, have to fit into 63 bits.
void refuse_too_large(const Model& model, const LayerFields& kind, const LayerShape& shape) {
  const auto real = [](std::int64_t count) { return static_cast<double>(count); };
  const double scores = real(shape.heads_per_rank) * real(shape.context);
  const double width =
      std::max({real(model.hidden), 3 * real(kind.ffn_hidden),
                3 * real(kind.heads + kind.kv_heads) * real(largest_head(kind)), scores, real(model.vocabulary)});
  const double shared = std::ceil(real(shared_width(kind)) / real(kind.ffn_hidden));
  const double experts = std::max(1.0, real(kind.experts_per_token) + shared);
  const double tokens = real(shape.sequence) * real(shape.micro_batch);
  if (64 * tokens * experts * width < 9e18 && 20 * tokens * scores * real(largest_head(kind)) < 9e18) return;
  throw KeyError(
      "workload.sequence",
      fmt::format("a layer over {} x {} tokens of this model is larger than is counted: more than 10^17 numbers, "
                  "or 10^18 FLOP, in one kernel",
                  shape.micro_batch, shape.sequence));
}

/// Only a kernel that makes scores and their sums at once converts keys and values on its way: products have operands
/// of one datatype.
void refuse_unconverted(const LayerShape& shape) {
  if (shape.phase != Phase::generation || shape.flash_attention) return;
  if (shape.cache_datatype.empty() || shape.cache_datatype == shape.datatype) return;
  throw KeyError("workload.kv_cache_datatype",
                 fmt::format("\"{}\": products of attention would need keys and values in \"{}\", allowed: \"{}\", or "
                             "another one with flash_attention = true, whose kernel converts what it reads",
                             shape.cache_datatype, shape.datatype, shape.datatype));
}

LayerShape complete(const Model& model, const LayerFields& kind, LayerShape shape) {
  if (shape.sequence < 1 || shape.micro_batch < 1 || shape.tensor < 1 || shape.expert_parallel < 1) {
    throw InputError(
        fmt::format("a layer needs a sequence, micro-batch, tensor and expert parallelism of at least 1, "
                    "not {}, {}, {} and {}",
                    shape.sequence, shape.micro_batch, shape.tensor, shape.expert_parallel));
  }
  if (shape.context == 0) shape.context = shape.sequence * shape.context_parallel;
  if (shape.context < shape.sequence) {
    throw InputError(fmt::format("context = {} is shorter than the sequence of {} tokens that it contains",
                                 shape.context, shape.sequence));
  }
  if (shape.heads_per_rank == 0) shape.heads_per_rank = share(kind.heads, shape.tensor, "heads", "tensor-parallel");
  if (shape.kv_heads_per_rank == 0) {
    shape.kv_heads_per_rank =
        kind.kv_heads < shape.tensor ? 1 : share(kind.kv_heads, shape.tensor, "kv_heads", "tensor-parallel");
  }
  refuse_too_large(model, kind, shape);
  refuse_unconverted(shape);
  if (is_moe(kind) && shape.expert_tokens == 0) {
    shape.expert_tokens = shape.sequence * shape.micro_batch * kind.experts_per_token;
  }
  return shape;
}

std::int64_t ceil_share(std::int64_t whole, std::int64_t parts) { return (whole + parts - 1) / parts; }

std::int64_t width_share(std::int64_t width, const LayerShape& shape, std::int64_t parts, const char* ranks) {
  return shape.pad_width ? ceil_share(width, parts) : share(width, parts, "ffn_hidden", ranks);
}

std::int64_t expert_share(const LayerFields& kind, const LayerShape& shape) {
  return shape.expert_tensor > 0 ? width_share(kind.ffn_hidden, shape, shape.expert_tensor, "expert-tensor-parallel")
                                 : width_share(kind.ffn_hidden, shape, shape.tensor, "tensor-parallel");
}

std::int64_t shared_share(const LayerFields& kind, const LayerShape& shape) {
  if (kind.shared_experts == 0) return 0;
  const std::int64_t one = shared_width(kind) / kind.shared_experts;
  return kind.shared_experts * width_share(one, shape, shape.tensor, "tensor-parallel");
}

std::int64_t cut_tokens(const LayerShape& shape) {
  return (shape.sequence_parallel ? ceil_share(shape.sequence, shape.tensor) : shape.sequence) * shape.micro_batch;
}

}  // namespace

Context::Context(const Model& model_in, const LayerShape& shape_in)
    : model(model_in),
      layer(layer_kind(model_in, shape_in.kind)),
      shape(complete(model_in, layer, shape_in)),
      stack(shape_in.stack == nullptr ? of_megatron : *shape_in.stack),
      element(bytes_per_element(shape.datatype)),
      cache_element(bytes_per_element(shape.cache_datatype.empty() ? shape.datatype : shape.cache_datatype)),
      tokens(shape.sequence * shape.micro_batch),
      tokens_cut(cut_tokens(shape)),
      query_width(shape.heads_per_rank * layer.head_dim),
      key_width(shape.kv_heads_per_rank * layer.head_dim),
      value_width(shape.kv_heads_per_rank * value_dim(layer)),
      output_width(shape.heads_per_rank * value_dim(layer)),
      state_groups(has_attention(layer) ? 0
                                        : share(layer.state_groups, shape.tensor, "state_groups", "tensor-parallel")),
      mlp_width(is_moe(layer) || !layer.mlp ? 0
                                            : width_share(layer.ffn_hidden, shape, shape.tensor, "tensor-parallel")),
      expert_width(is_moe(layer) ? expert_share(layer, shape) : 0),
      shared_width(shared_share(layer, shape)),
      local_experts(is_moe(layer) ? share(layer.experts, shape.expert_parallel, "experts", "expert-parallel") : 0),
      training(shape.phase == Phase::training),
      dropout(training && model.dropout),
      attention_dropout(training && (model.dropout || model.attention_dropout)),
      rotary(has_attention(layer) && model.position == PositionEmbedding::rotary && layer.rotary_fraction > 0),
      has_low_products(stack.has_low_products(shape.datatype)) {}

Operator Context::gemm(const std::string& name, std::int64_t batch, std::int64_t m, std::int64_t n,
                       std::int64_t k) const {
  return workload::gemm(name, batch, m, n, k, shape.datatype);
}

Operator Context::stream(OperatorKind kind, const std::string& name, std::int64_t elements_read,
                         std::int64_t elements_written) const {
  return streaming(kind, name, Bytes{element * elements_read}, Bytes{element * elements_written}, shape.datatype);
}

Operator Context::stream_masked(OperatorKind kind, const std::string& name, std::int64_t elements_read,
                                std::int64_t elements_written, std::int64_t mask_read,
                                std::int64_t mask_written) const {
  Operator op = stream(kind, name, elements_read, elements_written);
  op.bytes_read += mask_read;
  op.bytes_written += mask_written;
  return op;
}

Operator Context::bias_gradient(const std::string& name, std::int64_t elements, std::int64_t parameters) const {
  const std::int64_t gradients = shape.gradient_bytes * parameters;
  return streaming(OperatorKind::reduction, name, Bytes{element * elements + (shape.adds_gradients ? gradients : 0)},
                   Bytes{gradients}, shape.datatype);
}

void Context::add_accumulation(const std::string& name, std::int64_t parameters, OperatorSet& set) const {
  if (!shape.adds_gradients && shape.gradient_bytes == element) return;  // it is where it has to be
  const std::int64_t gradients = shape.gradient_bytes * parameters;
  const std::int64_t read = element * parameters + (shape.adds_gradients ? gradients : 0);
  set.weight_gradient.push_back(
      streaming(OperatorKind::elementwise, name + " accumulate", Bytes{read}, Bytes{gradients}, shape.datatype));
}

void append(const OperatorSet& later, OperatorSet& set) {
  set.forward.insert(set.forward.end(), later.forward.begin(), later.forward.end());
  set.put_before_gradient(later.input_gradient);
  set.weight_gradient.insert(set.weight_gradient.begin(), later.weight_gradient.begin(), later.weight_gradient.end());
  set.kept_inside += later.kept_inside;
}

}  // namespace tessera::workload::layer
