// A whole layer, and what it keeps.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "joint.hpp"
#include "mixer.hpp"
#include "tessera/base/error.hpp"

namespace tessera::workload {

std::array<const OperatorSet*, LayerOperators::section_count> LayerOperators::in_order() const {
  std::array<const OperatorSet*, section_count> sections{};
  for (std::size_t i = 0; i < section_count; ++i) sections[i] = &(this->*layer_sections[i]);
  return sections;
}

namespace {

/// Nothing runs beside it.
ExchangeStep step_at(std::size_t place, ExchangeStep::Kind kind, std::int64_t bytes, std::int64_t element) {
  return {kind, bytes, place, place, element};
}

}  // namespace

void OperatorSet::sum_over_tensor(std::int64_t bytes, std::int64_t element) {
  exchange_steps.push_back(step_at(forward.size(), ExchangeStep::Kind::tensor_sum, bytes, element));
}

void OperatorSet::gather_over_tensor(std::int64_t bytes, std::int64_t element) {
  exchange_steps.push_back(step_at(forward.size(), ExchangeStep::Kind::tensor_gather, bytes, element));
}

void OperatorSet::sum_gradient_over_tensor(std::int64_t bytes, std::int64_t element) {
  gradient_exchange_steps.insert(gradient_exchange_steps.begin(),
                                 step_at(0, ExchangeStep::Kind::tensor_sum, bytes, element));
}

void OperatorSet::gather_gradient_over_tensor(std::int64_t bytes, std::int64_t element) {
  gradient_exchange_steps.insert(gradient_exchange_steps.begin(),
                                 step_at(0, ExchangeStep::Kind::tensor_gather, bytes, element));
}

void OperatorSet::put_before_gradient(const std::vector<Operator>& operators) {
  input_gradient.insert(input_gradient.begin(), operators.begin(), operators.end());
  for (ExchangeStep& step : gradient_exchange_steps) step.begin += operators.size(), step.end += operators.size();
}

void refuse_other_parts(const LayerOperators& layer, const std::vector<LayerPart>& parts) {
  const auto sections = layer.in_order();
  std::size_t next = 0;
  const auto skip_empty = [&](std::size_t end) {
    while (next < end && sections[next]->empty()) ++next;
  };
  for (const LayerPart& part : parts) {
    if (part.last >= sections.size() || part.last < part.first)
      throw InternalError(fmt::format("a part of a layer from section {} to section {}", part.first, part.last));
    skip_empty(part.first);
    if (part.first != next)
      throw InternalError(fmt::format("a part of a layer begins with section {}, and {} comes next", part.first, next));
    next = part.last + 1;
  }
  skip_empty(sections.size());
  if (next != sections.size()) throw InternalError(fmt::format("no part of a layer has its section {}", next));
}

namespace {

/// The MLP or the experts, and what joins them to the residual; attention's is there already.
void add_mlp_part(const layer::Context& context, LayerOperators& result) {
  if (is_moe(context.layer)) {
    layer::add_experts(context, result);
  } else {
    layer::add_dense_mlp(context, result);
  }
  if (is_parallel(context.layer)) return layer::join_parallel(context, result);
  result.mlp_norm = layer::input_norm_section(context, "mlp norm");
  result.mlp_residual = layer::residual_section(context, "mlp", context.model.bias ? 1 : 0);
}

/// Stacks say of attention's sections what they run in them besides; other mixers have none of that.
bool has_operations(const layer::Context& context, LayerSection section) {
  const bool is_mixer = section == &LayerOperators::qkv || section == &LayerOperators::attention_core;
  return has_attention(context.layer) || !is_mixer;
}

/// Of tokens that all have the same weights.
LayerOperators single_layer(const layer::Context& context) {
  const layer::MixerKind& mixer = layer::mixer_kind(context.layer.mixer);
  LayerOperators result;
  result.attention_norm = layer::input_norm_section(context, "attention norm");
  if (is_latent(context.layer)) layer::add_compression(context, result.attention_norm);
  result.qkv = mixer.input(context);
  result.attention_core = mixer.core(context);
  result.projection = mixer.output(context);
  if (!is_parallel(context.layer)) {
    const bool has_bias = has_attention(context.layer) && has_projection_bias(context.model);
    result.attention_residual = layer::residual_section(context, "attention", has_bias ? 1 : 0);
  }
  if (context.layer.mlp) add_mlp_part(context, result);
  return result;
}

}  // namespace

LayerOperators transformer_layer(const Model& model, const LayerShape& shape) {
  const layer::Context context(model, shape);
  LayerOperators result = is_diffusion(model) ? layer::joint_layer(context) : single_layer(context);
  for (std::size_t i = 0; i < layer_sections.size(); ++i)
    if (has_operations(context, layer_sections[i]))
      layer::add_operations(context, section_names[i], result.*layer_sections[i]);
  return result;
}

ApartExperts apart_experts(const Model& model, const LayerShape& shape) {
  layer::Context context(model, shape);
  ApartExperts experts;
  context.experts = layer::Experts::routed;
  layer::add_routed(context, experts.routed);
  for (std::size_t i = place_of(&LayerOperators::router); i <= place_of(&LayerOperators::combine); ++i)
    layer::add_operations(context, section_names[i], experts.routed.*layer_sections[i]);
  context.experts = layer::Experts::shared;
  SharedExperts& shared = experts.shared;
  layer::add_shared_experts(context, shared);
  layer::add_operations(context, "fc1", shared.fc1);
  layer::add_operations(context, "activation", shared.activation);
  layer::add_operations(context, "fc2", shared.fc2);
  return experts;
}

Recomputed recomputed_by(Recomputation recomputation) {
  Recomputed found;
  if (recomputation == Recomputation::full) found.again.set();
  if (recomputation == Recomputation::selective) found.again.set(place_of(&LayerOperators::attention_core));
  return found;
}

std::array<std::int64_t, LayerOperators::section_count> kept_bytes(const LayerOperators& layer,
                                                                   const Recomputed& recomputed) {
  std::array<std::int64_t, LayerOperators::section_count> kept{};
  const auto sections = layer.in_order();
  bool is_before_again = false;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (sections[i]->empty()) continue;
    const bool is_again = recomputed.again[i];
    const bool is_input_kept = !is_before_again || !(is_again || recomputed.drops_outputs);
    const bool has_qkv_its_input = sections[i]->shares_input && recomputed.again[place_of(&LayerOperators::qkv)];
    if (is_again && is_input_kept) kept[i] = has_qkv_its_input ? 0 : sections[i]->kept_to_run_again();
    if (!is_again) kept[i] = (is_input_kept ? sections[i]->kept_input : 0) + sections[i]->kept_inside;
    // An input that is made again of the inside of the section before is kept where that is not.
    const bool is_made_again = sections[i]->kept_input == 0 && sections[i]->input_to_run_again > 0;
    if (!is_again && is_before_again && !recomputed.drops_outputs && is_made_again)
      kept[i] += sections[i]->input_to_run_again;
    is_before_again = is_again;
  }
  return kept;
}

