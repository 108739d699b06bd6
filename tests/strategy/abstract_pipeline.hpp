// Runs all stages of a pipeline schedule, each action as long as it is said to take and every message at once, and
// follows each micro-batch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/program/schedule.hpp"

namespace tessera::program {

struct ScheduleSample {
  std::string order;
  PipelineShape shape;
};

/// How long passes through one chunk take: forward, gradients of inputs and of weights, and a forward beside a whole
/// backward pass.
struct PassTimes {
  std::int64_t forward = 0, input_gradient = 0, weight_gradient = 0, both = 0;
};

class AbstractPipeline {
 public:
  explicit AbstractPipeline(const ScheduleSample& sample, const PassTimes& times = {})
      : shape_(sample.shape), order_(*find_pipeline_order(sample.order)), times_(times) {
    for (std::uint32_t stage = 0; stage < shape_.stages; ++stage) {
      stages_.emplace_back();
      stages_.back().actions = order_.actions(shape_, stage);
    }
    ways_ = order_.chunk_order == ChunkOrder::both_ways ? 2 : 1;
    pieces_ = shape_.stages * shape_.chunks;
  }

  /// What went wrong; empty when every stage came to its end and nothing was left under way.
  std::string run() {
    bool moved = true;
    while (moved && problem_.empty()) {
      moved = false;
      for (std::uint32_t i = 0; i < stages_.size() && problem_.empty(); ++i) moved = step(i) || moved;
    }
    for (std::uint32_t i = 0; i < stages_.size() && problem_.empty(); ++i) check_end(i);
    for (const auto& [way, tokens] : messages_) {
      if (!tokens.empty() && problem_.empty()) problem_ = "a message is never received";
    }
    if (problem_.empty()) check_passes();
    return problem_;
  }

  [[nodiscard]] std::int64_t end() const {
    std::int64_t last = 0;
    for (const Stage& stage : stages_) last = std::max(last, stage.now);
    return last;
  }
  /// Of a stage: until the last one is over, without its passes; and from its first to its last pass.
  [[nodiscard]] std::int64_t bubble(std::uint32_t stage) const { return end() - stages_[stage].busy; }
  [[nodiscard]] std::int64_t bubble_between(std::uint32_t stage) const {
    return stages_[stage].now - stages_[stage].began - stages_[stage].busy;
  }
  /// Micro-batches that have begun on a stage and lack weight gradients, at most.
  [[nodiscard]] std::int64_t most_in_flight(std::uint32_t stage) const { return stages_[stage].most; }

 private:
  using Kind = PipelineAction::Kind;

  /// A micro-batch at a piece of the model; `way`: from which end it came.
  struct Token {
    std::uint32_t micro_batch = 0, piece = 0, way = 0;
    std::int64_t since = 0;
  };
  using Tokens = std::vector<Token>;
  struct Stage {
    std::vector<PipelineAction> actions;
    std::size_t at = 0;
    bool posted = false;
    Tokens inputs, gradients;                                         // received, not yet used
    std::map<bool, Tokens> outputs, upstream;                         // computed, to be sent, by `mirrored`
    std::map<std::uint32_t, Tokens> apart;                            // without weight gradients, by chunk
    std::map<std::pair<std::uint32_t, bool>, std::uint32_t> started;  // at an end of the model, by chunk
    std::int64_t now = 0, busy = 0, began = -1, in_flight = 0, most = 0;
  };
  using Channel = std::tuple<std::uint32_t, std::uint32_t, bool>;  // sender, receiver, gradients

  [[nodiscard]] std::uint32_t piece(std::uint32_t stage, std::uint32_t chunk) const {
    if (chunk == 0 || order_.chunk_order == ChunkOrder::in_turn) return chunk * shape_.stages + stage;
    return pieces_ - 1 - stage;
  }
  [[nodiscard]] bool is_mirrored(std::uint32_t chunk) const {
    return order_.chunk_order != ChunkOrder::in_turn && chunk == 1;
  }
  [[nodiscard]] std::uint32_t neighbour(std::uint32_t stage, bool next) const {
    return (stage + (next ? 1 : shape_.stages - 1)) % shape_.stages;
  }

  bool step(std::uint32_t index) {
    Stage& stage = stages_[index];
    if (stage.at == stage.actions.size()) return false;
    const PipelineAction action = stage.actions[stage.at];
    if (action.kind == Kind::exchange) {
      if (!exchange(index, action)) return false;
    } else {
      compute(index, action);
    }
    ++stage.at;
    return true;
  }

  bool exchange(std::uint32_t index, const PipelineAction& action) {
    Stage& stage = stages_[index];
    const std::uint32_t next = neighbour(index, !action.mirrored), previous = neighbour(index, action.mirrored);
    if (!stage.posted) {
      if (action.send_next) post(index, stage.outputs[action.mirrored], {index, next, false});
      if (action.send_previous) post(index, stage.upstream[action.mirrored], {index, previous, true});
      stage.posted = true;
    }
    Tokens& forward = messages_[{previous, index, false}];
    Tokens& backward = messages_[{next, index, true}];
    if ((action.receive_previous && forward.empty()) || (action.receive_next && backward.empty())) return false;
    if (action.receive_previous) receive(stage, forward, stage.inputs);
    if (action.receive_next) receive(stage, backward, stage.gradients);
    stage.posted = false;
    return true;
  }

