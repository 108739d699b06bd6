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

class DeviceCode {
 public:
  /// All outlive it. `all_reduce`: index of its algorithm. Devices of the cut are those of the machine.
  DeviceCode(program::Program& program, const CutGraph& cut, Groups& groups, std::uint32_t all_reduce, int device);

  /// Forward and backward through all layers; binds the device.
  void write();

 private:
  using Builder = program::BlockBuilder;
  enum Channel : std::uint32_t { steps, weights };  ///< messages of steps and redistributions; W on its way home

  [[nodiscard]] const Node& node(std::size_t i) const { return cut_.graph->nodes[i]; }
  [[nodiscard]] const CutNode& cut(std::size_t i) const { return layer_->nodes[i]; }
  [[nodiscard]] std::int64_t bytes(std::size_t i, const Moment& moment) const;
  [[nodiscard]] std::int64_t kept(std::size_t i) const;
  [[nodiscard]] std::uint32_t peer(int device);
  [[nodiscard]] std::uint32_t slot(program::GroupId group);

  [[nodiscard]] std::int64_t parameters() const;
  [[nodiscard]] program::BlockId forward_layer();
  [[nodiscard]] program::BlockId backward_layer();
  void pass(Builder& main, const std::string& name, const std::vector<program::BlockId>& kinds, bool is_forward);

  void forward(Builder& builder, std::size_t i);
  void backward(Builder& builder, std::size_t i);
  void redistribute(Builder& builder, const CutEdge& edge, bool is_forward);
  void streams(Builder& builder, std::size_t i, Phase phase);
  void product(Builder& builder, std::size_t i, Phase phase);
  void post(Builder& builder, std::size_t i, Phase phase, int step, bool sums);
  void take(Builder& builder, std::size_t i, Phase phase, int step, bool sums);
  void multiply(Builder& builder, std::size_t i, Phase phase, int step);
  void sum(Builder& builder, std::size_t i, Phase phase);
  void sum_statistics(Builder& builder, std::size_t i);
  void all_reduce(Builder& builder, const std::vector<std::vector<int>>& groups, std::int64_t bytes,
                  std::int64_t element);
  [[nodiscard]] std::int64_t second_buffers(std::size_t i, Phase phase) const;

  program::Program& program_;
  const CutGraph& cut_;
  const CutLayer* layer_ = nullptr;  // the kind that is written
  Groups& groups_;
  std::uint32_t all_reduce_;
  int device_;
  std::vector<program::DeviceId> peers_;
  std::vector<program::GroupId> slots_;
};

}  // namespace tessera::strategy::primepar
