#include "writer.hpp"

#include <algorithm>

namespace tessera::strategy::megatron {

void Writer::run(const std::vector<workload::Operator>& operators, Activity activity) {
  for (const workload::Operator& op : operators) builder_.label(op.name).activity(activity).compute(op);
}

std::int64_t Writer::members(GroupSlot group) const {
  const Options& options = cut_.options;
  switch (group) {
    case tensor_group:
    case tensor_beside_group:
    case tensor_gather_group:
    case tensor_scatter_group:
    case shared_tensor_group:
      return options.tensor;
    case context_group:
      return options.context_parallel;
    case data_group:
    case data_beside_group:
      return options.shards();
    case across_group:
    case across_beside_group:
      return options.shard_groups();
    case twins_group:
    case twins_beside_group:
      return cut_.twins();
    case expert_data_group:
    case expert_data_beside_group:
      return cut_.expert_shards();
    case expert_group:
    case expert_beside_group:
      return options.expert_parallel;
    case expert_rail_group:
    case expert_rail_beside_group:
      return cut_.expert_nodes;
    case expert_node_group:
    case expert_node_beside_group:
      return options.expert_parallel / cut_.expert_nodes;
    case expert_tensor_group:
    case expert_tensor_beside_group:
      return cut_.expert_tensor();
    case row_group:
      return options.tensor / options.tensor_rows;
    case column_group:
      return options.tensor_rows;
    case embedding_group:
      return cut_.shares_embedding() ? 2 : 1;
    default:
      return options.tensor * options.pipeline * (options.distributed_optimizer ? options.shards() : 1);
  }
}

GroupSlot Writer::own(GroupSlot group) const {
  if (stream_ == Stream::main) return group;
  if (stream_ == Stream::shared_experts) return group == tensor_group ? shared_tensor_group : group;
  switch (group) {
    case tensor_group:
      return tensor_beside_group;
    case expert_group:
      return expert_beside_group;
    case expert_tensor_group:
      return expert_tensor_beside_group;
    case expert_rail_group:
      return expert_rail_beside_group;
    case expert_node_group:
      return expert_node_beside_group;
    default:
      return group;
  }
}

void Writer::collective(CollectiveKind kind, GroupSlot group, std::int64_t bytes, std::int64_t element,
                        Activity activity, const std::string& label) {
  if (members(group) < 2 || bytes == 0) return;
  program::Collective collective;
  collective.kind = kind;
  collective.group_slot = own(group);
  collective.element = Bytes{element};
  collective.bytes = Bytes{(bytes + element - 1) / element * element};
  cut_.collectives->choose_for(collective);
  builder_.label(label).activity(activity).collective(collective);
}

void Writer::leave_activations(std::int64_t held, std::int64_t stay) {
  builder_.release(MemoryCategory::activations, Bytes{std::max<std::int64_t>(0, held - stay)});
  builder_.allocate(MemoryCategory::activations, Bytes{std::max<std::int64_t>(0, stay - held)});
}

// As Megatron-LM pads its gradient buffers (MemoryBuffer in its distributed.py).
void Writer::replica_collective(CollectiveKind kind, GroupSlot group, std::int64_t elements, std::int64_t element,
                                const std::string& label) {
  const std::int64_t replicas = members(group);
  const std::int64_t padded = (elements + replicas - 1) / replicas * replicas;
  collective(kind, group, padded * element, element, Activity::data_communication, label);
}

void Writer::holder_collective(CollectiveKind kind, const Holders& over, std::int64_t elements, std::int64_t element,
                               const std::string& label) {
  // A part of a copy is what its twins share, so parts are as small, and as much is sent, as over all at once.
  const std::int64_t copies = members(over.copies);
  const std::int64_t shared = kind == CollectiveKind::all_reduce ? elements : (elements + copies - 1) / copies;
  if (kind == CollectiveKind::all_gather) replica_collective(kind, over.twins, shared, element, label);
  replica_collective(kind, over.copies, elements, element, label);
  if (kind == CollectiveKind::all_gather) return;
  replica_collective(kind, over.twins, shared, element, label);
  sum_across(over.across, (shared + cut_.twins() - 1) / cut_.twins(), element);
}

void Writer::sum_across(GroupSlot group, std::int64_t elements, std::int64_t element) {
  collective(CollectiveKind::all_reduce, group, elements * element, element, Activity::data_communication,
             "gradient all-reduce");
}

void Writer::tensor_collective(CollectiveKind kind, std::int64_t width, const std::string& label,
                               std::int64_t element) {
  if (width == 0) return;
  collective(kind, tensor_group, cut_.token_bytes(width, element), cut_.tensor_element(width, element),
             Activity::tensor_communication, label);
}

void Writer::scalar_all_reduce(const std::string& label) {
  if (members(model_group) < 2) return;
  program::Collective collective;
  collective.group_slot = model_group;
  collective.bytes = Bytes{4};
  collective.element = Bytes{4};
  // A ring would pass the number on to hundreds of devices one after the other.
  collective.algorithm = program::algorithm_index("dissemination");
  builder_.label(label).activity(Activity::other_communication).collective(collective);
}

void Writer::expert_all_to_all(GroupSlot group, std::int64_t bytes, const std::string& label) {
  if (members(group) < 2) return;
  program::Collective collective;
  collective.kind = CollectiveKind::all_to_all;
  collective.group_slot = own(group);
  collective.element = Bytes{cut_.element()};
  double sum = 0;
  bool even = true;
  for (const double load : cut_.expert_load) {
    sum += load;
    even = even && load == cut_.expert_load.front();
  }
  // Dropped tokens are not sent. With an uneven load the way back is the way there mirrored: what a rank received it
  // returns, over links with two equal directions; it is written with the same shares.
  const double sent = static_cast<double>(bytes) * sum / static_cast<double>(cut_.expert_load.size());
  const auto elements = Bytes{static_cast<std::int64_t>(sent)} / collective.element;
  collective.bytes = elements * collective.element;
  cut_.collectives->choose_for(collective);
  if (!even) collective.shares = cut_.expert_load;
  builder_.label(label).activity(Activity::expert_communication).collective(collective);
}

}  // namespace tessera::strategy::megatron
