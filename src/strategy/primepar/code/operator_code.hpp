// What one device does for each operator of a cut layer, as instructions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../cuts/cut_graph.hpp"
#include "tessera/program/program.hpp"
#include "tessera/program/schedule.hpp"
#include "tessera/program/sublayer.hpp"

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
  const program::CollectiveChoices* collectives = nullptr;
  /// Of products whose results are summed before they are used; null: operators and collectives.
  const program::sublayer::Configuration* sublayer = nullptr;
  const machine::DeviceSpec* device = nullptr;
};

/// Of a pipeline; stages follow each other on the machine's devices, each on as many.
struct StagePlace {
  int first_device = 0;       ///< its number
  bool has_previous = false;  ///< stage
  bool is_one_of_many = false;
  const program::ScheduleLoop* schedule = nullptr;
  const std::vector<int>* order = nullptr;  ///< machine::device_order()
  bool recomputes = false;                  ///< its layers keep what they read alone
};

class OperatorCode {
 public:
  using Builder = program::BlockBuilder;
  /// Messages of steps and redistributions; W on its way home; from stage to stage.
  enum Channel : std::uint32_t { steps, weights, activations, gradients };
  enum Event : std::uint32_t { has_gradient, is_summed };  ///< for the stream beside; from it
  /// When the gradients of a node's weights are summed.
  enum class Summed { at_once, beside, at_the_end };

  /// All outlive it. `device`: of the cut, that is, of the stage.
  OperatorCode(const CutGraph& cut, const Reductions& reductions, const StagePlace& stage, int device);

  /// The layer whose operators are meant.
  void enter(const CutLayer& layer) { layer_ = &layer; }
  /// `keeps`: B from here to the backward phase.
  void forward(Builder& builder, std::size_t i, std::int64_t keeps, program::Activity as);
  /// With the sums of gradients after the last micro-batch.
  void backward(Builder& builder, std::size_t i, bool is_last);
  void redistribute(Builder& builder, const CutEdge& edge, bool is_forward);
  /// Waits for the node's gradient where it is summed beside.
  void sum_gradient(Builder& builder, std::size_t i);

  [[nodiscard]] Summed summed() const;
  [[nodiscard]] bool sums_gradients(std::size_t i) const;
  /// B that a node holds from its forward to its gradient phase.
  [[nodiscard]] std::int64_t kept(std::size_t i) const;
  /// The machine's device, from one of this stage.
  [[nodiscard]] program::DeviceId of_machine(int device) const;
  /// `device` of this stage, or of the one so many stages on.
  [[nodiscard]] std::uint32_t peer(int device, int stages_on = 0);
  /// Peers and groups, when all is written.
  void bind(program::DeviceProgram& device) const;

 private:
  [[nodiscard]] const Node& node(std::size_t i) const { return cut_.graph->nodes[i]; }
  [[nodiscard]] const CutNode& cut(std::size_t i) const { return layer_->nodes[i]; }
  [[nodiscard]] program::Activity activity(Phase phase) const;
  [[nodiscard]] int stage_devices() const { return cut_.kinds.front().nodes.front().slices.devices(); }
  [[nodiscard]] std::uint32_t slot(program::GroupId group);

  void streams(Builder& builder, std::size_t i, Phase phase);
  /// And its sum: forward or backward.
  void summed_product(Builder& builder, std::size_t i, Phase phase);
  void product(Builder& builder, std::size_t i, Phase phase);
  void post(Builder& builder, std::size_t i, Phase phase, int step, bool sums);
  void take(Builder& builder, std::size_t i, Phase phase, int step, bool sums);
  void ring(Builder& builder, std::size_t i, Phase phase) const;
  void add(Builder& builder, std::size_t i, Phase phase, std::int64_t bytes);
  void multiply(Builder& builder, std::size_t i, Phase phase, int step);
  void sum(Builder& builder, std::size_t i, Phase phase, Groups& groups);
  void sum_statistics(Builder& builder, std::size_t i);
  /// The slot of this device's one; none: nothing.
  [[nodiscard]] std::optional<std::uint32_t> group_slot(Groups& known, const std::vector<std::vector<int>>& groups);
  void all_reduce(Builder& builder, Groups& known, const std::vector<std::vector<int>>& groups, std::int64_t bytes,
                  std::int64_t element);

  const CutGraph& cut_;
  const CutLayer* layer_ = nullptr;
  program::Activity forward_activity_ = program::Activity::forward;  // of what is written
  Reductions reductions_;
  StagePlace stage_;
  int device_;  // of the stage
  std::vector<program::DeviceId> peers_;
  std::vector<program::GroupId> slots_;
};

}  // namespace tessera::strategy::primepar
