#include "tessera/program/stage_passes.hpp"

#include <map>

namespace tessera::program {
namespace {

class PassWriter {
 public:
  PassWriter(Program& program, const StagePasses& passes) : program_(program), passes_(passes) {}

  void write(BlockBuilder& into, const ScheduleLoop& loop) {
    if (loop.action) return act(into, *loop.action, loop.times);
    if (loop.times == 1) return write_body(into, loop);
    BlockBuilder body(program_, "schedule");
    write_body(body, loop);
    into.call(body.done(), loop.times);
  }

 private:
  void write_body(BlockBuilder& into, const ScheduleLoop& loop) {
    for (const ScheduleLoop& inner : loop.body) write(into, inner);
  }

  void act(BlockBuilder& into, const PipelineAction& action, std::uint32_t times) {
    if (action.kind == PipelineAction::Kind::forward || action.kind == PipelineAction::Kind::backward) {
      const bool is_forward = action.kind == PipelineAction::Kind::forward;
      into.call(pass(action), times, is_forward ? forward_pass(action.chunk) : backward_pass(action.chunk));
      return;
    }
    const auto& write = action.kind == PipelineAction::Kind::exchange ? passes_.exchange : passes_.loan;
    for (std::uint32_t i = 0; i < times; ++i) write(into, action);
  }

  BlockId pass(const PipelineAction& action) {
    const bool is_forward = action.kind == PipelineAction::Kind::forward;
    const bool is_own = is_forward ? action.first : action.last;
    const auto [found, added] = known_.try_emplace({action.chunk, is_forward, is_own}, 0);
    if (added)
      found->second = is_forward ? passes_.forward(action.chunk, is_own) : passes_.backward(action.chunk, is_own);
    return found->second;
  }

  Program& program_;
  const StagePasses& passes_;
  std::map<std::tuple<std::uint32_t, bool, bool>, BlockId> known_;
};

}  // namespace

void write_exchange(BlockBuilder& builder, const PipelineAction& exchange, const StageNeighbours& neighbours) {
  const Bytes on = neighbours.activations, back = neighbours.gradients;
  builder.label("pipeline exchange").activity(Activity::pipeline_communication);
  if (exchange.send_next) builder.send(neighbours.peer(1), on, neighbours.activations_channel);
  if (exchange.send_previous) builder.send(neighbours.peer(-1), back, neighbours.gradients_channel);
  if (exchange.receive_previous) builder.receive(neighbours.peer(-1), on, neighbours.activations_channel);
  if (exchange.receive_next) builder.receive(neighbours.peer(1), back, neighbours.gradients_channel);
  if (exchange.send_next || exchange.send_previous) builder.wait_sends();
}

void write_passes(Program& program, BlockBuilder& main, const ScheduleLoop& schedule, const StagePasses& passes) {
  PassWriter(program, passes).write(main, schedule);
}

}  // namespace tessera::program
