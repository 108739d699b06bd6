#include "layout.hpp"

#include "parameter_gathering.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "loan_pairs.hpp"
#include "tessera/program/loans.hpp"
#include "ways.hpp"

namespace tessera::strategy::megatron {
namespace {

/// Groups devices and binds them to a slot. Groups of one are left out: nobody talks there.
class Grouping {
 public:
  Grouping(const Cut& cut, program::Program& program) : cut_(cut), program_(program) {}

  /// By what `key_of` says, members in order of rank; it returns -1 for devices without a group.
  void bind(GroupSlot slot, const std::function<std::int64_t(const Place&)>& key_of) {
    std::map<std::int64_t, std::vector<program::DeviceId>> members;
    for (std::uint32_t rank = 0; rank < cut_.devices.size(); ++rank) {
      const std::int64_t key = key_of(cut_.place(rank));
      if (key >= 0) members[key].push_back(cut_.devices[rank]);
    }
    for (auto& [key, devices] : members) bind(slot, std::move(devices));
  }
  void bind(GroupSlot slot, std::vector<program::DeviceId> members) {
    if (members.size() < 2) return;
    const auto group = static_cast<program::GroupId>(program_.groups.size());
    for (const program::DeviceId device : members) program_.devices[device].groups[slot] = group;
    program_.groups.push_back({std::move(members)});
  }

