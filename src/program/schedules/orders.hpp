// The orders that exist, one file each, and what they share.
#pragma once

#include "tessera/program/schedule.hpp"

namespace tessera::program {

[[nodiscard]] PipelineOrder gpipe_order();
[[nodiscard]] PipelineOrder one_forward_one_backward_order();
[[nodiscard]] PipelineOrder interleaved_order();
[[nodiscard]] PipelineOrder combined_order();
[[nodiscard]] PipelineOrder zb_h1_order();
[[nodiscard]] PipelineOrder zb_h2_order();
[[nodiscard]] PipelineOrder dualpipe_order();
[[nodiscard]] PipelineOrder dualpipe_v_order();

/// Collects the actions of one stage.
class ActionList {
 public:
  explicit ActionList(const PipelineShape& shape) : micro_batches_(shape.micro_batches), done_(shape.chunks, 0) {}
  void forward(std::uint32_t chunk);
  void backward(std::uint32_t chunk);
  void input_gradient(std::uint32_t chunk);
  void weight_gradient(std::uint32_t chunk);
  void both(std::uint32_t forward_chunk, std::uint32_t backward_chunk);
  /// Nothing is added when nothing is exchanged.
  void exchange(bool send_next, bool receive_previous, bool send_previous, bool receive_next);
  /// The same, whose sends leave while the stage goes on.
  void post(bool send_next, bool receive_previous, bool send_previous, bool receive_next);
  /// Of one way of two; something is exchanged.
  void post_mirrored(bool mirrored, bool send_next, bool receive_previous, bool send_previous, bool receive_next);
  [[nodiscard]] std::vector<PipelineAction> take() { return std::move(actions_); }

 private:
  void add(PipelineAction::Kind kind, std::uint32_t chunk, bool last = false);

  std::uint32_t micro_batches_;
  std::vector<std::uint32_t> done_;  ///< micro-batches by chunk that have their weight gradients
  std::vector<PipelineAction> actions_;
};

}  // namespace tessera::program
