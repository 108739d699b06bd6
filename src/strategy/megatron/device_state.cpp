#include "device_state.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "loans.hpp"
#include "prediction_blocks.hpp"
#include "tessera/program/held_state.hpp"
#include "vision_blocks.hpp"
#include "weight_hosts.hpp"

namespace tessera::strategy::megatron {
namespace {

std::int64_t cut_over_replicas(std::int64_t parameters, std::int64_t replicas, const Cut& cut) {
  return cut.options.distributed_optimizer ? (parameters + replicas - 1) / replicas : parameters;
}

void add(DeviceState& state, const workload::ParameterShare& share) {
  state.dense += share.sharded + share.replicated;
  state.expert += share.expert;
  state.replicated += share.replicated;
  state.partial += share.partial;
}

void add_predictions(const Cut& cut, std::int64_t modules, DeviceState& state) {
  state.layers += modules;
  const auto shape = cut.prediction_shape();
  for (std::int64_t i = 0; i < modules; ++i) {
    add(state, workload::prediction_parameters(*cut.model, shape));
    const workload::ParameterShare products = workload::prediction_products(*cut.model, shape);
    state.linear_dense += products.sharded + products.replicated;
    state.linear_expert += products.expert;
  }
}

void add_layers(const Cut& cut, std::uint32_t stage, DeviceState& state) {
  for (std::uint32_t chunk = 0; chunk < cut.chunks(); ++chunk) {
    const std::int64_t first = cut.first_layer(stage, chunk);
    for (std::int64_t i = first; i < cut.end_layer(stage, chunk); ++i) {
      const auto shape = cut.layer_shape(workload::kind_of(*cut.model, i), 0);
      add(state, workload::layer_parameters(*cut.model, shape));
      const workload::ParameterShare products = workload::product_weights(*cut.model, shape);
      state.linear_dense += products.sharded + products.replicated;
      state.linear_expert += products.expert;
    }
    add_predictions(cut, cut.predictions(stage, chunk), state);
  }
}

void add_edges(const Cut& cut, std::uint32_t stage, DeviceState& state) {
  const std::int64_t layers = state.dense;
  for (std::uint32_t chunk = 0; chunk < cut.chunks(); ++chunk) {
    if (cut.has_embedding(stage, chunk)) {
      add(state, workload::embedding_parameters(*cut.model, cut.layer_shape(0, 0)));
      const VisionWeights vision = vision_weights(cut);
      state.dense += vision.trained;
      state.frozen += vision.frozen;
    }
    if (cut.has_head(stage, chunk)) add(state, last_stage_parameters(cut));
  }
  state.edge = state.dense - layers;
}

std::uint32_t fullest_expert_rank(const Cut& cut) {
  const std::vector<double>& load = cut.expert_load;
  return load.empty() ? 0 : static_cast<std::uint32_t>(std::ranges::max_element(load) - load.begin());
}

}  // namespace

std::int64_t pass_buffers(const Cut& cut, std::uint32_t stage) {
  std::int64_t bytes = cut.uses_sequence_parallelism() ? cut.activation_bytes() : 0;
  const std::int64_t ways = cut.goes_both_ways() ? 2 : 1;
  if (cut.options.pipeline > 1) bytes += ways * (cut.training() ? 2 : 1) * cut.part_bytes();
  const std::int64_t of_vision = stage == 0 ? vision_buffers(cut) : 0;
  if (cut.training()) return bytes + of_vision;
  // Outside training nothing is kept.
  std::int64_t elements = 0;
  for (std::uint32_t i = 0; i < workload::layer_kinds(*cut.model); ++i)
    elements = std::max(elements, workload::widest_pair(*cut.model, cut.core_shape(i, fullest_expert_rank(cut))));
  return bytes + std::max(of_vision, cut.element() * elements);
}

namespace {

/// Tensors that autograd gets in the place of gradients, which a GEMM has added to the buffer already.
class UnusedGradients {
 public:
  void see(const workload::OperatorSet& section) {
    for (const workload::Operator& op : section.weight_gradient)
      if (op.kind == workload::OperatorKind::gemm) shapes_.emplace(op.m, op.n);
  }
  [[nodiscard]] std::int64_t elements() const {
    std::int64_t sum = 0;
    for (const auto& [rows, columns] : shapes_) sum += rows * columns;
    return sum;
  }

