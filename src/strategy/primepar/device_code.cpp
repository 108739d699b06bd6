#include "device_code.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "work.hpp"

namespace tessera::strategy::primepar {
namespace {

using program::Activity;
using program::BlockId;
using program::MemoryCategory;

/// The slot of a value in a table that grows.
template <class T>
std::uint32_t slot_in(std::vector<T>& table, T value) {
  const auto found = std::find(table.begin(), table.end(), value);
  if (found == table.end()) return table.push_back(value), static_cast<std::uint32_t>(table.size() - 1);
  return static_cast<std::uint32_t>(found - table.begin());
}

bool contains(const std::vector<int>& dimensions, int dimension) {
  return std::find(dimensions.begin(), dimensions.end(), dimension) != dimensions.end();
}

}  // namespace

program::GroupId Groups::of(const std::vector<program::DeviceId>& members) {
  const auto [found, added] = known_.try_emplace(members, static_cast<program::GroupId>(program_->groups.size()));
  if (added) program_->groups.push_back({members});
  return found->second;
}

DeviceCode::DeviceCode(program::Program& program, const CutGraph& cut, const Reductions& reductions,
                       const StagePlace& stage, int device)
    : program_(program), cut_(cut), reductions_(reductions), stage_(stage), device_(device) {}

program::DeviceId DeviceCode::of_machine(int device) const {
  return static_cast<program::DeviceId>((*stage_.order)[static_cast<std::size_t>(stage_.first_device + device)]);
}

std::uint32_t DeviceCode::peer(int device, int stages_on) {
  return slot_in(peers_, of_machine(stages_on * stage_devices() + device));
}

std::uint32_t DeviceCode::slot(program::GroupId group) { return slot_in(slots_, group); }

std::int64_t DeviceCode::bytes(std::size_t i, const Moment& moment) const {
  return cut_.graph->element * elements(cut(i).slices, moment, device_);
}

Activity DeviceCode::activity(Phase phase) const {
  return phase == Phase::forward ? forward_activity_ : Activity::backward;
}

std::int64_t DeviceCode::kept(std::size_t i) const {
  return kept_bytes(node(i), cut(i).slices, device_, cut_.graph->element);
}

/// What comes during a step is beside what the step works on.
std::int64_t DeviceCode::second_buffers(std::size_t i, Phase phase) const {
  std::map<Tensor, std::int64_t> most;
  for (const StepTransfer& transfer : cut(i).transfers[static_cast<std::size_t>(phase)])
    most[transfer.tensor] = std::max(most[transfer.tensor], bytes(i, {transfer.tensor, phase, transfer.step}));
  std::int64_t sum = 0;
  for (const auto& [tensor, size] : most) sum += size;
  if (phase == Phase::gradient && !cut(i).weights_home.empty()) sum += bytes(i, {Tensor::weight, Phase::forward, 0});
  return sum;
}

/// For program::write_schedule.
class DeviceCode::ScheduleWriter {
 public:
  ScheduleWriter(DeviceCode& code, Builder& builder) : code_(code), builder_(&builder) {}

  void action(const program::PipelineAction& action, std::uint32_t times) {
    using Pass = program::PipelineAction::Kind;
    if (action.kind == Pass::forward) builder_->call(code_.forward_, times);
    if (action.kind == Pass::backward) builder_->call(action.last ? code_.last_backward_ : code_.backward_, times);
    for (std::uint32_t i = 0; action.kind == Pass::exchange && i < times; ++i) code_.exchange(*builder_, action);
  }
  [[nodiscard]] ScheduleWriter body() const {
    ScheduleWriter inner(*this);
    inner.owned_ = std::make_shared<Builder>(code_.program_, "schedule");
    inner.builder_ = inner.owned_.get();
    return inner;
  }
  void call(ScheduleWriter& body, std::uint32_t times) { builder_->call(body.builder_->done(), times); }

