#include "policy_network.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::strategy::mcm {

Stretch::Stretch(std::uint32_t positions, std::uint32_t chips) {
  for (std::uint32_t chip = 0; chip < chips; ++chip) {
    const double at = std::clamp((chip + 0.5) * positions / chips - 0.5, 0.0, positions - 1.0);
    const auto low = static_cast<std::uint32_t>(at);
    const std::uint32_t high = std::min(low + 1, positions - 1);
    places.push_back({low, high, static_cast<float>(at - low)});
  }
}

namespace {

/// to += factor x row of `table` at this place.
template <class Scalar>
void add_row(const Scalar* table, const Stretch::Place& place, Scalar factor, std::size_t width, Scalar* to) {
  const Scalar* low = table + place.low * width;
  const Scalar* high = table + place.high * width;
  const Scalar upper = factor * static_cast<Scalar>(place.part_of_high), lower = factor - upper;
  for (std::size_t i = 0; i < width; ++i) to[i] += lower * low[i] + upper * high[i];
}

/// The same backwards: rows of the table's gradient.
template <class Scalar>
void add_to_row(const Scalar* from, const Stretch::Place& place, Scalar factor, std::size_t width, Scalar* table) {
  Scalar* low = table + place.low * width;
  Scalar* high = table + place.high * width;
  const Scalar upper = factor * static_cast<Scalar>(place.part_of_high), lower = factor - upper;
  for (std::size_t i = 0; i < width; ++i) low[i] += lower * from[i];
  if (upper == 0) return;
  for (std::size_t i = 0; i < width; ++i) high[i] += upper * from[i];
}

/// What a node reads of the iteration before: visit(table, node whose chip it is, factor).
template <class Scalar, class Visit>
void visit_state(const Layout& layout, const GraphInput& graph, NodeId node, const Visit& visit) {
  visit(layout.own, node, Scalar{1});
  for (const auto& [table, lists] : {std::pair{layout.sources, &graph.sources}, {layout.readers, &graph.readers}}) {
    const auto near = (*lists)[node];
    for (const NodeId other : near) visit(table, other, Scalar{1} / static_cast<Scalar>(near.size()));
  }
}

}  // namespace

template <class Scalar>
void PolicyNetwork<Scalar>::prepare(const Scalar* parameters, const GraphPass<Scalar>& graph,
                                    std::vector<Scalar>& shared) const {
  const std::size_t width = layout_.shape.width;
  learning::fill_rows(parameters + layout_.first_bias, graph_.nodes, width, shared);
  kernels_.product(graph.last().data(), parameters + layout_.first, shared.data(), graph_.nodes, width, width);
  kernels_.product(graph.first().data(), parameters + layout_.first_skip, shared.data(), graph_.nodes, width, width);
}

template <class Scalar>
void PolicyNetwork<Scalar>::add_state(const Scalar* parameters, const Partition& state,
                                      std::vector<Scalar>& first) const {
  const std::size_t width = layout_.shape.width;
  for (NodeId node = 0; node < graph_.nodes; ++node) {
    visit_state<Scalar>(layout_, graph_, node, [&](std::size_t table, NodeId other, Scalar factor) {
      add_row(parameters + table, stretch_.places[state[other]], factor, width, first.data() + node * width);
    });
  }
}

template <class Scalar>
void PolicyNetwork<Scalar>::add_state_gradient(const Partition& state, const std::vector<Scalar>& of_first,
                                               Scalar* gradient) const {
  const std::size_t width = layout_.shape.width;
  for (NodeId node = 0; node < graph_.nodes; ++node) {
    visit_state<Scalar>(layout_, graph_, node, [&](std::size_t table, NodeId other, Scalar factor) {
      add_to_row(of_first.data() + node * width, stretch_.places[state[other]], factor, width, gradient + table);
    });
  }
}

template <class Scalar>
void PolicyNetwork<Scalar>::forward(const Scalar* parameters, const std::vector<Scalar>& shared, const Partition& state,
                                    StatePass<Scalar>& pass) const {
  const std::size_t width = layout_.shape.width, positions = layout_.shape.positions, nodes = graph_.nodes;
  pass.first = shared;
  if (!state.empty()) add_state(parameters, state, pass.first);
  learning::rectify(pass.first);
  learning::fill_rows(parameters + layout_.second_bias, nodes, width, pass.second);
  kernels_.product(pass.first.data(), parameters + layout_.second, pass.second.data(), nodes, width, width);
  learning::rectify(pass.second);
  std::vector<Scalar>& result = is_stretched() ? pass.at_positions : pass.logits;
  learning::fill_rows(parameters + layout_.logits_bias, nodes, positions, result);
  kernels_.product(pass.second.data(), parameters + layout_.logits, result.data(), nodes, width, positions);
  if (is_stretched()) stretch(pass);
  for (std::size_t i = 0; i < graph_.prior.size(); ++i) pass.logits[i] += static_cast<Scalar>(graph_.prior[i]);
}

