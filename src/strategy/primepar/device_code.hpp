// One device's part of a cut graph, as blocks of a program.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cut_graph.hpp"
#include "tessera/program/program.hpp"
#include "tessera/program/schedule.hpp"

namespace tessera::strategy::primepar {

/// The groups of a program, each once.
class Groups {
 public:
  explicit Groups(program::Program& program) : program_(&program) {}
  [[nodiscard]] program::GroupId of(const std::vector<program::DeviceId>& members);

 private:
  program::Program* program_;
  std::map<std::vector<program::DeviceId>, program::GroupId> known_;
};

/// Who sums, and how.
struct Reductions {
  Groups* groups = nullptr;
  Groups* beside = nullptr;  ///< of a second stream, for gradients that are summed beside the backward pass; null: none
  std::uint32_t algorithm = 0;  ///< of all-reduces
};

/// Of a pipeline; stages follow each other on the machine's devices, each on as many.
struct StagePlace {
  int first_device = 0;       ///< its number
  bool has_previous = false;  ///< stage
  bool is_one_of_many = false;
  const program::ScheduleLoop* schedule = nullptr;
  const std::vector<int>* order = nullptr;  ///< device_order()
  bool recomputes = false;                  ///< its layers keep what they read alone
};

class DeviceCode {
 public:
  /// All outlive it. `device`: of the cut, that is, of the stage.
  DeviceCode(program::Program& program, const CutGraph& cut, const Reductions& reductions, const StagePlace& stage,
             int device);

  /// All passes of all micro-batches through the stage's layers; binds the device.
  void write();

 private:
  using Builder = program::BlockBuilder;
  class ScheduleWriter;
  /// Messages of steps and redistributions; W on its way home; from stage to stage.
  enum Channel : std::uint32_t { steps, weights, activations, gradients };
  enum Event : std::uint32_t { has_gradient, is_summed };  ///< for the stream beside; from it

  [[nodiscard]] const Node& node(std::size_t i) const { return cut_.graph->nodes[i]; }
  [[nodiscard]] const CutNode& cut(std::size_t i) const { return layer_->nodes[i]; }
  [[nodiscard]] std::int64_t bytes(std::size_t i, const Moment& moment) const;
  [[nodiscard]] program::Activity activity(Phase phase) const;
  [[nodiscard]] std::int64_t kept(std::size_t i) const;
  [[nodiscard]] int stage_devices() const { return cut_.kinds.front().nodes.front().slices.devices(); }
  /// The machine's device, from one of this stage.
  [[nodiscard]] program::DeviceId of_machine(int device) const;
  /// `device` of this stage, or of the one so many stages on.
  [[nodiscard]] std::uint32_t peer(int device, int stages_on = 0);
  [[nodiscard]] std::uint32_t slot(program::GroupId group);

  [[nodiscard]] std::int64_t parameters() const;
  /// What a layer that recomputes keeps: what it reads, in each layout in which it does.
  [[nodiscard]] std::int64_t checkpoint() const;
  /// Of that, what the node keeps for itself.
  [[nodiscard]] std::int64_t own_checkpoint(std::size_t i) const;
  [[nodiscard]] program::BlockId forward_layer();
  [[nodiscard]] program::BlockId forward_again();
  /// With the sums of gradients after the last micro-batch.
  [[nodiscard]] program::BlockId backward_layer(bool is_last);
  /// The sums of a layer's gradients: of the stream beside, as they come, or all at the end.
  [[nodiscard]] program::BlockId gradient_sums();
  /// From the last layer to the first.
  void call_by_layer(Builder& builder, const std::vector<program::BlockId>& kinds);
  [[nodiscard]] program::BlockId stream_beside(const std::vector<program::BlockId>& sums);
  void pass(Builder& builder, const std::string& name, const std::vector<program::BlockId>& kinds, bool is_forward);
  void make_passes();
  void exchange(Builder& builder, const program::PipelineAction& action);

  void forward(Builder& builder, std::size_t i, std::int64_t keeps);
  void backward(Builder& builder, std::size_t i, bool is_last);
  void redistribute(Builder& builder, const CutEdge& edge, bool is_forward);
  void redistribute(Builder& builder, const std::string& label, const std::vector<Piece>& pieces);
  void streams(Builder& builder, std::size_t i, Phase phase);
  void product(Builder& builder, std::size_t i, Phase phase);
  void post(Builder& builder, std::size_t i, Phase phase, int step, bool sums);
  void take(Builder& builder, std::size_t i, Phase phase, int step, bool sums);
  void multiply(Builder& builder, std::size_t i, Phase phase, int step);
  /// When the gradients of a node's weights are summed.
  enum class Summed { at_once, beside, at_the_end };
  [[nodiscard]] Summed summed() const;
  [[nodiscard]] bool sums_gradients(std::size_t i) const;
  void sum(Builder& builder, std::size_t i, Phase phase, Groups& groups);
  void sum_statistics(Builder& builder, std::size_t i);
  void all_reduce(Builder& builder, Groups& known, const std::vector<std::vector<int>>& groups, std::int64_t bytes,
                  std::int64_t element);
  [[nodiscard]] std::int64_t second_buffers(std::size_t i, Phase phase) const;

  program::Program& program_;
  const CutGraph& cut_;
  const CutLayer* layer_ = nullptr;                                  // the kind that is written
  program::Activity forward_activity_ = program::Activity::forward;  // of what is written
  Reductions reductions_;
  StagePlace stage_;
  int device_;                                                       // of the stage
  program::BlockId forward_ = 0, backward_ = 0, last_backward_ = 0;  // through all layers
  std::vector<program::BlockId> sums_;                               // by kind, of the stream beside
  std::vector<program::DeviceId> peers_;
  std::vector<program::GroupId> slots_;
};

}  // namespace tessera::strategy::primepar