 private:
  std::set<std::pair<std::int64_t, std::int64_t>> shapes_;
};

std::int64_t unused_gradients(const Cut& cut, std::uint32_t stage) {
  if (!cut.training() || !cut.options.unused_gradients || !cut.options.fused_gradient_accumulation) return 0;
  UnusedGradients unused;
  const auto see_layer = [&](std::uint32_t kind) {
    const workload::LayerOperators layer = cut.layer(kind, 0);
    for (const workload::OperatorSet* section : layer.in_order()) unused.see(*section);
  };
  for (std::uint32_t kind = 0; kind < workload::layer_kinds(*cut.model); ++kind)
    if (layers_of(cut, stage, kind) > 0) see_layer(kind);
  for (std::uint32_t chunk = 0; chunk < cut.chunks(); ++chunk) {
    if (cut.predictions(stage, chunk) > 0) {
      see_layer(workload::prediction_kind(*cut.model));
      unused.see(workload::prediction_operators(*cut.model, cut.prediction_shape()).projection);
    }
    if (cut.has_head(stage, chunk)) unused.see(workload::head_operators(*cut.model, cut.layer_shape(0, 0)).logits);
  }
  return cut.element() * unused.elements();
}

/// Of weights that are gathered: two casts of those of a layer, the largest one.
std::int64_t cast_buffers(const Cut& cut) {
  const Workload& workload = *cut.workload;
  if (!cut.options.shards_parameters() || !cut.training() || !workload.has_low_products(workload.datatype)) return 0;
  std::int64_t most = 0;
  for (std::uint32_t kind = 0; kind < workload::layer_kinds(*cut.model); ++kind)
    most = std::max(most, workload::product_weights(*cut.model, cut.layer_shape(kind, 0)).total());
  return 2 * workload::weight_operand_bytes(most, workload.operand_datatype(), workload.scaling);
}

}  // namespace

DeviceState device_state(const Cut& cut, std::uint32_t stage) {
  DeviceState state;
  state.layers = cut.stage_layers(stage);
  add_layers(cut, stage, state);
  add_edges(cut, stage, state);
  const workload::Model& model = *cut.model;
  const bool edge = stage == 0 || stage + 1 == cut.options.pipeline;
  if (cut.shares_embedding() && edge) {
    const workload::ParameterShare embedding = workload::embedding_parameters(model, cut.layer_shape(0, 0));
    state.tied = cut.predicts() ? embedding.total() : embedding.sharded;
  }
  if (cut.options.shards_gradients()) {
    const UnitParameters held = cut.options.weights_on_hosts() ? UnitParameters{} : held_parts(cut, stage);
    state.updated_dense = held.dense;
    state.updated_expert = held.expert;
  } else {
    state.updated_dense = cut_over_replicas(state.dense, cut.options.shards() * cut.twins(), cut);
    state.updated_expert = cut_over_replicas(state.expert, cut.expert_shards() * cut.twins(), cut);
  }
  state.held = cut.options.shards_parameters() ? state.updated() : state.parameters();
  state.summed = cut.options.shards_gradients() ? state.updated() : state.parameters();
  if (!cut.training()) {
    for (std::uint32_t kind = 0; kind < workload::layer_kinds(model); ++kind)
      state.kv_cache += workload::kv_cache_bytes(model, cut.core_shape(kind, 0, cut.context()),
                                                 layers_of(cut, stage, kind) * cut.micro_batches);
  }
  state.buffers = pass_buffers(cut, stage) + unit_buffers(cut, stage) + part_buffers(cut) + cast_buffers(cut) +
                  unused_gradients(cut, stage);
  return state;
}

workload::OptimizerShape optimizer_shape(const Cut& cut, const DeviceState& state) {
  workload::OptimizerShape shape;
  shape.parameters = state.summed;
  shape.updated = state.updated();
  shape.datatype = cut.workload->datatype;
  shape.gradient_bytes = cut.options.gradient_bytes;
  shape.moment_bytes = cut.options.moment_bytes;
  shape.master_weights = cut.options.master_weights;
  shape.update = cut.options.update;
  return shape;
}

namespace {

/// Weights as they are kept, and in training beside them, or in their place, two casts for products that read them
/// either way; where units are gathered these are buffers.
std::int64_t weight_bytes(const Cut& cut, const DeviceState& state) {
  const Workload& workload = *cut.workload;
  const std::string kept = workload.kept_weight_datatype(workload.datatype, cut.training());
  const bool is_cast = cut.training() && workload.has_low_products(workload.datatype);
  const std::int64_t casts = is_cast ? 2 * workload::weight_operand_bytes(state.linear_weights(),
                                                                          workload.operand_datatype(), workload.scaling)
                                     : 0;
  if (cut.options.shards_parameters()) return cut.element() * state.held;
  if (kept == workload.datatype) return cut.element() * (state.held + state.frozen) + casts;
  const std::int64_t others = cut.element() * (state.held - state.linear_weights() + state.frozen);
  return others + (is_cast ? casts : workload::weight_operand_bytes(state.linear_weights(), kept, workload.scaling));
}

program::HeldState held_state(const Cut& cut, const DeviceState& state) {
  program::HeldState held;
  held.weights = Bytes{weight_bytes(cut, state)};
  if (cut.training()) {
    held.gradients = Bytes{cut.options.gradient_bytes * state.summed};
    held.optimizer_state = Bytes{optimizer_shape(cut, state).state_bytes() * state.updated()};
  }
  held.kv_cache = Bytes{state.kv_cache};
  held.buffers = Bytes{state.buffers};
  return held;
}

}  // namespace

std::int64_t held_bytes(const Cut& cut, const DeviceState& state) {
  const program::HeldState held = held_state(cut, state);
  return (held.weights + held.gradients + held.optimizer_state + held.kv_cache + held.buffers).value();
}

void allocate_state(Writer& writer, const DeviceState& state) {
  program::allocate(writer.builder(), held_state(writer.cut(), state));
}

}  // namespace tessera::strategy::megatron
