#include "tessera/program/stage_passes.hpp"

#include <map>

namespace tessera::program {
namespace {

using Kind = PipelineAction::Kind;

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
    switch (action.kind) {
      case Kind::forward:
        return static_cast<void>(into.call(pass(action), times, forward_pass(action.chunk)));
      case Kind::backward:
      case Kind::input_gradient:
        return static_cast<void>(into.call(pass(action), times, passes_.both ? 0 : backward_pass(action.chunk)));
      case Kind::weight_gradient:
        return static_cast<void>(into.call(pass(action), times, passes_.both ? 0 : weight_pass(action.chunk)));
      default:
        const auto& write = action.kind == Kind::exchange ? passes_.exchange
                            : action.kind == Kind::both   ? passes_.both
                                                          : passes_.loan;
        if (action.kind != Kind::both || times == 1) {
          for (std::uint32_t i = 0; i < times; ++i) write(into, action);
          return;
        }
        BlockBuilder once(program_, "schedule");
        write(once, action);
        into.call(once.done(), times);
    }
  }

  BlockId pass(const PipelineAction& action) {
    const bool is_own = action.kind == Kind::forward ? action.first : action.last;
    const auto [found, added] = known_.try_emplace({action.chunk, action.kind, is_own}, 0);
    if (added) found->second = block(action, is_own);
    return found->second;
  }

  [[nodiscard]] BlockId block(const PipelineAction& action, bool is_own) const {
    if (action.kind == Kind::forward) return passes_.forward(action.chunk, is_own);
    if (action.kind == Kind::input_gradient) return passes_.input_gradient(action.chunk);
    if (action.kind == Kind::weight_gradient) return passes_.weight_gradient(action.chunk, is_own);
    return passes_.backward(action.chunk, is_own);
  }

  Program& program_;
  const StagePasses& passes_;
  std::map<std::tuple<std::uint32_t, Kind, bool>, BlockId> known_;
};

}  // namespace

void write_exchange(BlockBuilder& builder, const PipelineAction& exchange, const StageNeighbours& neighbours) {
  const Bytes on = neighbours.activations, back = neighbours.gradients;
  const int next = exchange.mirrored ? -1 : 1, previous = -next;
  builder.label("pipeline exchange").activity(Activity::pipeline_communication);
  if (exchange.send_next) builder.send(neighbours.peer(next), on, neighbours.activations_channel);
  if (exchange.send_previous) builder.send(neighbours.peer(previous), back, neighbours.gradients_channel);
  if (exchange.receive_previous) builder.receive(neighbours.peer(previous), on, neighbours.activations_channel);
  if (exchange.receive_next) builder.receive(neighbours.peer(next), back, neighbours.gradients_channel);
  if (!exchange.posted && (exchange.send_next || exchange.send_previous)) builder.wait_sends();
}

void write_passes(Program& program, BlockBuilder& main, const ScheduleLoop& schedule, const StagePasses& passes) {
  PassWriter(program, passes).write(main, schedule);
}

}  // namespace tessera::program
