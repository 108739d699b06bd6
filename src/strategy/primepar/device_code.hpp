// One device's part of a cut graph, as blocks of a program.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cut_graph.hpp"
#include "tessera/program/program.hpp"

namespace tessera::strategy::primepar {

/// The groups of a program, each once.
class Groups {
 public:
  explicit Groups(program::Program& program) : program_(&program) {}
  [[nodiscard]] program::GroupId of(const std::vector<int>& members);

 private:
  program::Program* program_;
  std::map<std::vector<int>, program::GroupId> known_;
};

/// Who sums, and how.
struct Reductions {
  Groups* groups = nullptr;
  Groups* beside = nullptr;  ///< of a second stream, for gradients that are summed beside the backward pass; null: none
  std::uint32_t algorithm = 0;  ///< of all-reduces
};

class DeviceCode {
 public:
  /// All outlive it. Devices of the cut are those of the machine.
  DeviceCode(program::Program& program, const CutGraph& cut, const Reductions& reductions, int device);

  /// Forward and backward through all layers; binds the device.
  void write();

 private:
  using Builder = program::BlockBuilder;
  enum Channel : std::uint32_t { steps, weights };         ///< messages of steps and redistributions; W on its way home
  enum Event : std::uint32_t { has_gradient, is_summed };  ///< for the stream beside; from it

  [[nodiscard]] const Node& node(std::size_t i) const { return cut_.graph->nodes[i]; }
  [[nodiscard]] const CutNode& cut(std::size_t i) const { return layer_->nodes[i]; }
  [[nodiscard]] std::int64_t bytes(std::size_t i, const Moment& moment) const;
  [[nodiscard]] std::int64_t kept(std::size_t i) const;
  [[nodiscard]] std::uint32_t peer(int device);
  [[nodiscard]] std::uint32_t slot(program::GroupId group);

  [[nodiscard]] std::int64_t parameters() const;
  [[nodiscard]] program::BlockId forward_layer();
  [[nodiscard]] program::BlockId backward_layer();
  /// Of the stream beside: the sums of a layer's gradients, as they come.
  [[nodiscard]] program::BlockId gradient_sums();
  [[nodiscard]] program::BlockId stream_beside(const std::vector<program::BlockId>& sums);
  void pass(Builder& main, const std::string& name, const std::vector<program::BlockId>& kinds, bool is_forward);

  void forward(Builder& builder, std::size_t i);
  void backward(Builder& builder, std::size_t i);
  void redistribute(Builder& builder, const CutEdge& edge, bool is_forward);
  void streams(Builder& builder, std::size_t i, Phase phase);
  void product(Builder& builder, std::size_t i, Phase phase);
  void post(Builder& builder, std::size_t i, Phase phase, int step, bool sums);
  void take(Builder& builder, std::size_t i, Phase phase, int step, bool sums);
  void multiply(Builder& builder, std::size_t i, Phase phase, int step);
  [[nodiscard]] bool sums_beside(std::size_t i, Phase phase) const;
  void sum(Builder& builder, std::size_t i, Phase phase, Groups& groups);
  void sum_statistics(Builder& builder, std::size_t i);
  void all_reduce(Builder& builder, Groups& known, const std::vector<std::vector<int>>& groups, std::int64_t bytes,
                  std::int64_t element);
  [[nodiscard]] std::int64_t second_buffers(std::size_t i, Phase phase) const;

  program::Program& program_;
  const CutGraph& cut_;
  const CutLayer* layer_ = nullptr;  // the kind that is written
  Reductions reductions_;
  int device_;
  std::vector<program::DeviceId> peers_;
  std::vector<program::GroupId> slots_;
};

}  // namespace tessera::strategy::primepar
