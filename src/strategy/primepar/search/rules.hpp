// Plans by rule, beside those that a search finds.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "../cuts/graph.hpp"
#include "space.hpp"

namespace tessera::strategy::primepar {

/// Megatron's tensor parallelism in all operators, with replicas over the top bits, in every degree that the space
/// allows: one layer each, those with most replicas first.
[[nodiscard]] std::vector<Choice> tensor_parallel(const Graph& graph, const Space& space, int bits);

/// Plans in which every operator that streams, and reads one other of its layer alone, is cut as that one leaves its
/// result, so that nothing is redistributed before it; where the space has no such partition, as before. The costs of
/// such a plan are often those of another one, whose devices stay in step.
class AsLeft {
 public:
  AsLeft(const Graph& graph, const Space& space) : graph_(graph), space_(space) {}
  [[nodiscard]] std::vector<Choice> layers(std::vector<Choice> layers);

 private:
  [[nodiscard]] std::size_t choice(const Edge& edge, std::size_t producer, std::size_t otherwise);

  const Graph& graph_;
  const Space& space_;
  std::map<std::pair<int, std::size_t>, std::optional<std::size_t>> known_;  // by consumer and its producer's choice
};

}  // namespace tessera::strategy::primepar
