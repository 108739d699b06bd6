#include "cut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sharding.hpp"

namespace tessera::strategy::megatron {

using workload::Phase;

std::string size_text(std::int64_t bytes) { return config::format_rounded(bytes, config::Unit::bytes); }

std::string copies_text(const Options& options) {
  const std::string context =
      options.context_parallel > 1 ? fmt::format("context_parallel {} x ", options.context_parallel) : "";
  return fmt::format("{}data {}", context, options.data);
}

config::Location where_of(const config::Table& table, const char* key) {
  const config::Value* value = table.find(key);
  return value == nullptr ? table.where() : value->where();
}

std::vector<program::PipelineAction> stage_actions(const Cut& cut, std::uint32_t stage) {
  const program::PipelineShape shape{static_cast<std::uint32_t>(cut.options.pipeline),
                                     static_cast<std::uint32_t>(cut.options.interleave),
                                     static_cast<std::uint32_t>(cut.micro_batches), cut.training()};
  return program::find_pipeline_order(cut.options.schedule)->actions(shape, stage);
}

bool Cut::splits_backward() const {
  const program::PipelineOrder* order = program::find_pipeline_order(options.schedule);
  return training() && order != nullptr && order->splits_backward;
}

program::ChunkOrder Cut::chunk_order() const {
  const program::PipelineOrder* order = program::find_pipeline_order(options.schedule);
  return order == nullptr ? program::ChunkOrder::in_turn : order->chunk_order;
}

bool Cut::combines_passes() const {
  const program::PipelineOrder* order = program::find_pipeline_order(options.schedule);
  return training() && order != nullptr && order->combines;
}

std::uint32_t Cut::chunks() const { return goes_both_ways() ? 2 : static_cast<std::uint32_t>(options.interleave); }

std::size_t Cut::piece(std::uint32_t stage, std::uint32_t chunk) const {
  const auto stages = static_cast<std::size_t>(options.pipeline);
  if (chunk == 0 || chunk_order() == program::ChunkOrder::in_turn) return chunk * stages + stage;
  return stages * static_cast<std::size_t>(options.interleave) - 1 - stage;  // the other way, from the last one
}

bool Cut::runs_shared_beside() const {
  for (std::uint32_t number = 0; number < layer_kinds(*model); ++number)
    if (runs_shared_beside(number)) return true;
  return false;
}

std::int64_t Cut::sequence() const {
  return phase == Phase::generation ? 1 : workload->sequence / options.context_parallel;
}

std::int64_t Cut::tokens() const { return sequence() * options.micro_batch; }

// Without a causal mask, and where each rank has all tokens of its heads, all do the same.
std::uint32_t Cut::context_class(const Place& at) const {
  const bool is_uneven = model->causal && options.context_exchange != workload::ContextExchange::all_to_all;
  return is_uneven ? context_rank(at) : 0;
}

std::int64_t Cut::tensor_element(std::int64_t width, std::int64_t of_one) const {
  const std::int64_t one = of_one > 0 ? of_one : element();
  const bool is_even = !uses_sequence_parallelism() || sequence() % options.tensor == 0;
  return is_even ? one : one * options.micro_batch * width;
}

std::int64_t Cut::part_bytes() const {
  if (options.exchanges_whole && !uses_sequence_parallelism()) return activation_bytes();
  const std::int64_t t = options.tensor, whole = activation_bytes() / tensor_element();
  return (whole + t - 1) / t * tensor_element();
}

Repeat Cut::repeat(std::uint32_t stage, std::int64_t place) const {
  const std::int64_t layers = recomputed_layers[stage];
  if (recomputed[stage].again.none()) return Repeat::none;
  const bool in_groups = options.recomputation_method == RecomputationMethod::uniform;
  if (layers == 0 || (in_groups && layers == 1)) return Repeat::own;
  if (!in_groups) return place < layers ? Repeat::own : Repeat::none;
  return place % layers == 0 ? Repeat::group_first : Repeat::group_next;
}

workload::Recomputed Cut::repeated(std::uint32_t stage, Repeat repeat) const {
  return repeat == Repeat::none ? workload::Recomputed{} : recomputed[stage];
}

std::int64_t Cut::stage_layers(std::uint32_t stage) const {
  std::int64_t layers = 0;
  for (std::uint32_t chunk = 0; chunk < chunks(); ++chunk)
    layers += end_layer(stage, chunk) - first_layer(stage, chunk);
  return layers;
}

Place Cut::place(std::uint32_t rank) const {
  const auto t = static_cast<std::uint32_t>(options.tensor);
  const auto copies = static_cast<std::uint32_t>(options.copies());
  return {rank % t, rank / t % copies, rank / (t * copies)};
}

std::uint32_t Cut::rank(const Place& place) const {
  const auto t = static_cast<std::uint32_t>(options.tensor);
  const auto copies = static_cast<std::uint32_t>(options.copies());
  return (place.stage * copies + place.copy) * t + place.tensor;
}

std::int64_t Cut::expert_tokens(std::uint32_t number, std::uint32_t expert_rank) const {
  // Tokens of a replica, or where its tensor ranks are several of the groups that experts are cut over, their part.
  const std::int64_t mean = tokens() * kind(number).experts_per_token * expert_tensor() / options.tensor;
  const double load = expert_load.empty() ? 1.0 : expert_load[expert_rank];
  return std::max<std::int64_t>(1, std::llround(load * static_cast<double>(mean)));
}

workload::LayerShape Cut::layer_shape(std::uint32_t number, std::uint32_t expert_rank, std::int64_t keys,
                                      std::uint32_t context_rank) const {
  workload::LayerShape shape;
  shape.sequence = sequence();
  shape.context_parallel = options.context_parallel;
  shape.context_rank = context_rank;
  shape.context_exchange = options.context_exchange;
  shape.context = keys != 0 ? keys : phase == Phase::generation ? context() : workload->sequence;
  shape.micro_batch = options.micro_batch;
  shape.tensor = options.tensor;
  shape.tensor_rows = options.tensor_rows;
  shape.sequence_parallel = uses_sequence_parallelism();
  if (options.pad_heads && has_attention(kind(number))) {
    shape.heads_per_rank = (kind(number).heads + options.tensor - 1) / options.tensor;
    shape.kv_heads_per_rank = (kind(number).kv_heads + options.tensor - 1) / options.tensor;
  }
  shape.pad_width = options.pad_width;
  shape.flash_attention = workload->flash_attention;
  shape.stack = workload;
  shape.phase = phase == Phase::prompt_and_generation ? Phase::prompt : phase;
  shape.datatype = workload->datatype;
  shape.cache_datatype = workload->kv_cache_datatype;
  shape.gradient_bytes = options.gradient_bytes;
  shape.fused_accumulation = options.fused_gradient_accumulation;
  shape.caches_keys = caches_keys;
  shape.casts_weights = options.shards_parameters();
  if (options.shards_gradients()) {
    shape.gradient_bytes = options.flat_parameters ? element() : options.bytes_to_reduce();  // cast later
    shape.adds_gradients = adds_gradients;
    shape.expert_gradient_bytes = sums_experts_in_place(*this) ? options.gradient_bytes : 0;
  }
  shape.kind = number;
  if (is_moe(kind(number))) {
    shape.expert_parallel = options.expert_parallel;
    shape.expert_tensor = options.expert_tensor;
    shape.shared_beside = options.overlap_shared_experts;
    shape.expert_tokens = expert_tokens(number, expert_rank);
  }
  return shape;
}

workload::LayerOperators Cut::layer(std::uint32_t number, std::uint32_t expert_rank, std::int64_t keys,
                                    std::uint32_t context_rank) const {
  workload::LayerOperators operators =
      workload::transformer_layer(*model, layer_shape(number, expert_rank, keys, context_rank));
  if (options.whole_attention)
    operators.attention_core =
        workload::transformer_layer(*model, core_shape(number, expert_rank, keys)).attention_core;
  return operators;
}

workload::LayerShape Cut::core_shape(std::uint32_t number, std::uint32_t expert_rank, std::int64_t keys) const {
  workload::LayerShape shape = layer_shape(number, expert_rank, keys);
  if (options.whole_attention) {
    shape.heads_per_rank = kind(number).heads;
    shape.kv_heads_per_rank = kind(number).kv_heads;
  }
  return shape;
}

}  // namespace tessera::strategy::megatron
