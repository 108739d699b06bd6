#include "sharding_stream.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "folded.hpp"
#include "weight_hosts.hpp"

namespace tessera::strategy::megatron {
namespace {

using Units = std::vector<std::optional<Unit>>;  // to be gathered, one a use; nothing: it is there

/// What follows when the main stream is done with a unit.
struct Step {
  std::optional<Unit> reduced, gathered;
  friend auto operator<=>(const Step&, const Step&) = default;
};

/// A pass, and the units that are gathered ahead in it for those behind.
struct Pass {
  UnitUses uses;
  Units ahead;
  friend bool operator==(const Pass&, const Pass&) = default;
};

Units gathered_in(const UnitUses& uses) {
  Units units;
  for (const UnitUse& use : uses) units.push_back(use.gathered ? std::optional(use.unit) : std::nullopt);
  return units;
}

bool sums_across(const Cut& cut) { return cut.training() && cut.options.shard_groups() > 1; }

class ShardingStream {
 public:
  ShardingStream(program::Program& program, const Cut& cut, const std::vector<UnitUses>& passes)
      : program_(program), cut_(cut), passes_(passes), lead_(static_cast<std::size_t>(cut.options.gather_ahead) + 1) {}

  program::BlockId write() {
    Writer all(program_, cut_, "weights and gradients over the replicas");
    // Every event is raised by one stream alone, as bounds of a search want it.
    if (cut_.training() && !sums_across(cut_)) begin_gradients(all);
    begin_parts(all);
    for (const std::optional<Unit>& unit : gathered_from(0))
      if (unit) gather(all, *unit);
    write_folded(program_, all.builder(), passes_ahead(), [&](const Pass& pass) { return pass_block(pass); });
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

  [[nodiscard]] std::vector<Pass> passes_ahead() const {
    std::vector<Pass> found;
    for (std::size_t i = 0; i < passes_.size(); ++i) found.push_back({passes_[i], gathered_from(i + 1)});
    return found;
  }

  program::BlockId pass_block(const Pass& pass) {
    Units gathered = gathered_in(pass.uses);
    gathered.insert(gathered.end(), pass.ahead.begin(), pass.ahead.end());
    std::vector<Step> steps;
    for (std::size_t i = 0; i < pass.uses.size(); ++i) steps.push_back(step_at(pass, gathered, i));
    program::BlockBuilder builder(program_, "units of a pass");
    write_folded(program_, builder, steps, [&](const Step& step) { return step_block(step); });
    return builder.done();
  }

  [[nodiscard]] Step step_at(const Pass& pass, const Units& gathered, std::size_t use) const {
    Step step;
    if (pass.uses[use].reduced) step.reduced = pass.uses[use].unit;
    if (use + lead_ < gathered.size()) step.gathered = gathered[use + lead_];
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
    take_part(writer);
    over_replicas(writer, CollectiveKind::all_gather, unit, cut_.element(), "weight all-gather");
    end_gather(writer);
  }

  void reduce(Writer& writer, Unit unit) const {
    take_sum_room(writer);
    over_replicas(writer, CollectiveKind::reduce_scatter, unit, cut_.options.bytes_to_reduce(),
                  "gradient reduce-scatter");
    if (!sums_across(cut_)) return end_reduction(writer);
    writer.builder().signal(part_scattered);
  }

  void over_replicas(Writer& writer, CollectiveKind kind, Unit unit, std::int64_t element, const char* label) const {
    const UnitParameters all = used_by(cut_, unit);
    writer.replica_collective(kind, data_group, all.dense, element, label);
    writer.replica_collective(kind, expert_data_group, all.expert, element, label);
  }

  program::Program& program_;
  const Cut& cut_;
  const std::vector<UnitUses>& passes_;
  std::size_t lead_;
  std::vector<std::pair<Step, program::BlockId>> steps_;
};

}  // namespace

std::vector<UnitUses> uses_by_pass(const Cut& cut, std::uint32_t stage,
                                   const std::vector<program::PipelineAction>& actions) {
  using Kind = program::PipelineAction::Kind;
  const bool is_gathered = cut.options.shards_parameters();
  std::vector<UnitUses> passes;
  for (const program::PipelineAction& action : actions) {
    const bool is_backward = action.kind == Kind::backward;
    if (!is_backward && (action.kind != Kind::forward || !is_gathered)) continue;
    const bool is_summed = is_backward && (action.last || !cut.options.sums_groups_last);
    UnitUses uses;
    for (const Unit unit : units_of(cut, stage, action.chunk))
      uses.push_back(
          {unit, is_gathered && (!is_backward || cut.options.reshard_after_forward), is_backward, is_summed});
    if (is_backward) std::reverse(uses.begin(), uses.end());
    passes.push_back(std::move(uses));
  }
  return passes;
}

program::BlockId sharding_stream(program::Program& program, const Cut& cut, const std::vector<UnitUses>& passes) {
  return ShardingStream(program, cut, passes).write();
}

program::BlockId across_stream(program::Program& program, const Cut& cut, const std::vector<UnitUses>& passes) {
  Writer all(program, cut, "gradients over groups of replicas");
  all.builder().signal(gradient_room, gradient_buffers);
  std::map<UnitUse, program::BlockId> units;
  const auto unit_block = [&](const UnitUse& use) {
    const auto [found, added] = units.try_emplace(use);
    if (!added) return found->second;
    Writer writer(program, cut, "part of a unit's gradients");
    writer.builder().label("").activity(Activity::data_communication).wait(part_scattered);
    if (use.summed) writer.sum_across(across_group, part_of_unit(cut, use.unit), cut.options.bytes_to_reduce());
    found->second = writer.builder().signal(gradient_room).done();
    return found->second;
  };
  write_folded(program, all.builder(), passes, [&](const UnitUses& uses) {
    UnitUses reduced;
    std::ranges::copy_if(uses, std::back_inserter(reduced), &UnitUse::reduced);
    program::BlockBuilder pass(program, "gradients of a pass over groups");
    write_folded(program, pass, reduced, unit_block);
    return pass.done();
  });
  return all.builder().done();
}

}  // namespace tessera::strategy::megatron