std::array<std::int64_t, LayerOperators::section_count> made_again_bytes(const LayerOperators& layer,
                                                                         const Recomputed& recomputed) {
  auto made = kept_bytes(layer, recomputed);
  const auto sections = layer.in_order();
  for (std::size_t i = 0; i < sections.size(); ++i) {
    // Casts are made beside an input that is kept as it comes.
    const bool is_cast_again = recomputed.again[i] && sections[i]->input_to_run_again >= 0;
    made[i] = sections[i]->kept() - (is_cast_again ? 0 : made[i]);
  }
  return made;
}

std::int64_t activation_bytes(const LayerOperators& layer, Recomputation recomputation) {
  const auto kept = kept_bytes(layer, recomputed_by(recomputation));
  return std::accumulate(kept.begin(), kept.end(), std::int64_t{0});
}

std::int64_t widest_pair(const Model& model, const LayerShape& shape) {
  const layer::Context context(model, shape);
  const LayerFields& kind = context.layer;
  const std::int64_t h = model.hidden, sides = kind.gated_mlp ? 2 : 1;
  const std::int64_t compressed = context.shape.heads_per_rank * (2 * kind.kv_rank + kind.rotary_dim);
  const std::int64_t columns = layer::mixer_kind(kind.mixer).input_columns(context);
  const std::int64_t core = !has_attention(kind) ? h + columns
                            : context.absorbs()  ? compressed
                                                 : columns + context.output_width;
  const std::int64_t expert_tokens = is_moe(kind) ? context.shape.expert_tokens : 0;
  return std::max(context.tokens * std::max(core, h + sides * std::max(context.mlp_width, context.shared_width)),
                  expert_tokens * (h + sides * context.expert_width));
}

std::int64_t kv_cache_bytes(const Model& model, const LayerShape& shape, std::int64_t layers) {
  const layer::Context context(model, shape);
  return layer::cache_product(layer::mixer_kind(context.layer.mixer).cached_bytes(context),
                              {context.shape.micro_batch, layers});
}

}  // namespace tessera::workload