 private:
  DeviceCode& code_;
  Builder* builder_;
  std::shared_ptr<Builder> owned_;  // of a block inside
};

void DeviceCode::write() {
  make_passes();
  std::int64_t held = 0;
  for (const std::size_t kind : cut_.layers) {
    layer_ = &cut_.kinds[kind];
    held += parameters();
  }
  Builder main(program_, "main");
  main.allocate(MemoryCategory::weights, held).allocate(MemoryCategory::gradients, held);
  ScheduleWriter schedule(*this, main);
  program::write_schedule(schedule, *stage_.schedule);
  if (summed() == Summed::at_the_end) call_by_layer(main, sums_);
  program::DeviceProgram& bound = program_.devices[of_machine(device_)];
  if (reductions_.beside != nullptr) {
    main.activity(Activity::data_communication).label("gradients").wait(is_summed);
    bound.streams = {main.done(), stream_beside(sums_)};
    bound.events = 2;
  } else {
    bound.streams = {main.done()};
  }
  bound.peers = peers_;
  bound.groups = slots_;
}

/// What a stage reads comes once and is spread; gradients are collected and go back once.
void DeviceCode::make_passes() {
  std::vector<BlockId> forward, backward, last;
  for (const CutLayer& kind : cut_.kinds) {
    layer_ = &kind;
    forward.push_back(forward_layer());
    backward.push_back(backward_layer(false));
    last.push_back(backward_layer(true));
    if (summed() != Summed::at_once) sums_.push_back(gradient_sums());
  }
  Builder onwards(program_, "forward");
  if (stage_.has_previous) {
    for (const std::vector<Piece>& pieces : cut_.boundary.spread) redistribute(onwards, "stage input", pieces);
  }
  pass(onwards, "next layer forward", forward, true);
  forward_ = onwards.done();
  const auto back = [&](const std::string& name, const std::vector<BlockId>& kinds) {
    Builder builder(program_, name);
    pass(builder, "next layer backward", kinds, false);
    if (stage_.has_previous) {
      for (const std::vector<Piece>& pieces : cut_.boundary.collect) redistribute(builder, "stage input", pieces);
    }
    return builder.done();
  };
  backward_ = back("backward", backward);
  last_backward_ = back("last backward", last);
}

/// Posts all sends and waits for all that is due, as Megatron-LM does (megatron/p2p_communication.py).
void DeviceCode::exchange(Builder& builder, const program::PipelineAction& action) {
  const CutBoundary& boundary = cut_.boundary;
  const auto size = [&](const Piece& piece) { return cut_.graph->element * piece.elements(); };
  builder.activity(Activity::pipeline_communication).label("pipeline exchange");
  bool sends = false;
  const auto send = [&](const std::vector<Piece>& pieces, int stages_on, Channel channel) {
    for (const Piece& piece : pieces) {
      if (piece.from != device_) continue;
      builder.send(peer(piece.to, stages_on), size(piece), channel);
      sends = true;
    }
  };
  const auto receive = [&](const std::vector<Piece>& pieces, int stages_on, Channel channel) {
    for (const Piece& piece : pieces) {
      if (piece.to == device_) builder.receive(peer(piece.from, stages_on), size(piece), channel);
    }
  };
  if (action.send_next) send(boundary.forward, 1, activations);
  if (action.send_previous) send(boundary.backward, -1, gradients);
  if (action.receive_previous) receive(boundary.forward, -1, activations);
  if (action.receive_next) receive(boundary.backward, 1, gradients);
  if (sends) builder.wait_sends();
}

std::int64_t DeviceCode::parameters() const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < layer_->nodes.size(); ++i)
    sum += parameter_bytes(node(i), cut(i).slices, device_, cut_.graph->element);
  return sum;
}

/// The first layer, then the others, each behind what is redistributed to it. Equal ones in a row are one call.
void DeviceCode::pass(Builder& builder, const std::string& name, const std::vector<BlockId>& kinds, bool is_forward) {
  std::vector<std::size_t> order = cut_.layers;
  if (!is_forward) std::reverse(order.begin(), order.end());
  std::map<std::pair<std::size_t, std::size_t>, BlockId> next;
  builder.call(kinds[order.front()]);
  for (std::size_t layer = 1, count = 1; layer < order.size(); layer += count) {
    const std::pair both(order[layer - 1], order[layer]);
    for (count = 1; layer + count < order.size() && both == std::pair(order[layer + count - 1], order[layer + count]);)
      ++count;
    if (next.count(both) == 0) {
      Builder joined(program_, name);
      for (const CutEdge& edge : cut_.between.at(is_forward ? both : std::pair(both.second, both.first)))
        redistribute(joined, edge, is_forward);
      next[both] = joined.call(kinds[both.second]).done();
    }
    builder.call(next[both], static_cast<std::uint32_t>(count));
  }
}

BlockId DeviceCode::forward_layer() {
  Builder builder(program_, "layer forward");
  if (stage_.recomputes) builder.allocate(MemoryCategory::activations, checkpoint());
  for (std::size_t i = 0; i < layer_->nodes.size(); ++i) forward(builder, i, stage_.recomputes ? 0 : kept(i));
  return builder.done();
}

BlockId DeviceCode::forward_again() {
  Builder builder(program_, "layer forward again");
  forward_activity_ = Activity::recomputation;
  for (std::size_t i = 0; i < layer_->nodes.size(); ++i) forward(builder, i, kept(i) - own_checkpoint(i));
  forward_activity_ = Activity::forward;
  return builder.done();
}

