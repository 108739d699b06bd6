#include "sharding.hpp"

#include <algorithm>

namespace tessera::strategy::megatron {
namespace {

constexpr std::uint32_t gradient_buffers = 2;

std::int64_t rounded_up(std::int64_t parameters, std::int64_t replicas) {
  return (parameters + replicas - 1) / replicas * replicas;
}

/// `own_weight`: as head_parameters().
UnitParameters parameters_of(const Cut& cut, Unit unit, bool own_weight) {
  const workload::Model& model = *cut.model;
  workload::ParameterShare share;
  if (unit == Unit::embedding)
    share = workload::embedding_parameters(model, cut.layer_shape(false, 0));
  else if (unit == Unit::head)
    share = workload::head_parameters(model, cut.layer_shape(false, 0), own_weight);
  else
    share = workload::layer_parameters(model, cut.layer_shape(unit == Unit::moe_layer, 0));
  return {share.sharded + share.replicated, share.expert};
}

/// A tied output weight is that of the embedding: it is gathered, and has gradients, for both.
UnitParameters used_by(const Cut& cut, Unit unit) { return parameters_of(cut, unit, true); }

/// Parameters of a unit that are there only while it is whole: experts that nobody else holds are so always.
std::int64_t gathered_elements(const Cut& cut, Unit unit) {
  const UnitParameters all = used_by(cut, unit);
  const std::int64_t holders = cut.expert_replicas();
  return rounded_up(all.dense, cut.options.data) + (holders > 1 ? rounded_up(all.expert, holders) : 0);
}

}  // namespace

std::vector<Unit> units_of(const Cut& cut, std::uint32_t stage, std::uint32_t chunk) {
  std::vector<Unit> units;
  if (stage == 0 && chunk == 0) units.push_back(Unit::embedding);
  for (std::int64_t i = cut.first_layer(stage, chunk); i < cut.end_layer(stage, chunk); ++i)
    units.push_back(workload::is_moe_layer(*cut.model, i) ? Unit::moe_layer : Unit::dense_layer);
  if (stage + 1 == cut.options.pipeline && chunk + 1 == cut.options.interleave) units.push_back(Unit::head);
  return units;
}

std::int64_t part_of(const Cut& cut, std::int64_t parameters) {
  return cut.options.shards_parameters() ? rounded_up(parameters, cut.options.data) / cut.options.data : parameters;
}

UnitParameters held_parts(const Cut& cut, std::uint32_t stage) {
  const bool own_weight = !cut.model->tied_embeddings || cut.options.pipeline > 1;
  const std::int64_t holders = cut.expert_replicas();
  UnitParameters held;
  for (std::uint32_t chunk = 0; chunk < cut.options.interleave; ++chunk) {
    for (const Unit unit : units_of(cut, stage, chunk)) {
      const UnitParameters all = parameters_of(cut, unit, own_weight);
      held.dense += part_of(cut, all.dense);
      held.expert += rounded_up(all.expert, holders) / holders;
    }
  }
  return held;
}

// Buffers are as large as the largest unit each, so that every unit fits into every one. Without resharding each unit
// has a place of its own.
std::int64_t unit_buffers(const Cut& cut, std::uint32_t stage) {
  if (!cut.options.shards_parameters()) return 0;
  std::int64_t largest = 0, all = 0;
  for (std::uint32_t chunk = 0; chunk < cut.options.interleave; ++chunk) {
    for (const Unit unit : units_of(cut, stage, chunk)) {
      const std::int64_t elements = gathered_elements(cut, unit);
      largest = std::max(largest, elements);
      all += elements;
    }
  }
  const bool reshards = !cut.training() || cut.options.reshard_after_forward;
  const std::int64_t gradients = cut.training() ? gradient_buffers * cut.options.bytes_to_reduce() * largest : 0;
  return cut.element() * (reshards ? (cut.options.gather_ahead + 1) * largest : all) + gradients;
}

namespace {

void wait_for_unit(Writer& main) {
  main.builder().label("weight all-gather").activity(Activity::data_communication).wait(unit_gathered);
}

/// Where nobody else computes on a device, its operators need no events: so the main stream adds, behind the unit's
/// backward pass, what the stream beside has to sum up first.
void add_to_part(Writer& main, Unit unit) {
  const Cut& cut = main.cut();
  const UnitParameters all = used_by(cut, unit);
  const std::int64_t holders = cut.expert_replicas();
  const std::int64_t part = part_of(cut, all.dense) + (holders > 1 ? rounded_up(all.expert, holders) / holders : 0);
  const std::int64_t sums = cut.options.gradient_bytes * part;
  const auto op =
      workload::streaming(workload::OperatorKind::elementwise, "add to gradients' part",
                          Bytes{cut.options.bytes_to_reduce() * part + sums}, Bytes{sums}, cut.workload->datatype);
  main.run({op}, Activity::backward);
}

}  // namespace

void begin_forward(Writer& main) {
  if (main.cut().options.shards_parameters()) wait_for_unit(main);
}

void end_forward(Writer& main) {
  if (main.cut().options.shards_parameters()) main.builder().signal(unit_done);
}

void begin_backward(Writer& main) {
  const Options& options = main.cut().options;
  if (!options.shards_parameters()) return;
  if (options.reshard_after_forward) wait_for_unit(main);
  main.builder().label("gradient reduce-scatter").activity(Activity::data_communication).wait(gradient_room);
}

void end_backward(Writer& main, Unit unit) {
  if (!main.cut().options.shards_parameters()) return;
  main.builder().signal(unit_done);
  add_to_part(main, unit);
}

void wait_for_gradients(Writer& main) {
  main.builder().label("gradient reduce-scatter").activity(Activity::data_communication);
  main.builder().wait(gradient_room, gradient_buffers);
}

namespace {

using Units = std::vector<std::optional<Unit>>;  // to be gathered, one for each pass of a unit; nothing: it is there

/// What follows when the main stream is done with a unit.
struct Step {
  std::optional<Unit> reduced, gathered;
  friend auto operator<=>(const Step&, const Step&) = default;
};

/// A pass of a micro-batch, and the units that are gathered ahead in it for those behind.
struct Pass {
  std::uint32_t chunk = 0;
  bool is_backward = false;
  Units ahead;
  friend bool operator==(const Pass&, const Pass&) = default;
};

class ShardingStream {
 public:
  ShardingStream(program::Program& program, const Cut& cut, std::uint32_t stage,
                 const std::vector<program::PipelineAction>& actions)
      : program_(program), cut_(cut), lead_(static_cast<std::size_t>(cut.options.gather_ahead) + 1) {
    for (std::uint32_t chunk = 0; chunk < cut.options.interleave; ++chunk)
      units_.push_back(units_of(cut, stage, chunk));
    for (const program::PipelineAction& action : actions) {
      const bool is_backward = action.kind == program::PipelineAction::Kind::backward;
      if (is_backward || action.kind == program::PipelineAction::Kind::forward)
        passes_.push_back({action.chunk, is_backward, {}});
    }
  }

