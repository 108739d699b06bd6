#include "profile.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "device_state.hpp"
#include "layout.hpp"
#include "loans.hpp"
#include "parallel_linear.hpp"
#include "section_sets.hpp"
#include "stage_blocks.hpp"
#include "update.hpp"
#include "user_buffers.hpp"

namespace tessera::strategy::megatron {
namespace {

using program::Instruction;
using program::Op;

/// A collective of the stream beside: it begins with one event of the main stream, and ends with another one.
struct Beside {
  std::uint32_t go = 0, collective = 0;
};

/// Reads off blocks what a device of a stage does.
class WorkReader {
 public:
  /// Without a cost model operators take no time.
  WorkReader(const program::Program& program, const Cut& cut, const workload::CostModel* cost, std::uint32_t stage)
      : program_(program), cut_(cut), cost_(cost), stage_(stage) {}

  /// Collectives of this block run beside the work of the others, from event to event; of several blocks with the same
  /// events in turn.
  void read_beside(program::BlockId block) {
    Beside next;
    for (const Instruction& one : program_.blocks[block].code) {
      if (one.op == Op::wait) next.go = one.a;
      if (one.op == Op::collective) next.collective = one.a;
      if (one.op == Op::signal) beside_[one.a].push_back(next);
    }
  }

  [[nodiscard]] Work of(program::BlockId block) const {
    Work work;
    std::map<std::uint32_t, Time> since;         // operators before an event was raised
    std::map<std::uint32_t, std::size_t> turns;  // of waits for an event, so many so far
    for (const Instruction& one : program_.blocks[block].code) {
      if (one.op == Op::compute && cost_ != nullptr)
        work.operators += one.count * cost_->time(program_.operators[one.a], *cut_.device_spec);
      else if (one.op == Op::collective)
        add(work, one.a, 0);
      else if (one.op == Op::signal)
        since[one.a] = work.operators;
      else if (const auto found = beside_.find(one.a); one.op == Op::wait && found != beside_.end()) {
        const Beside& beside = found->second[turns[one.a]++ % found->second.size()];
        add(work, beside.collective, work.operators - since[beside.go]);
      }
    }
    return work;
  }

 private:
  /// Those among devices of several stages are left out: they move a few numbers, or the tied embedding once.
  void add(Work& work, std::uint32_t collective, Time beside) const {
    const program::Collective& what = program_.collectives[collective];
    const program::DeviceId first = cut_.device({0, 0, stage_});
    const program::GroupId group = program_.devices[first].groups[what.group_slot];
    if (group == program::no_group) return;
    GroupWork found{{}, what, beside};
    for (const program::DeviceId member : program_.groups[group].members) {
      const auto rank = static_cast<std::uint32_t>(std::ranges::find(cut_.devices, member) - cut_.devices.begin());
      const auto of_a_stage = static_cast<std::uint32_t>(cut_.options.tensor * cut_.options.copies());
      if (rank / of_a_stage != stage_) return;
      found.ranks.push_back(rank % of_a_stage);
    }
    work.collectives.push_back(std::move(found));
  }

  const program::Program& program_;
  const Cut& cut_;
  const workload::CostModel* cost_;
  std::uint32_t stage_;
  std::map<std::uint32_t, std::vector<Beside>> beside_;  // by the event that ends them, in turn
};

class Profiler {
 public:
  Profiler(const Cut& cut, const Job& job) : cut_(cut), job_(job), program_(empty_program(job)) {
    add_layout(cut_, job.machine, program_);
    if (cut_.uses_user_buffers()) beside_products_ = user_buffers::beside_blocks(program_, cut_);
  }

  SectionWork section_work(std::uint32_t kind, const workload::CostModel* cost) {
    SectionWork sections;
    for (const PartBlock& part : part_blocks(program_, cut_, kind))
      sections.at(part.sections.first) = reader(0, cost).of(part.forward);
    return sections;
  }

