// Proof by execution of an attention block: the projection of queries, keys and values, scores, what stands for the
// softmax, context and the last projection, with the views through which they share tensors.
#pragma once

#include "primepar_execution.hpp"
#include "strategy/primepar/cuts/graph.hpp"

namespace tessera::strategy::primepar {

class AttentionBlock {
 public:
  /// 4 sequences of 8 tokens, 4 heads of keys and values, 2 query heads for each.
  AttentionBlock();

  /// Partitions drawn for its five operators on 2^bits devices, the same for the same number.
  [[nodiscard]] std::vector<Partition> draw(int bits, std::uint64_t number) const;
  /// Forward, backward and gradient; every device has to end with what the whole matrices give.
  void train(const std::vector<Partition>& partitions, int bits, Carrier& carrier) const;

 private:
  enum Place : std::size_t { qkv, scores, softmax, context, projection, count };
  using Known = std::vector<SharedTensor::Known>;
  struct Run;

  [[nodiscard]] const Operator& op(std::size_t place) const { return graph_.nodes[first_ + place].op; }
  [[nodiscard]] bool inside(const Edge& edge) const;
  void make_expected();
  void forward(Run& run, std::size_t place) const;
  void backward(Run& run, std::size_t place) const;
  void read(Run& run, const Edge& edge) const;
  void bring_gradients(Run& run, std::size_t place) const;

  Graph graph_;
  std::size_t first_ = 0;  // node of qkv
  struct Expected {
    Matrix input, weight, output, input_gradient, weight_gradient, output_gradient;
  };
  std::array<Expected, count> expected_;
};

}  // namespace tessera::strategy::primepar
