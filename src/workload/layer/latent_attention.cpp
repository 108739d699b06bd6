// Multi-head latent attention (DeepSeek-AI 2024, arXiv 2405.04434, section 2.1 and appendix C) on one tensor rank. What
// compresses is the same on each rank and works on the rank's own tokens; what makes heads of that is cut by heads, so
// that ranks gather what is compressed instead of the h elements of a token (Megatron core,
// megatron/core/transformer/multi_latent_attention.py, with its fused rotary kernels).
#include "context.hpp"

namespace tessera::workload::layer {
namespace {

/// Elements of a head of queries and keys that positions do not turn.
std::int64_t plain_dim(const Context& context) { return context.layer.head_dim - context.layer.rotary_dim; }

/// Columns that the compressed keys and values are taken to on this rank.
std::int64_t expanded_width(const Context& context) {
  return context.shape.heads_per_rank * (plain_dim(context) + value_dim(context.layer));
}

/// Of what is compressed.
OperatorSet compressed_norm(const Context& context, const std::string& name, std::int64_t width) {
  const std::int64_t elements = context.tokens_cut * width;
  OperatorSet set;
  set.forward = {context.stream(OperatorKind::norm, name, elements, elements)};
  if (!context.training) return set;
  const std::int64_t parameters = norm_vectors(context.model) * width;
  set.input_gradient = {context.stream(OperatorKind::norm, name + " dgrad", 2 * elements, elements)};
  set.weight_gradient = {context.bias_gradient(name + " wgrad", parameters, parameters)};
  set.kept_inside = context.element * elements;
  return set;
}

/// Queries are turned where they stand. The kernel that turns the keys' common part puts keys and values of each head
/// together besides.
void add_rotary(const Context& context, OperatorSet& set) {
  const std::int64_t turned = context.shape.heads_per_rank * context.layer.rotary_dim;
  if (context.absorbs()) {
    const std::int64_t elements = context.tokens * (turned + context.layer.rotary_dim);
    set.forward.push_back(context.stream(OperatorKind::elementwise, "rotary", elements, elements));
    return;
  }
  const std::int64_t queries = context.tokens * turned;
  const std::int64_t apart = context.tokens * (expanded_width(context) + context.layer.rotary_dim);
  const std::int64_t together = context.tokens * (context.key_width + context.value_width);
  set.forward.push_back(context.stream(OperatorKind::elementwise, "rotary", queries, queries));
  set.forward.push_back(context.stream(OperatorKind::copy, "key-value layout", apart, together));
  if (!context.training) return;
  set.input_gradient.push_back(context.stream(OperatorKind::copy, "key-value layout dgrad", together, apart));
  set.input_gradient.push_back(context.stream(OperatorKind::elementwise, "rotary dgrad", queries, queries));
}

/// What compresses: all read the norm's output.
std::vector<Linear> down_linears(const Context& context) {
  const std::int64_t h = context.model.hidden, rows = context.tokens_cut;
  const LayerFields& layer = context.layer;
  std::vector<Linear> linears;
  if (layer.query_rank > 0) linears.push_back({"query down", 1, rows, h, layer.query_rank});
  linears.push_back({"key-value down", 1, rows, h, layer.kv_rank + layer.rotary_dim});
  return linears;
}

/// Queries without a rank of their own come from the h elements, as what compresses keys and values does.
void add_kept_input(const Context& context, const Linear& queries, const Linear& keys, OperatorSet& set) {
  std::vector<Linear> before, readers;
  if (context.layer.query_rank == 0) before = down_linears(context);
  readers = before;
  readers.push_back(queries);
  set.kept_input = kept_input(context, readers) - kept_input(context, before) + kept_input(context, {keys});
  if (context.has_low_products) set.input_to_run_again = input_bytes(context, queries) + input_bytes(context, keys);
}

}  // namespace

void add_compression(const Context& context, OperatorSet& set) {
  const std::int64_t h = context.model.hidden, rows = context.tokens_cut;
  const LayerFields& layer = context.layer;
  OperatorSet down;
  for (const Linear& linear : down_linears(context)) add_linear(context, linear, down);
  if (context.training) {
    // The norm's output goes two ways; what a query projection of its own sends back comes from the next section.
    down.input_gradient.push_back(
        context.stream(OperatorKind::elementwise, "compression input gradient", 2 * rows * h, rows * h));
    down.kept_inside = kept_input(context, down_linears(context));
  }
  if (layer.query_rank > 0) append(compressed_norm(context, "compressed query norm", layer.query_rank), down);
  append(compressed_norm(context, "compressed key-value norm", layer.kv_rank), down);
  append(down, set);
}

OperatorSet latent_qkv_section(const Context& context) {
  const LayerFields& layer = context.layer;
  const std::int64_t queries_from = layer.query_rank > 0 ? layer.query_rank : context.model.hidden;
  OperatorSet set;
  set.whole_input = queries_from + layer.kv_rank + layer.rotary_dim;
  OperatorSet up;
  set.gathered_element = gathered_element(context);
  const auto gathered = Linear::Gathered::input;
  const Linear queries{"query up", 1, context.tokens, queries_from, context.query_width, gathered};
  const Linear keys{"key-value up", 1, context.tokens, layer.kv_rank, expanded_width(context), gathered};
  add_linear(context, queries, up);
  if (context.absorbs()) {
    add_linear(context,
               {"query absorption", context.shape.heads_per_rank, context.tokens, plain_dim(context), layer.kv_rank},
               up);
  } else {
    add_linear(context, keys, up);
  }
  add_rotary(context, set);
  set.forward.insert(set.forward.begin(), up.forward.begin(), up.forward.end());
  set.input_gradient.insert(set.input_gradient.end(), up.input_gradient.begin(), up.input_gradient.end());
  set.weight_gradient = up.weight_gradient;
  if (context.training) add_kept_input(context, queries, keys, set);
  return set;
}

void add_expansion(const Context& context, OperatorSet& set) {
  add_linear(context,
             {"value expansion", context.shape.heads_per_rank, context.tokens, context.layer.kv_rank,
              value_dim(context.layer)},
             set);
}

std::int64_t cached_elements(const Context& context) {
  if (is_latent(context.layer)) return context.layer.kv_rank + context.layer.rotary_dim;
  return context.key_width + context.value_width;
}

}  // namespace tessera::workload::layer
