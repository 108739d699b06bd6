#include "stage_program.hpp"

#include <algorithm>
#include <iterator>

#include "beside_stream.hpp"
#include "combined_passes.hpp"
#include "loans.hpp"
#include "parallel_linear.hpp"
#include "parameter_gathering.hpp"
#include "sharding_stream.hpp"
#include "shared_stream.hpp"
#include "streaming.hpp"
#include "tessera/program/stage_passes.hpp"
#include "update.hpp"
#include "user_buffers.hpp"
#include "weight_hosts.hpp"

namespace tessera::strategy::megatron {
namespace {

using program::PipelineAction;

/// Each tensor rank receives its part, or the whole; without sequence parallelism it needs that.
void write_exchange(program::BlockBuilder& builder, const Cut& cut, const PipelineAction& action) {
  program::StageNeighbours neighbours;
  neighbours.peer = [](int stages_on) { return stages_on > 0 ? next_stage : previous_stage; };
  neighbours.activations = neighbours.gradients = Bytes{cut.part_bytes()};
  neighbours.activations_channel = activations_channel;
  neighbours.gradients_channel = gradients_channel;
  program::write_exchange(builder, action, neighbours);
  // Of sends that are posted alone there is no end that the host would wait for.
  const bool is_awaited = !action.posted || action.receive_previous || action.receive_next;
  if (cut.options.exchange_overhead > 0 && is_awaited)
    builder.compute(workload::host_pause("pipeline exchange", Duration{cut.options.exchange_overhead}));
  if (!cut.gathers_arrivals()) return;
  Writer writer(cut, builder);
  for (int i = 0; i < int{action.receive_previous} + int{action.receive_next}; ++i) {
    writer.collective(CollectiveKind::all_gather, tensor_group, cut.activation_bytes(), cut.element(),
                      Activity::pipeline_communication, "pipeline all-gather");
  }
}

/// Of the last stage: behind a micro-batch's pass over prompts the first stage is told the tokens that it has made.
program::BlockId with_first_tokens(program::Program& program, const Cut& cut, program::BlockId pass) {
  program::BlockBuilder builder(program, "prompts and their first tokens");
  builder.call(pass).label("pipeline exchange").activity(Activity::pipeline_communication);
  return builder.send(next_stage, token_bytes(cut), tokens_channel).done();
}

/// A forward pass beside a backward pass: the second stream of the device does that one, and while either communicates
/// the other computes. What is left of that one when the forward pass is over may run layers again or communicate,
/// which a wait does not tell apart.
void write_both(program::Program& program, program::BlockBuilder& into, program::BlockId forward, std::uint32_t chunk) {
  const Activity rest = program::activity_named(program, "backward_beside_forward");
  into.signal(backward_go).call(forward, 1, program::forward_pass(chunk));
  into.label("backward beside forward").activity(rest).wait(backward_done);
}

/// All of them, on that stream.
program::BlockId backward_stream(program::Program& program, StageBlocks& blocks, const StagePlace& at,
                                 const std::vector<PipelineAction>& actions) {
  std::vector<PipelineAction> all;
  std::ranges::copy_if(actions, std::back_inserter(all),
                       [](const auto& action) { return action.kind == PipelineAction::Kind::both; });
  program::StagePasses passes;
  passes.both = [&](program::BlockBuilder& into, const PipelineAction& action) {
    into.wait(backward_go);
    into.call(blocks.backward_beside({at.stage, action.backward_chunk, at.expert_rank, at.context_rank}));
    into.signal(backward_done);
  };
  program::BlockBuilder builder(program, "backward beside forward passes");
  program::write_passes(program, builder, program::fold(all), passes);
  return builder.done();
}

void write_passes(program::Program& program, Writer& main, StageBlocks& blocks, const program::ScheduleLoop& schedule,
                  const StagePlace& at) {
  const Cut& cut = main.cut();
  program::StagePasses passes;
  const auto place = [&](std::uint32_t chunk) { return ChunkPlace{at.stage, chunk, at.expert_rank, at.context_rank}; };
  const bool tells_tokens = cut.options.pipeline > 1 && cut.workload->steps() > 0;
  passes.forward = [&](std::uint32_t chunk, bool is_first) {
    const program::BlockId pass = blocks.forward(place(chunk), is_first);
    return tells_tokens && blocks.has_head(place(chunk)) ? with_first_tokens(program, cut, pass) : pass;
  };
  passes.backward = [&](std::uint32_t chunk, bool is_last) {
    return blocks.backward(place(chunk), is_last && has_gradient_stream(cut));
  };
  passes.input_gradient = [&](std::uint32_t chunk) { return blocks.input_gradient(place(chunk)); };
  passes.weight_gradient = [&](std::uint32_t chunk, bool is_last) {
    return blocks.weight_gradient(place(chunk), is_last && has_gradient_stream(cut));
  };
  if (cut.goes_both_ways()) {
    passes.both = [&](program::BlockBuilder& into, const PipelineAction& action) {
      write_both(program, into, blocks.forward(place(action.chunk), false), action.chunk);
    };
  }
  CombinedPasses combined(program, blocks);
  if (cut.combines_passes()) {
    passes.both = [&](program::BlockBuilder& into, const PipelineAction& action) {
      into.call(combined.main(place(action.chunk), place(action.backward_chunk)), 1,
                program::forward_pass(action.chunk));
    };
  }
  passes.exchange = [&](program::BlockBuilder& into, const PipelineAction& action) {
    write_exchange(into, cut, action);
  };
  passes.loan = [&](program::BlockBuilder& into, const PipelineAction& action) {
    const program::LoanShape loan = loan_shape(program, cut, action.loan);
    if (action.kind == PipelineAction::Kind::lend) program::write_lend(into, loan);
    if (action.kind == PipelineAction::Kind::recall) program::write_recall(into, loan);
    if (action.kind == PipelineAction::Kind::restore) program::write_restore(into, loan);
  };
  program::write_passes(program, main.builder(), schedule, passes);
}

/// Room for what others lend, before all they do and behind all that they need.
template <class Write>
void for_each_held_loan(program::Program& program, const Cut& cut, const LoansOfDevice& loans, const Write& write) {
  for (const std::uint32_t loan : loans.held) write(loan_shape(program, cut, loan));
}

/// Parameters of the layers of a stage, and of modules behind them, in the order in which their gradients become
/// complete.
std::vector<workload::ParameterShare> announced_layers(const StageBlocks& blocks, std::uint32_t stage,
                                                       const std::vector<PipelineAction>& actions) {
  const Cut& cut = blocks.cut();
  const workload::Model& model = *cut.model;
  std::vector<workload::ParameterShare> layers;
  for (const PipelineAction& action : actions) {
    if (!action.last) continue;
    for (std::int64_t i = cut.predictions(stage, action.chunk); i > 0; --i)
      layers.push_back(workload::prediction_parameters(model, cut.prediction_shape()));
    const std::vector<LayerRun> runs = blocks.runs({stage, action.chunk, 0});
    for (auto run = runs.rbegin(); run != runs.rend(); ++run)
      layers.insert(layers.end(), run->layers, workload::layer_parameters(model, cut.layer_shape(run->kind, 0)));
  }
  return layers;
}

/// One communicator does one thing after another: weights of the update before, then gradients.
program::BlockId replica_stream(program::Program& program, const Cut& cut, const StageBlocks& blocks,
                                std::uint32_t stage, const std::vector<PipelineAction>& actions) {
  Writer beside(program, cut, "communication of replicas beside passes");
  if (gathers_beside_forward(cut)) write_gathering(beside, blocks, stage, actions);
  if (has_gradient_stream(cut)) write_reduction(beside, announced_layers(blocks, stage, actions));
  return beside.builder().done();
}

std::vector<UnitUses> unit_uses(const Cut& cut, std::uint32_t stage, const std::vector<PipelineAction>& actions) {
  if (cut.options.streams_weights()) return {uses_by_layer(cut)};
  return uses_by_pass(cut, stage, actions);
}

void add_sharding_streams(program::Program& program, const Cut& cut, const std::vector<UnitUses>& uses,
                          std::vector<program::BlockId>& streams) {
  streams.push_back(sharding_stream(program, cut, uses));
  if (cut.training() && cut.options.shard_groups() > 1) streams.push_back(across_stream(program, cut, uses));
}

}  // namespace

std::vector<program::BlockId> add_stage(program::Program& program, const Cut& cut, StageBlocks& blocks,
                                        StageBlocks& steps, const StagePlace& at) {
  const std::uint32_t stage = at.stage;
  const DeviceState state = device_state(cut, stage);
  Writer main(program, cut, "stage " + std::to_string(stage));
  allocate_state(main, state);
  if (cut.phase == workload::Phase::generation) {
    write_generation(program, main, steps, stage, at.expert_rank);
    return {main.builder().done()};
  }
  for_each_held_loan(program, cut, at.loans, [&](const auto& loan) { program::write_room(main.builder(), loan); });
  std::vector<PipelineAction> actions = actions_with_loans(cut, at.loans, stage_actions(cut, stage));
  if (gathers_beside_forward(cut)) mark_first_passes(actions);
  if (cut.options.streams_weights()) {
    write_layer_by_layer(program, main, blocks, at.expert_rank, at.micro_batches);
  } else {
    if (cut.training()) write_zero_gradients(main, state);
    write_passes(program, main, blocks, program::fold(actions), at);
  }
  if (cut.phase == workload::Phase::prompt_and_generation) {
    main.builder().end_phase(strategy::name_of(workload::Phase::prompt));
    write_generation(program, main, steps, stage, at.expert_rank);
    main.builder().end_phase(strategy::name_of(workload::Phase::generation));
  }
  if (cut.training()) write_update(main, state);
  for_each_held_loan(program, cut, at.loans,
                     [&](const auto& loan) { program::write_end_of_room(main.builder(), loan); });
  std::vector<program::BlockId> streams = {main.builder().done()};
  if (cut.goes_both_ways()) streams.push_back(backward_stream(program, blocks, at, actions));
  if (cut.combines_passes()) streams.push_back(exchange_stream(program, blocks, stage, actions));
  if (has_shared_experts_beside(blocks, stage)) streams.push_back(shared_stream(program, blocks, stage, actions));
  if (has_beside_stream(cut))
    streams.push_back(beside_stream(program, cut, blocks, {stage, at.micro_batches}, actions));
  if (cut.uses_user_buffers()) user_buffers::add_streams(program, cut, blocks, stage, at.micro_batches, streams);
  if (cut.options.shards_gradients()) add_sharding_streams(program, cut, unit_uses(cut, stage, actions), streams);
  if (cut.options.weights_on_hosts()) add_part_streams(program, cut, uses_by_layer(cut), streams);
  if (has_gradient_stream(cut) || gathers_beside_forward(cut))
    streams.push_back(replica_stream(program, cut, blocks, stage, actions));
  add_loan_streams(program, cut, at.loans, streams);
  return streams;
}

}  // namespace tessera::strategy::megatron