  void post(std::uint32_t index, Tokens& from, const Channel& channel) {
    if (from.empty()) {
      problem_ = "stage " + std::to_string(index) + " sends what it has not computed";
      return;
    }
    messages_[channel].push_back(from.front());
    from.erase(from.begin());
  }
  static void receive(Stage& stage, Tokens& from, Tokens& to) {
    stage.now = std::max(stage.now, from.front().since);
    to.push_back(from.front());
    from.erase(from.begin());
  }

  void compute(std::uint32_t index, const PipelineAction& action) {
    Stage& stage = stages_[index];
    if (stage.began < 0) stage.began = stage.now;
    const auto take = [&](std::int64_t time) {
      stage.now += time;
      stage.busy += time;
    };
    switch (action.kind) {
      case Kind::forward:
        take(times_.forward);
        return forward(index, action.chunk);
      case Kind::backward:
        take(times_.input_gradient + times_.weight_gradient);
        backward(index, action.chunk);
        return complete(stage);
      case Kind::both:
        take(times_.both);
        forward(index, action.chunk);
        backward(index, action.backward_chunk);
        return complete(stage);
      case Kind::input_gradient:
        take(times_.input_gradient);
        backward(index, action.chunk);
        return stage.apart[action.chunk].push_back({});
      default:
        take(times_.weight_gradient);
        if (stage.apart[action.chunk].empty())
          problem_ = "weight gradients before input gradients";
        else
          stage.apart[action.chunk].pop_back();
        complete(stage);
    }
  }
  static void complete(Stage& stage) { --stage.in_flight; }

  void forward(std::uint32_t index, std::uint32_t chunk) {
    Stage& stage = stages_[index];
    stage.most = std::max(stage.most, ++stage.in_flight);
    Token token = begun(index, chunk, false);
    done(token, false);
    if (token.piece + 1 == pieces_) return;
    Token next = token;
    next.piece = token.piece + 1;
    next.since = stage.now;
    const bool stays = order_.chunk_order == ChunkOrder::there_and_back && next.piece == shape_.stages;
    (stays ? stage.inputs : stage.outputs[is_mirrored(chunk)]).push_back(next);
  }

  void backward(std::uint32_t index, std::uint32_t chunk) {
    Stage& stage = stages_[index];
    Token token = begun(index, chunk, true);
    if (!done_.count({token.way, token.micro_batch, token.piece, false})) problem_ = "backward before forward";
    done(token, true);
    if (token.piece == 0) return;
    Token before = token;
    before.piece = token.piece - 1;
    before.since = stage.now;
    const bool stays = order_.chunk_order == ChunkOrder::there_and_back && token.piece == shape_.stages;
    (stays ? stage.gradients : stage.upstream[is_mirrored(chunk)]).push_back(before);
  }

  /// The oldest input that belongs to the chunk, or at an end of the model the next micro-batch.
  Token begun(std::uint32_t index, std::uint32_t chunk, bool is_backward) {
    Stage& stage = stages_[index];
    const std::uint32_t at = piece(index, chunk), way = ways_ == 2 ? chunk : 0;
    const auto same = [&](const Token& token) { return token.piece == at && token.way == way; };
    if (at == (is_backward ? pieces_ - 1 : 0)) return {stage.started[{chunk, is_backward}]++, at, way};
    Tokens& inputs = is_backward ? stage.gradients : stage.inputs;
    const auto found = std::find_if(inputs.begin(), inputs.end(), same);
    if (found == inputs.end()) {
      problem_ = "stage " + std::to_string(index) + " has no input for chunk " + std::to_string(chunk);
      return {};
    }
    const Token token = *found;
    inputs.erase(found);
    return token;
  }

  void done(const Token& token, bool is_backward) {
    if (++done_[{token.way, token.micro_batch, token.piece, is_backward}] != 1) problem_ = "a pass runs twice";
  }

  void check_end(std::uint32_t index) {
    const Stage& stage = stages_[index];
    if (stage.at != stage.actions.size()) problem_ = "stage " + std::to_string(index) + " is stuck";
    for (const auto& [chunk, tokens] : stage.apart)
      if (!tokens.empty()) problem_ = "weight gradients are missing";
  }
  /// Every micro-batch passed every piece, forward and back.
  void check_passes() {
    const std::size_t all = std::size_t{shape_.micro_batches} * pieces_ * (shape_.backward ? 2 : 1);
    if (done_.size() != all) problem_ = "passes are missing";
  }

  PipelineShape shape_;
  const PipelineOrder& order_;
  PassTimes times_;
  std::uint32_t ways_ = 1, pieces_ = 1;
  std::vector<Stage> stages_;
  std::map<Channel, Tokens> messages_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, bool>, int> done_;
  std::string problem_;
};

}  // namespace tessera::program
