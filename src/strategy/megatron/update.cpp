#include "update.hpp"

#include "parameter_gathering.hpp"
#include "sharding.hpp"

namespace tessera::strategy::megatron {
namespace {

workload::OptimizerOperators operators(const Cut& cut, const DeviceState& state) {
  return workload::optimizer_operators(optimizer_shape(cut, state));
}

/// Sum over the replicas: of the whole buffer, or of each replica's part of it with the distributed optimizer.
void reduce(Writer& writer, const Holders& over, std::int64_t parameters) {
  const bool scatter = writer.cut().options.scatters_gradients();
  const std::int64_t bytes = writer.cut().options.bytes_to_reduce();
  writer.holder_collective(scatter ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce, over, parameters,
                           bytes, scatter ? "gradient reduce-scatter" : "gradient all-reduce");
}

/// From one precision to another.
void convert(Writer& writer, const char* name, std::int64_t parameters, std::int64_t from, std::int64_t to) {
  if (from == to || (writer.cut().holders() == 1 && writer.cut().expert_replicas() == 1)) return;
  const auto op = workload::streaming(workload::OperatorKind::elementwise, name, Bytes{from * parameters},
                                      Bytes{to * parameters}, writer.cut().workload->datatype);
  writer.run({op}, Activity::optimizer);
}

/// The layers' parameters of a device are reduced beside the backward pass; the rest is what its edges hold.
void reduce_over_replicas(Writer& writer, const DeviceState& state, std::int64_t dense, std::int64_t expert) {
  const Cut& cut = writer.cut();
  const std::int64_t buffer = cut.options.gradient_bytes, reduced = cut.options.bytes_to_reduce();
  if (cut.options.copies() > 1) writer.run(operators(cut, state).average, Activity::optimizer);
  convert(writer, "gradients to be reduced", dense + expert, buffer, reduced);
  reduce(writer, dense_holders, dense);
  reduce(writer, expert_holders, expert);
  convert(writer, "reduced gradients", cut.options.distributed_optimizer ? state.updated() : dense + expert, reduced,
          buffer);
}

void sum_over_replicas(Writer& writer, const DeviceState& state) {
  if (!has_gradient_stream(writer.cut())) return reduce_over_replicas(writer, state, state.dense, state.expert);
  writer.builder().label("gradient reduction").activity(Activity::data_communication);
  writer.builder().wait(gradients_reduced, static_cast<std::uint32_t>(state.layers));
  reduce_over_replicas(writer, state, state.edge, 0);
}

/// Megatron-LM reads the number on its host, which launches nothing before the device has come so far.
void read_by_host(Writer& writer, const char* number) {
  if (writer.cut().options.update == workload::Update::megatron)
    writer.run({workload::host_pause(number, Duration{0})}, Activity::optimizer);
}

/// Products read the new weights in their own datatype, either way: one kernel makes both casts, once an iteration.
/// With the distributed optimizer that is behind the all-gather, for which it does not wait here: neither takes from
/// the other's time. Weights that are kept so are written so by the update.
void cast_weights(Writer& writer, const DeviceState& state) {
  const Workload& workload = *writer.cut().workload;
  if (!workload.has_low_products(workload.datatype) || workload.has_own_weights()) return;
  const std::int64_t cast =
      workload::weight_operand_bytes(state.linear_weights(), workload.operand_datatype(), workload.scaling);
  writer.run(
      {workload::streaming(workload::OperatorKind::copy, "weight casts",
                           Bytes{writer.cut().element() * state.linear_weights()}, Bytes{2 * cast}, workload.datatype)},
      Activity::optimizer);
}

}  // namespace

void gather_weights(Writer& writer, const GatheredWeights& weights) {
  const Cut& cut = writer.cut();
  const Workload& workload = *cut.workload;
  // Linear layers' that are kept as casts are gathered as one of the two.
  const std::string kept = workload.kept_weight_datatype(workload.datatype, true);
  const std::int64_t casts = kept == workload.datatype ? 0 : weights.products;
  const auto gather = [&](std::int64_t parameters, std::int64_t element) {
    writer.holder_collective(CollectiveKind::all_gather, weights.over, parameters, element, "weight all-gather");
  };
  gather(weights.parameters - casts, cut.element());
  gather(casts, workload::bytes_per_element(kept));
}

bool has_gradient_stream(const Cut& cut) {
  return cut.training() && cut.options.overlap_gradient_reduction && cut.holders() > 1;
}

void write_zero_gradients(Writer& writer, const DeviceState& state) {
  writer.run(operators(writer.cut(), state).zero, Activity::optimizer);
}

void write_update(Writer& writer, const DeviceState& state) {
  const Cut& cut = writer.cut();
  // Parts of gradients are summed unit by unit; all others are still each replica's own.
  const bool has_parts = cut.options.shards_gradients();
  if (has_parts) wait_for_gradients(writer);
  if (cut.options.weights_on_hosts()) return;  // theirs is the update too
  // Norms and biases saw one part of the sequence each, those of queries and keys their heads alone.
  const std::int64_t partial = cut.uses_sequence_parallelism() ? state.replicated : state.partial;
  writer.collective(CollectiveKind::all_reduce, tensor_group, cut.options.gradient_bytes * part_of(cut, partial),
                    cut.options.gradient_bytes, Activity::tensor_communication, "replicated gradients all-reduce");
  if (!has_parts) sum_over_replicas(writer, state);
  if (state.tied > 0) {
    writer.collective(CollectiveKind::all_reduce, embedding_group,
                      cut.options.gradient_bytes * part_of(cut, state.tied), cut.options.gradient_bytes,
                      Activity::pipeline_communication, "tied embedding all-reduce");
  }
  const workload::OptimizerOperators optimizer = operators(cut, state);
  writer.run(optimizer.unscale, Activity::optimizer);
  // Losses are scaled in FP16 alone, and all ranks skip the update together where one has found an infinity.
  if (cut.workload->datatype == "fp16") {
    writer.scalar_all_reduce("infinity check all-reduce");
    read_by_host(writer, "infinity check");
  }
  writer.run(optimizer.norm, Activity::optimizer);
  writer.scalar_all_reduce("gradient norm all-reduce");
  read_by_host(writer, "gradient norm");
  writer.run(optimizer.step, Activity::optimizer);
  if (cut.options.shards_parameters()) return;
  cast_weights(writer, state);
  if (!cut.options.distributed_optimizer || gathers_beside_forward(cut)) return;
  // Parts that are padded unit by unit, in groups that the stream of their reductions does not use.
  const std::int64_t dense = has_parts ? state.updated_dense * cut.options.shards() : state.dense;
  const std::int64_t expert = has_parts ? state.updated_expert * cut.expert_shards() : state.expert;
  gather_weights(writer, {has_parts ? dense_beside : dense_holders, dense, state.linear_dense});
  gather_weights(writer, {has_parts ? expert_beside : expert_holders, expert, state.linear_expert});
}

void write_reduction(Writer& beside, const std::vector<workload::ParameterShare>& layers) {
  const Cut& cut = beside.cut();
  const bool scatter = cut.options.scatters_gradients();
  const CollectiveKind kind = scatter ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  for (const workload::ParameterShare& share : layers) {
    const std::int64_t bytes = cut.options.bytes_to_reduce();
    beside.builder().label("").activity(Activity::data_communication).wait(gradients_ready);
    const char* label = scatter ? "gradient reduce-scatter" : "gradient all-reduce";
    beside.holder_collective(kind, dense_beside, share.sharded + share.replicated, bytes, label);
    beside.holder_collective(kind, expert_beside, share.expert, bytes, label);
    beside.builder().signal(gradients_reduced);
  }
}

}  // namespace tessera::strategy::megatron
