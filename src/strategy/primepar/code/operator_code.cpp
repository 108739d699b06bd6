#include "operator_code.hpp"

#include <algorithm>

#include "../cuts/work.hpp"

namespace tessera::strategy::primepar {
namespace {

using program::Activity;
using program::MemoryCategory;

/// The slot of a value in a table that grows.
template <class T>
std::uint32_t slot_in(std::vector<T>& table, T value) {
  const auto found = std::find(table.begin(), table.end(), value);
  if (found == table.end()) return table.push_back(value), static_cast<std::uint32_t>(table.size() - 1);
  return static_cast<std::uint32_t>(found - table.begin());
}

}  // namespace

program::GroupId Groups::of(const std::vector<program::DeviceId>& members) {
  const auto [found, added] = known_.try_emplace(members, static_cast<program::GroupId>(program_->groups.size()));
  if (added) program_->groups.push_back({members});
  return found->second;
}

OperatorCode::OperatorCode(const CutGraph& cut, const Reductions& reductions, const StagePlace& stage, int device)
    : cut_(cut), reductions_(reductions), stage_(stage), device_(device) {}

void OperatorCode::bind(program::DeviceProgram& device) const {
  device.peers = peers_;
  device.groups = slots_;
}

program::DeviceId OperatorCode::of_machine(int device) const {
  return static_cast<program::DeviceId>((*stage_.order)[static_cast<std::size_t>(stage_.first_device + device)]);
}

std::uint32_t OperatorCode::peer(int device, int stages_on) {
  return slot_in(peers_, of_machine(stages_on * stage_devices() + device));
}

std::uint32_t OperatorCode::slot(program::GroupId group) { return slot_in(slots_, group); }

Activity OperatorCode::activity(Phase phase) const {
  return phase == Phase::forward ? forward_activity_ : Activity::backward;
}

std::int64_t OperatorCode::kept(std::size_t i) const {
  return kept_bytes(node(i), cut(i).slices, device_, cut_.graph->element);
}

void OperatorCode::forward(Builder& builder, std::size_t i, std::int64_t keeps, Activity as) {
  forward_activity_ = as;
  for (const CutEdge& edge : layer_->edges) {
    if (edge.edge->to == static_cast<int>(i)) redistribute(builder, edge, true);
  }
  builder.allocate(MemoryCategory::activations, Bytes{keeps});
  sum_statistics(builder, i);
  summed_product(builder, i, Phase::forward);
  streams(builder, i, Phase::forward);
}

void OperatorCode::backward(Builder& builder, std::size_t i, bool is_last) {
  for (const CutEdge& edge : layer_->edges) {
    if (edge.edge->from == static_cast<int>(i)) redistribute(builder, edge, false);
  }
  sum_statistics(builder, i);
  streams(builder, i, Phase::backward);
  summed_product(builder, i, Phase::backward);
  product(builder, i, Phase::gradient);
  streams(builder, i, Phase::gradient);
  const bool is_weight = node(i).op.has_parameters();  // whose gradients add up over micro-batches
  if (is_last && sums_gradients(i) && summed() == Summed::beside) builder.signal(has_gradient);
  if (!is_weight || (is_last && summed() == Summed::at_once)) sum(builder, i, Phase::gradient, *reductions_.groups);
  builder.release(MemoryCategory::activations, Bytes{kept(i)});
}

void OperatorCode::sum_gradient(Builder& builder, std::size_t i) {
  const bool is_beside = summed() == Summed::beside;
  if (is_beside) builder.wait(has_gradient);
  sum(builder, i, Phase::gradient, is_beside ? *reductions_.beside : *reductions_.groups);
}

void OperatorCode::redistribute(Builder& builder, const CutEdge& cut, bool is_forward) {
  const auto name = [&](int i) { return node(static_cast<std::size_t>(i)).op.name; };
  const std::vector<Piece>& pieces = is_forward ? cut.forward : cut.backward;
  const auto size = [&](const Piece& piece) { return Bytes{cut_.graph->element * piece.elements()}; };
  builder.activity(Activity::redistribution).label(name(cut.edge->from) + " to " + name(cut.edge->to));
  bool sends = false;
  for (const Piece& piece : pieces) {
    if (piece.from != device_) continue;
    builder.send(peer(piece.to), size(piece), Channel::steps);
    sends = true;
  }
  for (const Piece& piece : pieces) {
    if (piece.to == device_) builder.receive(peer(piece.from), size(piece), Channel::steps);
  }
  if (sends) builder.wait_sends();
}

void OperatorCode::streams(Builder& builder, std::size_t i, Phase phase) {
  for (const workload::Operator& op : streams_on(node(i), cut(i).slices, device_, phase))
    builder.activity(activity(phase)).label(op.name).compute(op);
}

void OperatorCode::summed_product(Builder& builder, std::size_t i, Phase phase) {
  if (reductions_.sublayer == nullptr || !may_be_sublayer(cut(i), phase)) {
    product(builder, i, phase);
    return sum(builder, i, phase, *reductions_.groups);
  }
  const AllReduce& sum = cut(i).sums[static_cast<std::size_t>(phase)];
  const std::uint32_t group = group_slot(*reductions_.groups, sum.groups).value();
  program::sublayer::add_inline({reductions_.sublayer->name, activity(phase), group, true}, *reductions_.device,
                                product_on(cut(i).slices, device_, phase, 0, cut_.graph->datatype), builder);
}

/// What the next step reads travels while this one computes, into second buffers; sums follow their slice, and what
/// this step computes is added to them.
void OperatorCode::product(Builder& builder, std::size_t i, Phase phase) {
  const Operator& op = node(i).op;
  if (op.kind == Kind::streaming) return;
  const Bytes buffers{second_buffer_bytes(cut(i), phase, device_, cut_.graph->element)};
  builder.allocate(MemoryCategory::buffers, buffers);
  const std::vector<Move> none;
  const std::vector<Move>& home = phase == Phase::gradient ? cut(i).weights_home : none;
  ring(builder, i, phase);
  for (const Move& move : home) {
    if (move.from == device_) builder.send(peer(move.to), Bytes{cut_.graph->element * move.elements}, Channel::weights);
  }
  for (int step = 0; step < cut(i).slices.steps(); ++step) {
    ring(builder, i, phase);
    post(builder, i, phase, step, true);
    post(builder, i, phase, step + 1, false);
    multiply(builder, i, phase, step);
    ring(builder, i, phase);
    take(builder, i, phase, step, true);
    take(builder, i, phase, step + 1, false);
  }
  for (const Move& move : home) {
    if (move.to == device_)
      builder.receive(peer(move.from), Bytes{cut_.graph->element * move.elements}, Channel::weights);
  }
  if (buffers > Bytes{0}) builder.wait_sends();
  builder.release(MemoryCategory::buffers, buffers);
}

void OperatorCode::post(Builder& builder, std::size_t i, Phase phase, int step, bool sums) {
  for (const StepTransfer& transfer : cut(i).transfers[static_cast<std::size_t>(phase)]) {
    if (transfer.step != step || transfer.is_sum != sums) continue;
    for (const Move& move : transfer.moves) {
      if (move.from == device_) builder.send(peer(move.to), Bytes{cut_.graph->element * move.elements}, Channel::steps);
    }
  }
}

void OperatorCode::take(Builder& builder, std::size_t i, Phase phase, int step, bool sums) {
  for (const StepTransfer& transfer : cut(i).transfers[static_cast<std::size_t>(phase)]) {
    if (transfer.step != step || transfer.is_sum != sums) continue;
    for (const Move& move : transfer.moves) {
      if (move.to != device_) continue;
      const std::int64_t size = cut_.graph->element * move.elements;
      builder.receive(peer(move.from), Bytes{size}, Channel::steps);
      if (sums) add(builder, i, phase, size);
    }
  }
  // A second buffer is the first one's successor once what it held has left.
  if (!sums && step < cut(i).slices.steps()) builder.wait_sends();
}

/// Between two receptions of a ring.
void OperatorCode::add(Builder& builder, std::size_t i, Phase phase, std::int64_t bytes) {
  const workload::Operator sum = addition(node(i).op, bytes, cut_.graph->datatype);
  builder.activity(activity(phase)).label(sum.name).compute(sum);
  ring(builder, i, phase);
}

void OperatorCode::ring(Builder& builder, std::size_t i, Phase phase) const {
  builder.activity(Activity::tensor_communication).label(node(i).op.name + suffix_of(phase) + " ring");
}

void OperatorCode::multiply(Builder& builder, std::size_t i, Phase phase, int step) {
  const workload::Operator gemm = product_on(cut(i).slices, device_, phase, step, cut_.graph->datatype);
  builder.activity(activity(phase)).label(gemm.name).compute(gemm);
}

/// In a pipeline the stage before waits for what this one hands it, and does not have to wait for its sums.
OperatorCode::Summed OperatorCode::summed() const {
  if (reductions_.beside != nullptr) return Summed::beside;
  return stage_.is_one_of_many ? Summed::at_the_end : Summed::at_once;
}

bool OperatorCode::sums_gradients(std::size_t i) const {
  return node(i).op.has_parameters() && !cut(i).sums[static_cast<std::size_t>(Phase::gradient)].groups.empty();
}

void OperatorCode::sum(Builder& builder, std::size_t i, Phase phase, Groups& groups) {
  const AllReduce& sum = cut(i).sums[static_cast<std::size_t>(phase)];
  if (sum.groups.empty()) return;
  const bool is_gradient = phase == Phase::gradient && node(i).op.has_parameters();
  builder.activity(is_gradient ? Activity::data_communication : Activity::tensor_communication)
      .label(node(i).op.name + " " + name_of(sum.tensor) + " all-reduce");
  all_reduce(builder, groups, sum.groups, summed_bytes(node(i), cut(i).slices, device_, phase, cut_.graph->element),
             cut_.graph->element);
}

void OperatorCode::sum_statistics(Builder& builder, std::size_t i) {
  builder.activity(Activity::tensor_communication).label(node(i).op.name + " statistics");
  all_reduce(builder, *reductions_.groups, cut(i).statistics, statistics_bytes(cut(i).slices, device_),
             statistics_element);
}

std::optional<std::uint32_t> OperatorCode::group_slot(Groups& known, const std::vector<std::vector<int>>& groups) {
  for (const std::vector<int>& group : groups) {
    if (std::ranges::count(group, device_) == 0) continue;
    std::vector<program::DeviceId> members;
    for (const int member : group) members.push_back(of_machine(member));
    return slot(known.of(members));
  }
  return std::nullopt;
}

void OperatorCode::all_reduce(Builder& builder, Groups& known, const std::vector<std::vector<int>>& groups,
                              std::int64_t bytes, std::int64_t element) {
  const std::optional<std::uint32_t> slot = group_slot(known, groups);
  if (!slot) return;
  program::Collective collective;
  collective.group_slot = *slot;
  collective.bytes = Bytes{bytes};
  collective.element = Bytes{element};
  reductions_.collectives->choose_for(collective);
  builder.collective(collective);
}

}  // namespace tessera::strategy::primepar
