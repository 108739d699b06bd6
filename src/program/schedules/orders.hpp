// The orders that exist, one file each, and what they share.
#pragma once

#include "tessera/program/schedule.hpp"

namespace tessera::program {

[[nodiscard]] PipelineOrder gpipe_order();
[[nodiscard]] PipelineOrder one_forward_one_backward_order();
[[nodiscard]] PipelineOrder interleaved_order();

/// Collects the actions of one stage.
class ActionList {
 public:
  explicit ActionList(const PipelineShape& shape) : micro_batches_(shape.micro_batches), done_(shape.chunks, 0) {}
  void forward(std::uint32_t chunk);
  void backward(std::uint32_t chunk);
  /// Nothing is added when nothing is exchanged.
  void exchange(bool send_next, bool receive_previous, bool send_previous, bool receive_next);
  [[nodiscard]] std::vector<PipelineAction> take() { return std::move(actions_); }

 private:
  std::uint32_t micro_batches_;
  std::vector<std::uint32_t> done_;  ///< backward passes by chunk
  std::vector<PipelineAction> actions_;
};

}  // namespace tessera::program
