// One device's part of a cut graph: its layers, its passes and their schedule, as blocks of a program.
#pragma once

#include "operator_code.hpp"

namespace tessera::strategy::primepar {

class DeviceCode {
 public:
  /// As for OperatorCode.
  DeviceCode(program::Program& program, const CutGraph& cut, const Reductions& reductions, const StagePlace& stage,
             int device);

  /// All passes of all micro-batches through the stage's layers; binds the device.
  void write();

 private:
  using Builder = program::BlockBuilder;
  /// The blocks of a pass, by kind of layer.
  using ByKind = std::vector<program::BlockId>;

  [[nodiscard]] const Node& node(std::size_t i) const { return cut_.graph->nodes[i]; }
  [[nodiscard]] const Slices& slices(std::size_t i) const { return layer_->nodes[i].slices; }
  /// One of each kind of layer.
  template <class Write>
  [[nodiscard]] ByKind each_kind(const Write& write);

  /// Through all layers.
  [[nodiscard]] program::BlockId forward_pass();
  [[nodiscard]] program::BlockId backward_pass(bool is_last);
  /// As the last layer of the stage before handed it on, and gets its gradient back.
  void redistribute_input(Builder& builder, bool is_forward);
  void pass(Builder& builder, const std::string& name, const ByKind& kinds, bool is_forward);
  /// By the schedule.
  void write_passes(Builder& builder);
  void exchange(Builder& builder, const program::PipelineAction& action);

  [[nodiscard]] program::BlockId forward_layer();
  [[nodiscard]] program::BlockId forward_again();
  /// With the sums of gradients after the last micro-batch.
  [[nodiscard]] program::BlockId backward_layer(bool is_last);
  /// The sums of a layer's gradients: of the stream beside, as they come, or all at the end.
  [[nodiscard]] program::BlockId gradient_sums();
  /// From the last layer to the first.
  void call_by_layer(Builder& builder, const ByKind& kinds);
  [[nodiscard]] program::BlockId stream_beside(const ByKind& sums);

  [[nodiscard]] std::int64_t parameters() const;
  /// What a layer that recomputes keeps: what it reads, in each layout in which it does.
  [[nodiscard]] std::int64_t checkpoint() const;
  /// Of that, what the node keeps for itself.
  [[nodiscard]] std::int64_t own_checkpoint(std::size_t i) const;

  program::Program& program_;
  const CutGraph& cut_;
  const CutLayer* layer_ = nullptr;  // the kind that is written
  StagePlace stage_;
  int device_;  // of the stage
  OperatorCode code_;
};

}  // namespace tessera::strategy::primepar