BlockId DeviceCode::backward_layer(bool is_last) {
  Builder builder(program_, "layer backward");
  std::int64_t left = 0;
  if (stage_.recomputes) {
    left = checkpoint();
    for (std::size_t i = 0; i < layer_->nodes.size(); ++i) left -= own_checkpoint(i);
    builder.call(forward_again());
  }
  for (std::size_t i = layer_->nodes.size(); i-- > 0;) backward(builder, i, is_last);
  return builder.release(MemoryCategory::activations, left).done();
}

std::int64_t DeviceCode::own_checkpoint(std::size_t i) const {
  const bool is_own = node(i).keeps_input && cut_.graph->reads_input(i);
  return is_own ? input_bytes(cut(i).slices, device_, cut_.graph->element) : 0;
}

std::int64_t DeviceCode::checkpoint() const {
  const std::vector<const Edge*> edges = cut_.graph->edges_from_before();
  if (edges.empty()) return own_checkpoint(0);
  std::map<Region, std::int64_t> layouts;
  for (const Edge* edge : edges) {
    const Slices& slices = cut(static_cast<std::size_t>(edge->to)).slices;
    layouts[region(slices, edge->shared.read, device_, Phase::forward, 0)] =
        input_bytes(slices, device_, cut_.graph->element);
  }
  std::int64_t sum = 0;
  for (const auto& [layout, bytes] : layouts) sum += bytes;
  return sum;
}

BlockId DeviceCode::gradient_sums() {
  Builder builder(program_, "layer gradients");
  for (std::size_t i = layer_->nodes.size(); i-- > 0;) {
    if (!sums_gradients(i)) continue;
    if (summed() == Summed::beside) builder.wait(has_gradient);
    sum(builder, i, Phase::gradient, summed() == Summed::beside ? *reductions_.beside : *reductions_.groups);
  }
  return builder.done();
}

void DeviceCode::call_by_layer(Builder& builder, const std::vector<BlockId>& kinds) {
  for (std::size_t left = cut_.layers.size(), count = 1; left > 0; left -= count) {
    const std::size_t kind = cut_.layers[left - 1];
    for (count = 1; count < left && cut_.layers[left - 1 - count] == kind;) ++count;
    builder.call(kinds[kind], static_cast<std::uint32_t>(count));
  }
}

BlockId DeviceCode::stream_beside(const std::vector<BlockId>& sums) {
  Builder builder(program_, "gradients");
  call_by_layer(builder, sums);
  return builder.signal(is_summed).done();
}

void DeviceCode::forward(Builder& builder, std::size_t i, std::int64_t keeps) {
  for (const CutEdge& edge : layer_->edges) {
    if (edge.edge->to == static_cast<int>(i)) redistribute(builder, edge, true);
  }
  builder.allocate(MemoryCategory::activations, keeps);
  sum_statistics(builder, i);
  product(builder, i, Phase::forward);
  sum(builder, i, Phase::forward, *reductions_.groups);
  streams(builder, i, Phase::forward);
}

void DeviceCode::backward(Builder& builder, std::size_t i, bool is_last) {
  for (const CutEdge& edge : layer_->edges) {
    if (edge.edge->from == static_cast<int>(i)) redistribute(builder, edge, false);
  }
  sum_statistics(builder, i);
  streams(builder, i, Phase::backward);
  product(builder, i, Phase::backward);
  sum(builder, i, Phase::backward, *reductions_.groups);
  product(builder, i, Phase::gradient);
  streams(builder, i, Phase::gradient);
  const bool is_weight = node(i).op.has_parameters();  // whose gradients add up over micro-batches
  if (is_last && sums_gradients(i) && summed() == Summed::beside) builder.signal(has_gradient);
  if (!is_weight || (is_last && summed() == Summed::at_once)) sum(builder, i, Phase::gradient, *reductions_.groups);
  builder.release(MemoryCategory::activations, kept(i));
}

void DeviceCode::redistribute(Builder& builder, const CutEdge& cut, bool is_forward) {
  const Edge& edge = *cut.edge;
  redistribute(
      builder,
      node(static_cast<std::size_t>(edge.from)).op.name + " to " + node(static_cast<std::size_t>(edge.to)).op.name,
      is_forward ? cut.forward : cut.backward);
}