 private:
  const Cut& cut_;
  program::Program& program_;
};

/// Those who share a gradient norm: a replica, or all that have parts of the same gradients. They stand in the order of
/// replicas or of tensor ranks, of whichever there are more: so the members of a part are as far before those of the
/// next one everywhere, and the parts stay alike in collectives over all of them.
void bind_model_groups(const Cut& cut, Grouping& grouping) {
  const bool is_shared = cut.options.distributed_optimizer;
  const auto shards = static_cast<std::uint32_t>(cut.options.shards());
  const bool by_tensor_rank = cut.options.tensor > (is_shared ? cut.options.shards() : cut.options.copies());
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<program::DeviceId>> parts;  // of each group
  for (std::uint32_t rank = 0; rank < cut.devices.size(); ++rank) {
    const Place at = cut.place(rank);
    parts[{is_shared ? at.copy / shards : at.copy, by_tensor_rank ? at.tensor : at.copy}].push_back(cut.devices[rank]);
  }
  std::map<std::uint32_t, std::vector<program::DeviceId>> groups;
  for (const auto& [key, part] : parts) groups[key.first].insert(groups[key.first].end(), part.begin(), part.end());
  for (auto& [key, members] : groups) grouping.bind(model_group, std::move(members));
}

void add_groups(const Cut& cut, program::Program& program) {
  const Options& options = cut.options;
  const std::int64_t t = options.tensor;
  const std::int64_t copies = options.copies();
  const std::int64_t whole = cut.expert_devices();
  const bool training = cut.training();
  Grouping grouping(cut, program);
  const auto tensor = [&](const Place& at) { return at.stage * copies + at.copy; };
  const std::int64_t shards = options.shards(), groups = options.shard_groups();
  const auto data = [&](const Place& at) { return (at.stage * t + at.tensor) * groups + at.copy / shards; };
  const auto across = [&](const Place& at) { return (at.stage * t + at.tensor) * shards + at.copy % shards; };
  // The stage at the other end holds the same pieces, where all are there twice.
  const auto twins = [&](const Place& at) {
    return (std::min<std::int64_t>(at.stage, options.pipeline - 1 - at.stage) * copies + at.copy) * t + at.tensor;
  };
  const auto of_stage = [&](const Place& at) { return at.copy * t + at.tensor; };
  const auto expert = [&](const Place& at) {
    return (at.stage * t + at.tensor % cut.expert_tensor()) * t * copies + of_stage(at) / whole;
  };
  const auto expert_data = [&](const Place& at) {
    const std::int64_t same = (at.stage * t + at.tensor % whole) * copies + of_stage(at) % whole / t;
    return same * groups + at.copy / shards;
  };
  const auto expert_tensor = [&](const Place& at) {
    return (at.stage * copies * t + of_stage(at)) / cut.expert_tensor();
  };
  const auto bind_experts = [&](GroupSlot over_ranks, GroupSlot over_tensor_ranks) {
    if (!has_experts(*cut.model)) return;
    grouping.bind(over_ranks, expert);
    if (cut.expert_tensor() < t) grouping.bind(over_tensor_ranks, expert_tensor);
  };
  grouping.bind(tensor_group, tensor);
  if (cut.shares_sequences()) {
    grouping.bind(context_group,
                  [&](const Place& at) { return (at.stage * options.data + cut.replica(at)) * t + at.tensor; });
  }
  bind_experts(expert_group, expert_tensor_group);
  if (cut.goes_both_ways() || cut.combines_passes()) bind_experts(expert_beside_group, expert_tensor_beside_group);
  const auto bind_dispatch = [&](GroupSlot over_nodes, GroupSlot inside) {
    if (!has_experts(*cut.model) || !options.once_a_node) return;
    const std::int64_t locals = options.expert_parallel / cut.expert_nodes;
    grouping.bind(over_nodes, [&](const Place& at) { return expert(at) * locals + cut.expert_rank(at) % locals; });
    grouping.bind(inside,
                  [&](const Place& at) { return expert(at) * cut.expert_nodes + cut.expert_rank(at) / locals; });
  };
  bind_dispatch(expert_rail_group, expert_node_group);
  if (cut.goes_both_ways() || cut.combines_passes()) bind_dispatch(expert_rail_beside_group, expert_node_beside_group);
  if (cut.runs_shared_beside()) grouping.bind(shared_tensor_group, tensor);
  if (cut.is_two_dimensional()) {
    const std::int64_t columns = t / options.tensor_rows;
    grouping.bind(row_group, [&](const Place& at) { return tensor(at) * t + at.tensor / columns; });
    grouping.bind(column_group, [&](const Place& at) { return tensor(at) * t + at.tensor % columns; });
  }
  if (!training) {
    if (!options.shards_parameters()) return;
    grouping.bind(data_group, data);
    if (has_experts(*cut.model)) grouping.bind(expert_data_group, expert_data);
    return;
  }
  if (options.overlap_tensor_communication || cut.goes_both_ways()) grouping.bind(tensor_beside_group, tensor);
  if (cut.uses_user_buffers()) {
    grouping.bind(tensor_gather_group, tensor);
    grouping.bind(tensor_scatter_group, tensor);
  }
  grouping.bind(data_group, data);
  const bool gathers_whole = options.shards_gradients() && !options.shards_parameters();  // beside their reductions
  const bool has_stream = options.overlap_gradient_reduction || gathers_beside_forward(cut) || gathers_whole;
  if (has_stream) grouping.bind(data_beside_group, data);
  if (groups > 1) grouping.bind(across_group, across);
  if (groups > 1 && has_stream) grouping.bind(across_beside_group, across);
  if (cut.twins() > 1) grouping.bind(twins_group, twins);
  if (cut.twins() > 1 && has_stream) grouping.bind(twins_beside_group, twins);
  if (has_experts(*cut.model)) {
    grouping.bind(expert_data_group, expert_data);
    if (has_stream) grouping.bind(expert_data_beside_group, expert_data);
  }
  bind_model_groups(cut, grouping);
  if (cut.shares_embedding()) {
    grouping.bind(embedding_group, [&](const Place& at) {
      const bool holds = at.stage == 0 || at.stage + 1 == options.pipeline;
      return holds ? at.copy * t + at.tensor : std::int64_t{-1};
    });
  }
}

}  // namespace

namespace {

/// What the slots of a loan mean to its lender and its helper.
void bind_loan(const Cut& cut, std::size_t number, program::Program& program) {
  for (const LoanPair& pair : pairs_of(cut, cut.loans[number])) {
    program.devices[pair.lender].peers[peer_slots + number] = pair.helper;
    if (!cut.loans[number].is_to_host()) program.devices[pair.helper].peers[peer_slots + number] = pair.lender;
  }
}

}  // namespace

namespace {

void bind_stages(const Cut& cut, std::uint32_t rank, program::DeviceProgram& device) {
  const auto stages = static_cast<std::uint32_t>(cut.options.pipeline);
  if (stages == 1) return;
  Place before = cut.place(rank);
  Place after = before;
  before.stage = (before.stage + stages - 1) % stages;
  after.stage = (after.stage + 1) % stages;
  device.peers[previous_stage] = cut.device(before);
  device.peers[next_stage] = cut.device(after);
}

void bind_context(const Cut& cut, std::uint32_t rank, program::DeviceProgram& device) {
  if (!cut.shares_sequences()) return;
  device.peers.resize(context_peer_slots, program::no_device);
  const auto ranks = static_cast<std::uint32_t>(cut.options.context_parallel);
  const Place at = cut.place(rank);
  const std::uint32_t own = cut.context_rank(at), first = at.copy - own;
  device.peers[previous_context] = cut.device({at.tensor, first + (own + ranks - 1) % ranks, at.stage});
  device.peers[next_context] = cut.device({at.tensor, first + (own + 1) % ranks, at.stage});
}

/// Devices by what `part_of` says of their places.
void add_alike(const Cut& cut, const char* name, std::int64_t count,
               const std::function<std::uint32_t(const Place&)>& part_of, program::Program& program) {
  program::AlikeParts alike{name, {static_cast<std::size_t>(count), std::vector<program::DeviceId>{}}};
  for (std::uint32_t rank = 0; rank < cut.devices.size(); ++rank)
    alike.parts[part_of(cut.place(rank))].push_back(cut.devices[rank]);
  program.alike.push_back(std::move(alike));
}

}  // namespace

void add_layout(const Cut& cut, const machine::Machine& machine, program::Program& program) {
  const auto loans = static_cast<std::uint32_t>(cut.loans.size());
  for (std::uint32_t rank = 0; rank < cut.devices.size(); ++rank) {
    program::DeviceProgram& device = program.devices[cut.devices[rank]];
    device.groups.assign(group_slots, program::no_group);
    device.peers.assign(peer_slots + loans, program::no_device);
    device.events = events + program::loan_events * loans;
    bind_stages(cut, rank, device);
    bind_context(cut, rank, device);
  }
  const Options& options = cut.options;
  add_alike(
      cut, "replicas", options.data, [&](const Place& at) { return cut.replica(at); }, program);
  add_alike(
      cut, "tensor ranks", options.tensor, [](const Place& at) { return at.tensor; }, program);
  if (cut.shares_sequences())
    add_alike(
        cut, "context ranks", options.context_parallel, [&](const Place& at) { return cut.context_rank(at); }, program);
  add_groups(cut, program);
  for (std::size_t i = 0; i < loans; ++i) bind_loan(cut, i, program);
  program.ways = ways_of(cut, machine);
}

}  // namespace tessera::strategy::megatron