  program::BlockId write() {
    Writer all(program_, cut_, "weights and gradients over the replicas");
    // Every event is raised by one stream alone, as bounds of a search want it.
    if (cut_.training()) all.builder().signal(gradient_room, gradient_buffers);
    for (const std::optional<Unit>& unit : gathered_from(0))
      if (unit) gather(all, *unit);
    write(all.builder(), program::fold(numbered_passes()));
    return all.builder().done();
  }

 private:
  /// The first units of the passes from that one on, as many as are whole at most.
  [[nodiscard]] Units gathered_from(std::size_t pass) const {
    Units found;
    for (; pass < passes_.size() && found.size() < lead_; ++pass) {
      for (const std::optional<Unit>& unit : gathered_in(passes_[pass])) {
        if (found.size() < lead_) found.push_back(unit);
      }
    }
    return found;
  }

  /// All units of a pass in the order in which it needs them.
  [[nodiscard]] Units gathered_in(const Pass& pass) const {
    const std::vector<Unit>& units = units_[pass.chunk];
    Units found(units.begin(), units.end());
    if (pass.is_backward) std::reverse(found.begin(), found.end());
    if (pass.is_backward && !cut_.options.reshard_after_forward) std::ranges::fill(found, std::nullopt);
    return found;
  }

  /// Passes as actions whose chunk is their number among those that differ, which is how they are folded into loops.
  std::vector<program::PipelineAction> numbered_passes() {
    std::vector<program::PipelineAction> numbers;
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      Pass pass = passes_[i];
      pass.ahead = gathered_from(i + 1);
      const auto found = std::ranges::find(different_, pass);
      program::PipelineAction number;
      number.kind = program::PipelineAction::Kind::forward;
      number.chunk = static_cast<std::uint32_t>(found - different_.begin());
      numbers.push_back(number);
      if (found == different_.end()) different_.push_back(std::move(pass));
    }
    blocks_.assign(different_.size(), std::nullopt);
    return numbers;
  }