  PipelineProfile all() {
    PipelineProfile found;
    found.micro_batches = cut_.micro_batches;
    found.part_bytes = cut_.part_bytes();
    StageBlocks blocks(program_, cut_);
    for (std::uint32_t kind = 0; kind < kinds(); ++kind) {
      LayerProfile& layer = found.layers.emplace_back();
      layer.sections = section_work(kind, &job_.cost);
      WorkReader with_beside = reader(0, &job_.cost);
      for (const BesideWidths& widths : beside_widths(cut_, kind))
        with_beside.read_beside(beside_block(program_, cut_, widths));
      layer.backward = with_beside.of(add_layer(program_, cut_, {kind, 0, 0, 0}).backward);
    }
    for (std::uint32_t stage = 0; stage < cut_.options.pipeline; ++stage)
      found.stages.push_back(stage_profile(blocks, stage));
    found.arrival = arrival();
    found.sets = section_sets(cut_);
    return found;
  }

 private:
  [[nodiscard]] WorkReader reader(std::uint32_t stage, const workload::CostModel* cost) const {
    WorkReader made(program_, cut_, cost, stage);
    for (const program::BlockId block : beside_products_) made.read_beside(block);
    return made;
  }
  [[nodiscard]] std::uint32_t kinds() const { return workload::layer_kinds(*cut_.model); }

  StageProfile stage_profile(StageBlocks& blocks, std::uint32_t stage) {
    StageProfile found;
    const DeviceState state = device_state(cut_, stage);
    for (std::uint32_t kind = 0; kind < kinds(); ++kind) found.layers.push_back(layers_of(cut_, stage, kind));
    found.held = held_bytes(cut_, state);
    const bool is_first = stage == 0, is_last = stage + 1 == cut_.options.pipeline;
    std::vector<EdgeBlocks> edges;
    if (is_first) edges.push_back(blocks.embedding());
    if (is_last) edges.push_back(blocks.head());
    Writer update(program_, cut_, "update");
    write_update(update, state);
    const program::BlockId behind = update.builder().done();
    WorkReader work = reader(stage, &job_.cost);
    work.read_beside(beside());
    for (const EdgeBlocks& edge : edges) {
      found.edge_forward += work.of(edge.forward);
      found.edge_backward += work.of(edge.backward);
      for (const Instruction& one : program_.blocks[edge.forward].code)
        if (one.op == Op::allocate) found.edge_kept += one.bytes;
    }
    found.update = work.of(behind);
    return found;
  }

  program::BlockId beside() { return beside_block(program_, cut_, {cut_.model->hidden, cut_.model->hidden}); }

  /// Without sequence parallelism parts that arrive are gathered.
  Work arrival() {
    Writer writer(program_, cut_, "arrival");
    if (cut_.gathers_arrivals())
      writer.collective(CollectiveKind::all_gather, tensor_group, cut_.activation_bytes(), cut_.element(),
                        Activity::pipeline_communication, "pipeline all-gather");
    Work work = reader(0, &job_.cost).of(writer.builder().done());
    work.operators += cut_.options.exchange_overhead;
    return work;
  }

  Cut cut_;
  const Job& job_;
  program::Program program_;
  std::vector<program::BlockId> beside_products_;
};

/// Nothing of it runs again, is lent, or is bound to ways: the profile is of what could be. Shared experts are beside
/// nobody: it knows no computing beside computing.
Cut bare(Cut cut) {
  cut.recomputed.assign(cut.recomputed.size(), {});
  cut.recomputed_layers.assign(cut.recomputed_layers.size(), 0);
  cut.experts_in_turn = true;
  cut.loans.clear();
  cut.ways.clear();
  cut.options.unused_first = false;
  return cut;
}

}  // namespace

SectionWork section_work(const Cut& cut, const Job& job, std::uint32_t kind) {
  return Profiler(bare(cut), job).section_work(kind, nullptr);
}

PipelineProfile profile_of(const Cut& cut, const Job& job) {
  PipelineProfile found = Profiler(bare(cut), job).all();
  found.given = cut.recomputed.front();
  return found;
}

}  // namespace tessera::strategy::megatron
