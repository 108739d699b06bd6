// What stands before the first layer and behind the last one.
#include <algorithm>

#include "diffusion.hpp"
#include "layer/context.hpp"
#include "tessera/workload/transformer.hpp"

namespace tessera::workload {
namespace {

using layer::Context;

/// Forward and backward of a kernel that moves `elements` to and fro.
void add_copy(const Context& context, OperatorKind kind, const std::string& name, std::int64_t read,
              std::int64_t written, OperatorSet& set) {
  set.forward.push_back(context.stream(kind, name, read, written));
}

/// Gradient of a table of rows: cleared, summed by row, then added to the gradient buffer.
void add_table_gradient(const Context& context, const std::string& name, std::int64_t rows, OperatorSet& set) {
  const std::int64_t table = rows * context.model.hidden;
  const std::int64_t elements = context.tokens * context.model.hidden;
  set.weight_gradient.push_back(
      context.stream(OperatorKind::embedding, name + " wgrad", 2 * elements, table + elements));
  context.add_accumulation(name, table, set);
}

OperatorSet lookup_section(const Context& context) {
  const std::int64_t elements = context.tokens * context.model.hidden;
  OperatorSet set;
  add_copy(context, OperatorKind::embedding, "word embedding", elements, elements, set);
  // Rows of other ranks' vocabulary are cleared before the sum over the ranks.
  const bool masked = context.shape.tensor > 1;
  if (masked) add_copy(context, OperatorKind::elementwise, "word embedding mask", elements, elements, set);
  if (!context.training) return set;
  if (masked) {
    set.input_gradient.push_back(
        context.stream(OperatorKind::elementwise, "word embedding mask dgrad", elements, elements));
  }
  const std::int64_t rows = padded_vocabulary(context.model, context.shape.tensor) / context.shape.tensor;
  add_table_gradient(context, "word embedding", rows, set);
  return set;
}

void add_embedding(const Context& context, const std::string& name, std::int64_t rows, OperatorSet& set) {
  const std::int64_t elements = context.tokens * context.model.hidden;
  add_copy(context, OperatorKind::embedding, name, elements, elements, set);
  add_copy(context, OperatorKind::elementwise, name + " sum", 2 * elements, elements, set);
  if (context.training) add_table_gradient(context, name, rows, set);
}

/// A factor on all that goes into the first layer, behind everything else (NeMo's EmbeddingScalingMixin).
void add_scaling(const Context& context, OperatorSet& set) {
  const std::int64_t elements = context.tokens_cut * context.model.hidden;
  add_copy(context, OperatorKind::elementwise, "embedding scaling", elements, elements, set);
  if (!context.training) return;
  set.input_gradient.insert(set.input_gradient.begin(),
                            context.stream(OperatorKind::elementwise, "embedding scaling dgrad", elements, elements));
}

OperatorSet embedding_combine_section(const Context& context) {
  const Model& model = context.model;
  OperatorSet set;
  if (model.position == PositionEmbedding::learned) {
    add_embedding(context, "position embedding", model.max_positions, set);
  }
  if (model.token_types > 0) add_embedding(context, "token type embedding", model.token_types, set);
  if (model.embedding_norm) {
    const OperatorSet norm = layer::norm_section(context, "embedding norm", context.tokens, false);
    set.forward.insert(set.forward.end(), norm.forward.begin(), norm.forward.end());
    set.input_gradient.insert(set.input_gradient.end(), norm.input_gradient.begin(), norm.input_gradient.end());
    set.weight_gradient.insert(set.weight_gradient.end(), norm.weight_gradient.begin(), norm.weight_gradient.end());
    set.kept_inside += norm.kept_input;
  }
  // Batch-first to sequence-first.
  const std::int64_t elements = context.tokens * model.hidden;
  add_copy(context, OperatorKind::copy, "embedding layout", elements, elements, set);
  if (context.training) {
    set.input_gradient.insert(set.input_gradient.begin(),
                              context.stream(OperatorKind::copy, "embedding layout dgrad", elements, elements));
  }
  if (context.dropout) {
    const std::int64_t cut = context.tokens_cut * model.hidden;
    set.forward.push_back(context.stream_masked(OperatorKind::dropout, "embedding dropout", cut, cut, 0, cut));
    set.input_gradient.insert(
        set.input_gradient.begin(),
        context.stream_masked(OperatorKind::dropout, "embedding dropout dgrad", cut, cut, cut, 0));
    set.kept_inside += cut;
  }
  if (model.embedding_scaling) add_scaling(context, set);
  return set;
}

/// BERT's linear layer, activation and norm before the logits, the same on each tensor rank.
void add_masked_lm_transform(const Context& context, std::int64_t tokens, OperatorSet& set) {
  const std::int64_t h = context.model.hidden;
  const std::int64_t elements = tokens * h;
  OperatorSet transform;
  layer::add_linear(context, {"lm head", 1, tokens, h, h, layer::Linear::Gathered::nothing, false}, transform);
  transform.forward.push_back(context.stream(OperatorKind::fused, "lm head activation", elements + h, elements));
  const OperatorSet norm = layer::norm_section(context, "lm head norm", tokens, false);
  transform.forward.insert(transform.forward.end(), norm.forward.begin(), norm.forward.end());
  set.forward.insert(set.forward.end(), transform.forward.begin(), transform.forward.end());
  if (!context.training) return;
  std::vector<Operator> backward = norm.input_gradient;
  backward.push_back(context.stream(OperatorKind::fused, "lm head activation dgrad", 2 * elements + h, elements));
  backward.insert(backward.end(), transform.input_gradient.begin(), transform.input_gradient.end());
  set.input_gradient.insert(set.input_gradient.begin(), backward.begin(), backward.end());
  std::vector<Operator> weights = norm.weight_gradient;
  weights.push_back(context.bias_gradient("lm head bias wgrad", elements, h));
  weights.insert(weights.end(), transform.weight_gradient.begin(), transform.weight_gradient.end());
  set.weight_gradient.insert(set.weight_gradient.begin(), weights.begin(), weights.end());
  set.kept_inside += context.element * 2 * elements + norm.kept_input;  // inputs of the linear layer, activation, norm
}

/// Tokens whose logits are wanted: all in training, the last of each sequence otherwise.
std::int64_t head_tokens(const Context& context) {
  return context.training ? context.tokens : context.shape.micro_batch;
}

/// Each way one kernel. Backward it needs what it made, which the loss does not keep.
void add_softcap(const Context& context, std::int64_t logits, OperatorSet& set) {
  set.forward.push_back(context.stream(OperatorKind::fused, "logits soft cap", logits, logits));
  if (!context.training) return;
  set.input_gradient.insert(set.input_gradient.begin(),
                            context.stream(OperatorKind::fused, "logits soft cap dgrad", 2 * logits, logits));
  set.kept_inside += context.element * logits;
}

OperatorSet logits_section(const Context& context) {
  const std::int64_t columns = padded_vocabulary(context.model, context.shape.tensor) / context.shape.tensor;
  const std::int64_t tokens = head_tokens(context);
  OperatorSet set;
  set.whole_input = context.model.hidden;
  layer::add_linear(context,
                    {"logits", 1, tokens, context.model.hidden, columns, layer::Linear::Gathered::nothing, false}, set);
  if (context.model.masked_lm_head) {
    const std::int64_t elements = tokens * columns;
    set.forward.push_back(context.stream(OperatorKind::elementwise, "logits bias", elements + columns, elements));
    if (context.training) set.weight_gradient.push_back(context.bias_gradient("logits bias wgrad", elements, columns));
  }
  if (context.training) set.kept_input = context.element * context.tokens_cut * context.model.hidden;
  if (context.model.logits_softcap > 0) add_softcap(context, tokens * columns, set);
  return set;
}

}  // namespace

std::int64_t padded_vocabulary(const Model& model, std::int64_t tensor) {
  const std::int64_t multiple = 128 * tensor;
  return (model.vocabulary + multiple - 1) / multiple * multiple;
}

EmbeddingOperators embedding_operators(const Model& model, const LayerShape& shape) {
  if (is_diffusion(model)) return diffusion_embedding(model, shape);
  if (model.vocabulary == 0) return {};  // activations come from elsewhere
  const Context context(model, shape);
  EmbeddingOperators embedding{lookup_section(context), embedding_combine_section(context)};
  layer::add_operations(context, "embedding", embedding.combine);
  return embedding;
}

HeadOperators head_operators(const Model& model, const LayerShape& shape) {
  if (is_diffusion(model)) return diffusion_head(model, shape);
  const Context context(model, shape);
  HeadOperators head;
  const std::int64_t tokens = context.training ? context.tokens_cut : head_tokens(context);
  if (model.final_norm) head.norm = layer::norm_section(context, "final norm", tokens, false);
  if (model.masked_lm_head) add_masked_lm_transform(context, tokens, head.norm);
  if (model.vocabulary == 0) return head;  // activations go elsewhere, and gradients come from there
  head.logits = logits_section(context);
  if (!context.training) return head;
  head.loss = layer::loss_sections(context);
  // Behind the last one that does something.
  const auto last =
      std::ranges::find_if(head.loss.rbegin(), head.loss.rend(), [](const auto& set) { return !set.empty(); });
  layer::add_operations(context, "loss", *last);
  return head;
}

}  // namespace tessera::workload