  void write(program::BlockBuilder& into, const program::ScheduleLoop& loop) {
    if (loop.action) {
      std::optional<program::BlockId>& block = blocks_[loop.action->chunk];
      if (!block) block = pass_block(different_[loop.action->chunk]);
      into.call(*block, loop.times);
    } else if (loop.times == 1) {
      for (const program::ScheduleLoop& inner : loop.body) write(into, inner);
    } else {
      program::BlockBuilder body(program_, "passes");
      for (const program::ScheduleLoop& inner : loop.body) write(body, inner);
      into.call(body.done(), loop.times);
    }
  }

  program::BlockId pass_block(const Pass& pass) {
    std::vector<Unit> units = units_[pass.chunk];
    if (pass.is_backward) std::reverse(units.begin(), units.end());
    Units gathered = gathered_in(pass);
    gathered.insert(gathered.end(), pass.ahead.begin(), pass.ahead.end());
    program::BlockBuilder builder(program_, pass.is_backward ? "units of a backward pass" : "units of a forward pass");
    for (std::size_t i = 0; i < units.size();) {
      const Step step = step_at(pass, units, gathered, i);
      std::size_t end = i + 1;
      while (end < units.size() && step_at(pass, units, gathered, end) == step) ++end;
      builder.call(step_block(step), static_cast<std::uint32_t>(end - i));
      i = end;
    }
    return builder.done();
  }

  [[nodiscard]] Step step_at(const Pass& pass, const std::vector<Unit>& units, const Units& gathered,
                             std::size_t unit) const {
    Step step;
    if (pass.is_backward) step.reduced = units[unit];
    if (unit + lead_ < gathered.size()) step.gathered = gathered[unit + lead_];
    return step;
  }

  program::BlockId step_block(const Step& step) {
    const auto known = std::ranges::find(steps_, step, &std::pair<Step, program::BlockId>::first);
    if (known != steps_.end()) return known->second;
    Writer writer(program_, cut_, "unit");
    writer.builder().label("").activity(Activity::data_communication).wait(unit_done);
    // Of what is not gathered ahead the main stream has need at once. Otherwise gradients are wanted first: the second
    // unit from here on takes their room.
    const bool is_urgent = lead_ == 1;
    if (is_urgent && step.gathered) gather(writer, *step.gathered);
    if (step.reduced) reduce(writer, *step.reduced);
    if (!is_urgent && step.gathered) gather(writer, *step.gathered);
    return steps_.emplace_back(step, writer.builder().done()).second;
  }

  void gather(Writer& writer, Unit unit) const {
    over_replicas(writer, CollectiveKind::all_gather, unit, cut_.element(), "weight all-gather");
    writer.builder().signal(unit_gathered);
  }

  void reduce(Writer& writer, Unit unit) const {
    over_replicas(writer, CollectiveKind::reduce_scatter, unit, cut_.options.bytes_to_reduce(),
                  "gradient reduce-scatter");
    writer.builder().signal(gradient_room);
  }

  void over_replicas(Writer& writer, CollectiveKind kind, Unit unit, std::int64_t element, const char* label) const {
    const UnitParameters all = used_by(cut_, unit);
    writer.replica_collective(kind, data_group, all.dense, element, label);
    writer.replica_collective(kind, expert_data_group, all.expert, element, label);
  }

  program::Program& program_;
  const Cut& cut_;
  std::size_t lead_;
  std::vector<std::vector<Unit>> units_;  // by chunk
  std::vector<Pass> passes_, different_;
  std::vector<std::optional<program::BlockId>> blocks_;  // of those that differ
  std::vector<std::pair<Step, program::BlockId>> steps_;
};

}  // namespace

program::BlockId sharding_stream(program::Program& program, const Cut& cut, std::uint32_t stage,
                                 const std::vector<program::PipelineAction>& actions) {
  return ShardingStream(program, cut, stage, actions).write();
}

}  // namespace tessera::strategy::megatron
