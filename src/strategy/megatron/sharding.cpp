#include "sharding.hpp"

#include <algorithm>

namespace tessera::strategy::megatron {
namespace {

using workload::Operator;
using workload::OperatorKind;

std::int64_t rounded_up(std::int64_t parameters, std::int64_t replicas) {
  return (parameters + replicas - 1) / replicas * replicas;
}

/// `own_weight`: as head_parameters().
UnitParameters parameters_of(const Cut& cut, Unit unit, bool own_weight) {
  const workload::Model& model = *cut.model;
  workload::ParameterShare share;
  if (unit == Unit::embedding)
    share = workload::embedding_parameters(model, cut.layer_shape(0, 0));
  else if (unit == Unit::head)
    share = workload::head_parameters(model, cut.layer_shape(0, 0), own_weight);
  else
    share = workload::layer_parameters(
        model, cut.layer_shape(static_cast<std::uint32_t>(unit) - static_cast<std::uint32_t>(Unit::first_layer), 0));
  return {share.sharded + share.replicated, share.expert};
}

/// Parameters of a unit that are there only while it is whole, and those whose gradients are.
UnitParameters gathered_of(const Cut& cut, Unit unit) {
  const UnitParameters all = used_by(cut, unit);
  return {all.dense, experts_stay(cut) ? 0 : all.expert};
}
UnitParameters reduced_of(const Cut& cut, Unit unit) {
  const UnitParameters all = used_by(cut, unit);
  return {all.dense, sums_experts_in_place(cut) ? 0 : all.expert};
}

/// Elements of all parts together, and of one of them.
std::int64_t whole(const Cut& cut, const UnitParameters& all) {
  return rounded_up(all.dense, cut.options.shards()) + rounded_up(all.expert, cut.expert_shards());
}
UnitParameters parts(const Cut& cut, const UnitParameters& all) {
  return {part_of(cut, all.dense), rounded_up(all.expert, cut.expert_shards()) / cut.expert_shards()};
}
std::int64_t part(const Cut& cut, const UnitParameters& all) {
  const UnitParameters of = parts(cut, all);
  return of.dense + of.expert;
}

Operator elementwise(const Cut& cut, const char* name, std::int64_t read, std::int64_t written) {
  return workload::streaming(OperatorKind::elementwise, name, Bytes{read}, Bytes{written}, cut.workload->datatype);
}

/// The part is kept in FP32, and gathered in the weights' datatype.
void cast_part(Writer& main, Unit unit, Activity activity) {
  constexpr std::int64_t kept = 4;  // B
  const Cut& cut = main.cut();
  if (!cut.options.flat_parameters || cut.element() == kept) return;
  const std::int64_t elements = part(cut, gathered_of(cut, unit));
  main.run({elementwise(cut, "cast of the part", kept * elements, cut.element() * elements)}, activity);
}

/// What happens to the gradients of a unit before they are reduced: the parameters are slices of one tensor, so their
/// gradients are copied into its own, cast, and divided by a factor of the replicas.
std::vector<Operator> before_reduction(const Cut& cut, Unit unit) {
  if (!cut.options.flat_parameters) return {};
  const std::int64_t elements = whole(cut, reduced_of(cut, unit));
  const std::int64_t own = cut.element() * elements, reduced = cut.options.bytes_to_reduce() * elements;
  std::vector<Operator> operators = {workload::streaming(OperatorKind::copy, "gradients side by side", Bytes{own},
                                                         Bytes{own}, cut.workload->datatype)};
  if (own != reduced) operators.push_back(elementwise(cut, "cast of the gradients", own, reduced));
  operators.push_back(elementwise(cut, "division of the gradients", reduced, reduced));
  return operators;
}

/// Behind it: the part is divided by the rest of the replicas, and added up over the micro-batches.
std::vector<Operator> behind_reduction(const Cut& cut, Unit unit) {
  const std::int64_t part = part_of_unit(cut, unit);
  const std::int64_t reduced = cut.options.bytes_to_reduce() * part, sums = cut.options.gradient_bytes * part;
  std::vector<Operator> operators;
  if (cut.options.flat_parameters)
    operators.push_back(elementwise(cut, "division of the gradients' part", reduced, reduced));
  operators.push_back(elementwise(cut, "add to gradients' part", reduced + sums, sums));
  return operators;
}

/// Each pass of a micro-batch gathers the units that it needs.
bool gathers_for_passes(const Cut& cut) { return cut.options.shards_parameters() && !cut.options.streams_weights(); }
/// Each backward pass of a micro-batch leaves a part of the gradients of the units that it passes.
bool reduces_for_passes(const Cut& cut) { return cut.options.shards_gradients() && !cut.options.streams_weights(); }

}  // namespace

bool experts_stay(const Cut& cut) { return cut.expert_shards() == 1 && !cut.options.weights_on_hosts(); }
bool sums_experts_in_place(const Cut& cut) { return cut.expert_replicas() == 1 && !cut.options.weights_on_hosts(); }

UnitParameters used_by(const Cut& cut, Unit unit) { return parameters_of(cut, unit, true); }

std::vector<Unit> units_of(const Cut& cut, std::uint32_t stage, std::uint32_t chunk) {
  std::vector<Unit> units;
  if (cut.has_embedding(stage, chunk)) units.push_back(Unit::embedding);
  for (std::int64_t i = cut.first_layer(stage, chunk); i < cut.end_layer(stage, chunk); ++i)
    units.push_back(layer_unit(workload::kind_of(*cut.model, i)));
  if (cut.has_head(stage, chunk)) units.push_back(Unit::head);
  return units;
}

std::int64_t part_of(const Cut& cut, std::int64_t parameters) {
  return cut.options.shards_gradients() ? rounded_up(parameters, cut.options.shards()) / cut.options.shards()
                                        : parameters;
}

std::int64_t part_of_unit(const Cut& cut, Unit unit) { return part(cut, reduced_of(cut, unit)); }

UnitParameters held_parts(const Cut& cut, std::uint32_t stage) {
  const bool own_weight = !cut.model->tied_embeddings || !cut.joins_ends();
  UnitParameters held;
  for (std::uint32_t chunk = 0; chunk < cut.chunks(); ++chunk) {
    for (const Unit unit : units_of(cut, stage, chunk)) {
      const UnitParameters own = parts(cut, parameters_of(cut, unit, own_weight));
      held.dense += own.dense;
      held.expert += own.expert;
    }
  }
  return held;
}

// Buffers are as large as the largest unit each, so that every unit fits into every one. Without resharding each unit
// has a place of its own.
std::int64_t unit_buffers(const Cut& cut, std::uint32_t stage) {
  if (!cut.options.shards_gradients()) return 0;
  std::int64_t largest = 0, all = 0, largest_gradients = 0;
  for (std::uint32_t chunk = 0; chunk < cut.chunks(); ++chunk) {
    for (const Unit unit : units_of(cut, stage, chunk)) {
      const std::int64_t elements = whole(cut, gathered_of(cut, unit));
      largest_gradients = std::max(largest_gradients, whole(cut, reduced_of(cut, unit)));
      largest = std::max(largest, elements);
      all += elements;
    }
  }
  const bool reshards = !cut.training() || cut.options.reshard_after_forward;
  const std::int64_t gradients =
      cut.training() ? gradient_buffers * cut.options.bytes_to_reduce() * largest_gradients : 0;
  if (!cut.options.shards_parameters()) return gradients;
  return cut.element() * (reshards ? (cut.options.gather_ahead + 1) * largest : all) + gradients;
}

void take_unit(Writer& main) {
  main.builder().label("weight all-gather").activity(Activity::data_communication).wait(unit_gathered);
}

void take_gradient_room(Writer& main) {
  main.builder().label("gradient reduce-scatter").activity(Activity::data_communication).wait(gradient_room);
}

void give_up_unit(Writer& main) { main.builder().signal(unit_done); }

void begin_forward(Writer& main, Unit unit) {
  if (!gathers_for_passes(main.cut())) return;
  cast_part(main, unit, Activity::forward);
  take_unit(main);
}

void end_forward(Writer& main) {
  if (gathers_for_passes(main.cut())) give_up_unit(main);
}

void begin_backward(Writer& main, Unit unit) {
  if (!reduces_for_passes(main.cut())) return;
  if (gathers_for_passes(main.cut()) && main.cut().options.reshard_after_forward) {
    cast_part(main, unit, Activity::backward);
    take_unit(main);
  }
  take_gradient_room(main);
}

// Where nobody else computes on a device, its operators need no events: so the main stream adds, behind the unit's
// backward pass, what the stream beside has to sum up first.
void end_backward(Writer& main, Unit unit) {
  const Cut& cut = main.cut();
  if (!reduces_for_passes(cut)) return;
  main.run(before_reduction(cut, unit), Activity::backward);
  give_up_unit(main);
  main.run(behind_reduction(cut, unit), Activity::backward);
}

void wait_for_gradients(Writer& main) {
  main.builder().label("gradient reduce-scatter").activity(Activity::data_communication);
  main.builder().wait(gradient_room, gradient_buffers);
}

}  // namespace tessera::strategy::megatron
