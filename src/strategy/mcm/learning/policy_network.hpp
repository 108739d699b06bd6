// From what nodes are to a distribution over the chips for each of them (section 4.1, Eq. 7), and to a value: how fast
// partitions are that the policy finds.
#pragma once

#include <vector>

#include "graph_network.hpp"

namespace tessera::strategy::mcm {

/// Chips as positions of a policy: chip c lies at (c + 1/2) positions / chips - 1/2, between two of them. With as many
/// chips as positions each is its own.
struct Stretch {
  struct Place {
    std::uint32_t low = 0, high = 0;  ///< positions
    float part_of_high = 0;
  };
  Stretch(std::uint32_t positions, std::uint32_t chips);
  std::vector<Place> places;  ///< by chip
};

/// Of one state.
template <class Scalar>
struct StatePass {
  std::vector<Scalar> first, second;  ///< nodes x width, rectified
  std::vector<Scalar> at_positions;   ///< nodes x positions; with as many chips as positions empty
  std::vector<Scalar> logits;         ///< nodes x chips
};

template <class Scalar>
class PolicyNetwork {
 public:
  /// All of it outlives this.
  PolicyNetwork(const Layout& layout, const learning::Kernels<Scalar>& kernels, const GraphInput& graph)
      : layout_(layout), kernels_(kernels), graph_(graph), stretch_(layout.shape.positions, graph.chips) {}

  /// What all states share of the first layer: nodes x width.
  void prepare(const Scalar* parameters, const GraphPass<Scalar>& graph, std::vector<Scalar>& shared) const;
  /// `state`: the chips of the iteration before; empty: none was.
  void forward(const Scalar* parameters, const std::vector<Scalar>& shared, const Partition& state,
               StatePass<Scalar>& pass) const;
  /// Adds to `gradient` (all parameters) and to `of_shared`. `of_logits` is used up.
  void backward(const Scalar* parameters, const Partition& state, const StatePass<Scalar>& pass,
                std::vector<Scalar>& of_logits, Scalar* gradient, std::vector<Scalar>& of_shared) const;
  /// prepare() backwards: adds to `gradient`; what the loss is by the graph network's results replaces the last two.
  void finish(const Scalar* parameters, const GraphPass<Scalar>& graph, const std::vector<Scalar>& of_shared,
              Scalar* gradient, std::vector<Scalar>& of_last, std::vector<Scalar>& of_first) const;

  [[nodiscard]] Scalar value(const Scalar* parameters, const GraphPass<Scalar>& graph) const;
  /// `of_value`: the loss by the value. Adds to all three.
  void value_backward(const Scalar* parameters, const GraphPass<Scalar>& graph, Scalar of_value, Scalar* gradient,
                      std::vector<Scalar>& of_last, std::vector<Scalar>& of_first) const;

 private:
  void add_state(const Scalar* parameters, const Partition& state, std::vector<Scalar>& first) const;
  void add_state_gradient(const Partition& state, const std::vector<Scalar>& of_first, Scalar* gradient) const;
  void stretch(StatePass<Scalar>& pass) const;
  [[nodiscard]] bool is_stretched() const { return layout_.shape.positions != graph_.chips; }

  const Layout& layout_;
  const learning::Kernels<Scalar>& kernels_;
  const GraphInput& graph_;
  Stretch stretch_;
};

}  // namespace tessera::strategy::mcm
