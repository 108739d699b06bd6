#include "graph_network.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::strategy::mcm {
namespace {

template <class Scalar>
void average_neighbours(const NodeLists& neighbours, const std::vector<Scalar>& hidden, std::size_t width,
                        std::vector<Scalar>& means) {
  means.assign(hidden.size(), 0);
  for (NodeId node = 0; node + 1 < neighbours.begin.size(); ++node) {
    const auto near = neighbours[node];
    if (near.empty()) continue;
    Scalar* mean = means.data() + node * width;
    for (const NodeId other : near) {
      const Scalar* row = hidden.data() + other * width;
      for (std::size_t i = 0; i < width; ++i) mean[i] += row[i];
    }
    const Scalar part = Scalar{1} / static_cast<Scalar>(near.size());
    for (std::size_t i = 0; i < width; ++i) mean[i] *= part;
  }
}

/// What the gradient by the means is by what they are of.
template <class Scalar>
void spread_to_neighbours(const NodeLists& neighbours, const std::vector<Scalar>& of_means, std::size_t width,
                          std::vector<Scalar>& of_hidden) {
  for (NodeId node = 0; node + 1 < neighbours.begin.size(); ++node) {
    // Neighbours of each other: the sum over those that this one is part of the mean of.
    Scalar* to = of_hidden.data() + node * width;
    for (const NodeId other : neighbours[node]) {
      const Scalar part = Scalar{1} / static_cast<Scalar>(neighbours[other].size());
      const Scalar* from = of_means.data() + other * width;
      for (std::size_t i = 0; i < width; ++i) to[i] += part * from[i];
    }
  }
}

template <class Scalar>
void normalise(std::vector<Scalar>& values, std::size_t width, std::vector<Scalar>& scale) {
  const Scalar target = std::sqrt(static_cast<Scalar>(width));
  scale.resize(values.size() / width);
  for (std::size_t node = 0; node < scale.size(); ++node) {
    Scalar* row = values.data() + node * width;
    Scalar squares = 0;
    for (std::size_t i = 0; i < width; ++i) squares += row[i] * row[i];
    scale[node] = std::sqrt(squares) / target;
    if (scale[node] <= 0) continue;
    const Scalar factor = Scalar{1} / scale[node];
    for (std::size_t i = 0; i < width; ++i) row[i] *= factor;
  }
}

/// From the gradient by normalised rows y = u / scale, with |y|^2 = width: (g - y (g y) / width) / scale.
template <class Scalar>
void normalise_gradient(const std::vector<Scalar>& values, const std::vector<Scalar>& scale, std::size_t width,
                        std::vector<Scalar>& gradient) {
  for (std::size_t node = 0; node < scale.size(); ++node) {
    const Scalar* row = values.data() + node * width;
    Scalar* g = gradient.data() + node * width;
    Scalar along = 0;
    for (std::size_t i = 0; i < width; ++i) along += row[i] * g[i];
    along /= static_cast<Scalar>(width);
    const Scalar factor = scale[node] > 0 ? Scalar{1} / scale[node] : Scalar{0};
    for (std::size_t i = 0; i < width; ++i) g[i] = factor * (g[i] - along * row[i]);
  }
}

}  // namespace

template <class Scalar>
void GraphNetwork<Scalar>::forward(const GraphInput& graph, const Scalar* parameters, GraphPass<Scalar>& pass) const {
  const std::size_t nodes = graph.nodes, width = layout_.shape.width, features = layout_.shape.features;
  const std::size_t layers = layout_.graph.size();
  pass.features.assign(graph.values.begin(), graph.values.end());
  pass.hidden.resize(layers + 1);
  pass.means.resize(layers);
  pass.scale.resize(layers);
  learning::fill_rows(parameters + layout_.input_bias, nodes, width, pass.hidden[0]);
  kernels_.product(pass.features.data(), parameters + layout_.input, pass.hidden[0].data(), nodes, features, width);
  learning::rectify(pass.hidden[0]);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const Layout::Layer& at = layout_.graph[layer];
    const std::vector<Scalar>& before = pass.hidden[layer];
    std::vector<Scalar>& after = pass.hidden[layer + 1];
    average_neighbours(graph.neighbours, before, width, pass.means[layer]);
    learning::fill_rows(parameters + at.bias, nodes, width, after);
    kernels_.product(before.data(), parameters + at.self, after.data(), nodes, width, width);
    kernels_.product(pass.means[layer].data(), parameters + at.neighbours, after.data(), nodes, width, width);
    learning::rectify(after);
    normalise(after, width, pass.scale[layer]);
  }
}

template <class Scalar>
void GraphNetwork<Scalar>::backward(const GraphInput& graph, const Scalar* parameters, const GraphPass<Scalar>& pass,
                                    std::vector<Scalar>& of_last, std::vector<Scalar>& of_first,
                                    Scalar* gradient) const {
  const std::size_t nodes = graph.nodes, width = layout_.shape.width, features = layout_.shape.features;
  std::vector<Scalar> of_before, of_means;
  for (std::size_t layer = layout_.graph.size(); layer-- > 0;) {
    const Layout::Layer& at = layout_.graph[layer];
    normalise_gradient(pass.hidden[layer + 1], pass.scale[layer], width, of_last);
    learning::rectify_gradient(pass.hidden[layer + 1], of_last);
    kernels_.product_of_transpose(pass.hidden[layer].data(), of_last.data(), gradient + at.self, width, nodes, width);
    kernels_.product_of_transpose(pass.means[layer].data(), of_last.data(), gradient + at.neighbours, width, nodes,
                                  width);
    learning::add_column_sums(of_last, nodes, width, gradient + at.bias);
    of_before.assign(nodes * width, 0);
    of_means.assign(nodes * width, 0);
    kernels_.product_by_transpose(of_last.data(), parameters + at.self, of_before.data(), nodes, width, width);
    kernels_.product_by_transpose(of_last.data(), parameters + at.neighbours, of_means.data(), nodes, width, width);
    spread_to_neighbours(graph.neighbours, of_means, width, of_before);
    std::swap(of_last, of_before);
  }
  for (std::size_t i = 0; i < of_first.size(); ++i) of_first[i] += of_last[i];
  learning::rectify_gradient(pass.hidden[0], of_first);
  kernels_.product_of_transpose(pass.features.data(), of_first.data(), gradient + layout_.input, features, nodes,
                                width);
  learning::add_column_sums(of_first, nodes, width, gradient + layout_.input_bias);
}

template class GraphNetwork<float>;
template class GraphNetwork<double>;

}  // namespace tessera::strategy::mcm
