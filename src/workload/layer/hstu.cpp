// HSTU, the layer of generative recommenders (Zhai et al. 2024, arXiv 2402.17152, section 3) on one tensor rank: one
// linear layer and a SiLU make a gate U, values V, queries Q and keys K of a token; scores are SiLU(Q K + bias) without
// a softmax, so that no token's weights depend on how many others there are; what they sum is normed, multiplied by U
// and goes through a linear layer. There is no MLP.
//
// Kernels are those of the paper's implementation (github.com/facebookresearch/generative-recommenders, ops/): one of
// fused attention each way, which keeps nothing beside its inputs, and one of norm and gate. Kept are, with d = h d_qk
// = h d_v as the paper counts them, 14 d B a token in BF16: the layer's input and its norm, the four before the SiLU,
// attention's output; what the last linear layer reads is made again. The norm is over all heads: tensor ranks sum two
// FP32 numbers a token, as norms of queries over all heads do.
#include "fused_attention.hpp"
#include "mixer.hpp"
#include "state_space.hpp"

namespace tessera::workload::layer {
namespace hstu {
namespace {

std::int64_t columns(const Context& context) { return 2 * context.output_width + 2 * context.query_width; }

/// Tables of learnt biases, of distances and of buckets of time, that all heads share; those of time have one more for
/// what is beyond the last bucket.
std::int64_t bias_parameters(const Model& model, const LayerFields& kind) {
  return 2 * model.max_positions - 1 + kind.time_buckets + 1;
}

/// The paper's kernel makes scores along with their sums whatever workload.flash_attention says. Without a softmax it
/// has no statistics, and its gradient needs no output. Biases come from tables and from a token's time, of 8 B.
struct Attention {
  explicit Attention(const Context& context)
      : whole{context.shape.micro_batch * context.shape.heads_per_rank, context.shape.sequence, context.shape.context,
              context.shape.micro_batch * context.shape.heads_per_rank *
                  SeenTokens{context.shape.sequence, context.shape.context - context.shape.sequence}.pairs(context)},
        outputs(context.element * context.tokens * context.output_width),
        biases(fp32 * bias_parameters(context.model, context.layer) + 8 * context.tokens) {}
  FusedAttention whole;
  std::int64_t outputs;  ///< B
  std::int64_t biases;   ///< B

  [[nodiscard]] Operator forward(const Context& context) const {
    Operator op = whole.forward(context);
    op.name = "pointwise attention";
    op.bytes_read += biases;
    if (context.training) op.bytes_written -= whole.statistics();
    return op;
  }
  [[nodiscard]] Operator backward(const Context& context) const {
    Operator op = whole.backward(context);
    op.name = "pointwise attention dgrad";
    op.bytes_read += biases - outputs - whole.statistics();
    op.bytes_written += context.shape.gradient_bytes * bias_parameters(context.model, context.layer);
    return op;
  }
};

/// SiLU of all four, which the backward pass makes again.
OperatorSet activation(const Context& context) {
  const std::int64_t elements = context.tokens * columns(context);
  OperatorSet set;
  set.forward = {context.stream(OperatorKind::fused, "silu", elements, elements)};
  if (!context.training) return set;
  set.input_gradient = {context.stream(OperatorKind::fused, "silu dgrad", 2 * elements, elements)};
  set.weight_gradient = {context.bias_gradient("in projection bias wgrad", elements, columns(context))};
  return set;
}

Operator gated_norm(const Context& context, const std::string& name) {
  const std::int64_t elements = context.tokens * context.output_width;
  return context.stream(OperatorKind::norm, name, 2 * elements, elements);
}

/// Sums over a rank's heads, of squares and of elements.
Operator statistics(const Context& context, const std::string& name, std::int64_t tensors) {
  return streaming(OperatorKind::reduction, name,
                   Bytes{context.element * tensors * context.tokens * context.output_width},
                   Bytes{2 * fp32 * context.tokens}, context.shape.datatype);
}

/// Of what attention makes, behind it; backward it is the first.
void add_norm(const Context& context, OperatorSet& set) {
  const std::int64_t elements = context.tokens * context.output_width, sums = 2 * fp32 * context.tokens;
  const std::int64_t parameters = norm_vectors(context.model) * context.output_width;
  const bool is_summed = context.shape.tensor > 1;
  if (is_summed) {
    set.forward.push_back(statistics(context, "gated norm statistics", 1));
    set.sum_over_tensor(sums, fp32);
  }
  set.forward.push_back(gated_norm(context, "gated norm"));
  if (!context.training) return;
  set.put_before_gradient({context.stream(OperatorKind::norm, "gated norm dgrad", 3 * elements, 2 * elements)});
  if (is_summed) {
    set.sum_gradient_over_tensor(sums, fp32);
    set.put_before_gradient({statistics(context, "gated norm statistics dgrad", 3)});
  }
  set.weight_gradient.push_back(context.bias_gradient("gated norm wgrad", parameters, parameters));
  set.kept_inside += context.element * elements;  // attention's output
}

OperatorSet core(const Context& context) {
  const Attention attention(context);
  const std::int64_t elements = context.tokens * columns(context);
  OperatorSet set = activation(context);
  set.forward.push_back(attention.forward(context));
  if (context.training) set.put_before_gradient({attention.backward(context)});
  add_norm(context, set);
  if (!context.training) return set;
  set.put_before_gradient({context.stream(OperatorKind::fused, "silu again", elements, elements)});
  set.kept_input = context.element * elements;
  return set;
}

/// What it reads is not kept, but made of what the core keeps before the weight gradient; operands of fewer bits are.
OperatorSet output(const Context& context) {
  OperatorSet set = projection_section(context);
  if (!context.training || context.has_low_products) return set;
  set.weight_gradient.insert(set.weight_gradient.begin(), gated_norm(context, "gated norm again"));
  set.input_to_run_again = set.kept_input;
  set.kept_input = 0;
  return set;
}

/// The linear layer that makes the four has a bias, the last one none. Biases of scores are of all heads, of which a
/// rank sees some.
void add_parameters(const Context& context, ParameterShare& share) {
  add_projection_weights(context, share);
  const std::int64_t biases = bias_parameters(context.model, context.layer);
  share.sharded += columns(context) + norm_vectors(context.model) * context.output_width;
  share.replicated += biases;
  share.partial += biases;
}

/// Nobody generates: a recommender scores candidates.
std::int64_t cached_bytes(const Context&) { return 0; }

Int128 weights(const Model& model, const LayerFields& kind) {
  return Int128{5} * model.hidden * kind.heads * kind.head_dim;
}

/// Two products of all pairs, as attention's are counted.
Int128 core_flops(const LayerFields& kind, std::int64_t sequence, std::int64_t context, Phase) {
  return Int128{4} * sequence * context * kind.heads * kind.head_dim;
}

}  // namespace
}  // namespace hstu

MixerKind hstu_mixer() {
  using namespace hstu;
  return {.mixer = Mixer::hstu,
          .key = "hstu",
          .words = "HSTU",
          .needs = {{"time_buckets", &LayerFields::time_buckets}},
          .input_columns = columns,
          .input = input_section,
          .core = core,
          .output = output,
          .add_parameters = add_parameters,
          .add_products = add_projection_weights,
          .cached_bytes = cached_bytes,
          .weights = weights,
          .core_flops = core_flops};
}

}  // namespace tessera::workload::layer