void DeviceCode::redistribute(Builder& builder, const std::string& label, const std::vector<Piece>& pieces) {
  const auto size = [&](const Piece& piece) { return cut_.graph->element * piece.elements(); };
  builder.activity(Activity::redistribution).label(label);
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

void DeviceCode::streams(Builder& builder, std::size_t i, Phase phase) {
  for (const workload::Operator& op : streams_on(node(i), cut(i).slices, device_, phase))
    builder.activity(activity(phase)).label(op.name).compute(op);
}

/// What the next step reads travels while this one computes, into second buffers; sums follow their slice, and what
/// this step computes is added to them.
void DeviceCode::product(Builder& builder, std::size_t i, Phase phase) {
  const Operator& op = node(i).op;
  if (op.kind == Kind::streaming) return;
  const std::int64_t buffers = second_buffers(i, phase);
  builder.allocate(MemoryCategory::buffers, buffers);
  const std::vector<Move> none;
  const std::vector<Move>& home = phase == Phase::gradient ? cut(i).weights_home : none;
  const auto ring = [&] {
    builder.activity(Activity::tensor_communication).label(op.name + suffix_of(phase) + " ring");
  };
  ring();
  for (const Move& move : home) {
    if (move.from == device_) builder.send(peer(move.to), cut_.graph->element * move.elements, Channel::weights);
  }
  for (int step = 0; step < cut(i).slices.steps(); ++step) {
    ring();
    post(builder, i, phase, step, true);
    post(builder, i, phase, step + 1, false);
    multiply(builder, i, phase, step);
    ring();
    take(builder, i, phase, step, true);
    take(builder, i, phase, step + 1, false);
  }
  for (const Move& move : home) {
    if (move.to == device_) builder.receive(peer(move.from), cut_.graph->element * move.elements, Channel::weights);
  }
  if (buffers > 0) builder.wait_sends();
  builder.release(MemoryCategory::buffers, buffers);
}

void DeviceCode::post(Builder& builder, std::size_t i, Phase phase, int step, bool sums) {
  for (const StepTransfer& transfer : cut(i).transfers[static_cast<std::size_t>(phase)]) {
    if (transfer.step != step || transfer.is_sum != sums) continue;
    for (const Move& move : transfer.moves) {
      if (move.from == device_) builder.send(peer(move.to), cut_.graph->element * move.elements, Channel::steps);
    }
  }
}

void DeviceCode::take(Builder& builder, std::size_t i, Phase phase, int step, bool sums) {
  for (const StepTransfer& transfer : cut(i).transfers[static_cast<std::size_t>(phase)]) {
    if (transfer.step != step || transfer.is_sum != sums) continue;
    for (const Move& move : transfer.moves) {
      if (move.to != device_) continue;
      const std::int64_t size = cut_.graph->element * move.elements;
      builder.receive(peer(move.from), size, Channel::steps);
      if (!sums) continue;
      builder.activity(activity(phase))
          .compute(addition(node(i).op, size, cut_.graph->datatype))
          .activity(Activity::tensor_communication);
    }
  }
  // A second buffer is the first one's successor once what it held has left.
  if (!sums && step < cut(i).slices.steps()) builder.wait_sends();
}

void DeviceCode::multiply(Builder& builder, std::size_t i, Phase phase, int step) {
  const workload::Operator gemm = product_on(cut(i).slices, device_, phase, step, cut_.graph->datatype);
  builder.activity(activity(phase)).label(gemm.name).compute(gemm);
}

/// In a pipeline the stage before waits for what this one hands it, and does not have to wait for its sums.
DeviceCode::Summed DeviceCode::summed() const {
  if (reductions_.beside != nullptr) return Summed::beside;
  return stage_.is_one_of_many ? Summed::at_the_end : Summed::at_once;
}

bool DeviceCode::sums_gradients(std::size_t i) const {
  return node(i).op.has_parameters() && !cut(i).sums[static_cast<std::size_t>(Phase::gradient)].groups.empty();
}

void DeviceCode::sum(Builder& builder, std::size_t i, Phase phase, Groups& groups) {
  const AllReduce& sum = cut(i).sums[static_cast<std::size_t>(phase)];
  if (sum.groups.empty()) return;
  const bool is_gradient = phase == Phase::gradient && node(i).op.has_parameters();
  builder.activity(is_gradient ? Activity::data_communication : Activity::tensor_communication)
      .label(node(i).op.name + " " + name_of(sum.tensor) + " all-reduce");
  all_reduce(builder, groups, sum.groups, summed_bytes(node(i), cut(i).slices, device_, phase, cut_.graph->element),
             cut_.graph->element);
}

void DeviceCode::sum_statistics(Builder& builder, std::size_t i) {
  builder.activity(Activity::tensor_communication).label(node(i).op.name + " statistics");
  all_reduce(builder, *reductions_.groups, cut(i).statistics, statistics_bytes(cut(i).slices, device_),
             statistics_element);
}

void DeviceCode::all_reduce(Builder& builder, Groups& known, const std::vector<std::vector<int>>& groups,
                            std::int64_t bytes, std::int64_t element) {
  for (const std::vector<int>& group : groups) {
    if (!contains(group, device_)) continue;
    program::Collective collective;
    std::vector<program::DeviceId> members;
    for (const int member : group) members.push_back(of_machine(member));
    collective.group_slot = slot(known.of(members));
    collective.bytes = bytes;
    collective.element = element;
    collective.algorithm = reductions_.algorithm;
    builder.collective(collective);
  }
}

}  // namespace tessera::strategy::primepar