template <class Scalar>
void PolicyNetwork<Scalar>::stretch(StatePass<Scalar>& pass) const {
  const std::size_t positions = layout_.shape.positions, nodes = graph_.nodes, chips = graph_.chips;
  pass.logits.resize(nodes * chips);
  for (std::size_t node = 0; node < nodes; ++node) {
    const Scalar* row = pass.at_positions.data() + node * positions;
    for (std::size_t chip = 0; chip < chips; ++chip) {
      const Stretch::Place& at = stretch_.places[chip];
      const auto upper = static_cast<Scalar>(at.part_of_high);
      pass.logits[node * chips + chip] = (1 - upper) * row[at.low] + upper * row[at.high];
    }
  }
}

template <class Scalar>
void PolicyNetwork<Scalar>::backward(const Scalar* parameters, const Partition& state, const StatePass<Scalar>& pass,
                                     std::vector<Scalar>& of_logits, Scalar* gradient,
                                     std::vector<Scalar>& of_shared) const {
  const std::size_t width = layout_.shape.width, positions = layout_.shape.positions, nodes = graph_.nodes;
  if (is_stretched()) {
    const std::size_t chips = graph_.chips;
    std::vector<Scalar> at_positions(nodes * positions, 0);
    for (std::size_t node = 0; node < nodes; ++node) {
      for (std::size_t chip = 0; chip < chips; ++chip)
        add_to_row(of_logits.data() + node * chips + chip, stretch_.places[chip], Scalar{1}, 1,
                   at_positions.data() + node * positions);
    }
    of_logits = std::move(at_positions);
  }
  kernels_.product_of_transpose(pass.second.data(), of_logits.data(), gradient + layout_.logits, width, nodes,
                                positions);
  learning::add_column_sums(of_logits, nodes, positions, gradient + layout_.logits_bias);
  std::vector<Scalar> of_second(nodes * width, 0), of_first(nodes * width, 0);
  kernels_.product_by_transpose(of_logits.data(), parameters + layout_.logits, of_second.data(), nodes, positions,
                                width);
  learning::rectify_gradient(pass.second, of_second);
  kernels_.product_of_transpose(pass.first.data(), of_second.data(), gradient + layout_.second, width, nodes, width);
  learning::add_column_sums(of_second, nodes, width, gradient + layout_.second_bias);
  kernels_.product_by_transpose(of_second.data(), parameters + layout_.second, of_first.data(), nodes, width, width);
  learning::rectify_gradient(pass.first, of_first);
  if (!state.empty()) add_state_gradient(state, of_first, gradient);
  of_shared.resize(of_first.size(), 0);
  for (std::size_t i = 0; i < of_first.size(); ++i) of_shared[i] += of_first[i];
}

template <class Scalar>
void PolicyNetwork<Scalar>::finish(const Scalar* parameters, const GraphPass<Scalar>& graph,
                                   const std::vector<Scalar>& of_shared, Scalar* gradient, std::vector<Scalar>& of_last,
                                   std::vector<Scalar>& of_first) const {
  const std::size_t width = layout_.shape.width, nodes = graph_.nodes;
  kernels_.product_of_transpose(graph.last().data(), of_shared.data(), gradient + layout_.first, width, nodes, width);
  kernels_.product_of_transpose(graph.first().data(), of_shared.data(), gradient + layout_.first_skip, width, nodes,
                                width);
  learning::add_column_sums(of_shared, nodes, width, gradient + layout_.first_bias);
  of_last.assign(nodes * width, 0);
  of_first.assign(nodes * width, 0);
  kernels_.product_by_transpose(of_shared.data(), parameters + layout_.first, of_last.data(), nodes, width, width);
  kernels_.product_by_transpose(of_shared.data(), parameters + layout_.first_skip, of_first.data(), nodes, width,
                                width);
}

template <class Scalar>
Scalar PolicyNetwork<Scalar>::value(const Scalar* parameters, const GraphPass<Scalar>& graph) const {
  const std::size_t width = layout_.shape.width;
  std::vector<Scalar> sums(2 * width, 0);
  learning::add_column_sums(graph.last(), graph_.nodes, width, sums.data());
  learning::add_column_sums(graph.first(), graph_.nodes, width, sums.data() + width);
  Scalar result = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) result += sums[i] * parameters[layout_.value + i];
  return result / static_cast<Scalar>(graph_.nodes) + parameters[layout_.value_bias];
}

template <class Scalar>
void PolicyNetwork<Scalar>::value_backward(const Scalar* parameters, const GraphPass<Scalar>& graph, Scalar of_value,
                                           Scalar* gradient, std::vector<Scalar>& of_last,
                                           std::vector<Scalar>& of_first) const {
  const std::size_t width = layout_.shape.width;
  const Scalar part = of_value / static_cast<Scalar>(graph_.nodes);
  std::vector<Scalar> sums(2 * width, 0);
  learning::add_column_sums(graph.last(), graph_.nodes, width, sums.data());
  learning::add_column_sums(graph.first(), graph_.nodes, width, sums.data() + width);
  for (std::size_t i = 0; i < sums.size(); ++i) gradient[layout_.value + i] += part * sums[i];
  gradient[layout_.value_bias] += of_value;
  for (std::size_t node = 0; node < graph_.nodes; ++node) {
    for (std::size_t i = 0; i < width; ++i) {
      of_last[node * width + i] += part * parameters[layout_.value + i];
      of_first[node * width + i] += part * parameters[layout_.value + width + i];
    }
  }
}

template class PolicyNetwork<float>;
template class PolicyNetwork<double>;

}  // namespace tessera::strategy::mcm
