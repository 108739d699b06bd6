#include "cells.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::workload::graphs {
namespace {

/// One layer's weights, and what a step does with them.
class CellSteps {
 public:
  CellSteps(NetworkBuilder& net, std::int64_t in, const Recurrence& layer)
      : net_(net),
        layer_(layer),
        in_(in),
        gates_(layer.cell == Cell::lstm  ? 4
               : layer.cell == Cell::gru ? 3
                                         : 1),
        biases_(net.parameter("bias", gates_ * layer.hidden * layer.biases)) {
    if (layer.cell == Cell::gru) input_weights_ = net.parameter("input_weights", gates_ * layer.hidden * in);
    const std::int64_t read = layer.cell == Cell::gru ? layer.hidden : in + layer.hidden;
    weights_ = net.parameter("weights", gates_ * layer.hidden * read);
  }

  /// State: an LSTM's is what it shows and what it keeps.
  std::vector<Volume> next(const Volume& x, const std::vector<Volume>& state) {
    if (layer_.cell == Cell::lstm) return lstm(x, state);
    return {layer_.cell == Cell::gru ? gru(x, state.front()) : plain(x, state.front())};
  }
  [[nodiscard]] std::size_t states() const { return layer_.cell == Cell::lstm ? 2 : 1; }

 private:
  [[nodiscard]] Volume vector(std::int64_t factor) const { return {0, factor * layer_.hidden, 1, 1}; }

  /// Of input and state, behind each other, by the gates' rows.
  Volume gates(const Volume& x, const Volume& state) {
    return net_.product("gates", {x, state}, {weights_, biases_},
                        {1, net_.batch(), gates_ * layer_.hidden, in_ + layer_.hidden}, vector(gates_));
  }

  std::vector<Volume> lstm(const Volume& x, const std::vector<Volume>& state) {
    const Volume made = gates(x, state[0]);
    const Volume kept = net_.stream(OperatorKind::fused, "cell", {made, state[1]}, {}, vector(1));
    return {net_.stream(OperatorKind::fused, "output", {made, kept}, {}, vector(1)), kept};
  }

  /// The candidate's part of the state is gated by itself, so that products of input and state stay apart.
  Volume gru(const Volume& x, const Volume& state) {
    const Volume of_input = net_.product("input_gates", {x}, {input_weights_, biases_},
                                         {1, net_.batch(), gates_ * layer_.hidden, in_}, vector(gates_));
    const Volume of_state = net_.product("state_gates", {state}, {weights_},
                                         {1, net_.batch(), gates_ * layer_.hidden, layer_.hidden}, vector(gates_));
    return net_.stream(OperatorKind::fused, "output", {of_input, of_state, state}, {}, vector(1));
  }

  Volume plain(const Volume& x, const Volume& state) { return net_.activation("output", gates(x, state)); }

  NetworkBuilder& net_;
  const Recurrence& layer_;
  std::int64_t in_, gates_;
  TensorId biases_, input_weights_ = 0, weights_ = 0;
};

}  // namespace

Unrolled unroll(NetworkBuilder& net, const std::string& name, const std::vector<Volume>& steps, const Recurrence& layer,
                const std::vector<Volume>& from) {
  net.scope(name);
  CellSteps cell(net, steps.front().channels, layer);
  Unrolled made{std::vector<Volume>(steps.size()), from};
  for (std::size_t i = from.size(); i < cell.states(); ++i)
    made.state.push_back(net.input(fmt::format("{}.state{}", name, i), layer.hidden, 1, 1));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::size_t step = layer.backward ? steps.size() - 1 - i : i;
    net.scope(fmt::format("{}.step{}", name, step));
    made.state = cell.next(steps[step], made.state);
    made.outputs[step] = made.state.front();
  }
  return made;
}

std::vector<Volume> step_inputs(NetworkBuilder& net, const std::string& name, std::int64_t width, std::int64_t steps) {
  std::vector<Volume> all;
  for (std::int64_t step = 0; step < steps; ++step)
    all.push_back(net.input(fmt::format("{}{}", name, step), width, 1, 1));
  return all;
}

Volume joined(NetworkBuilder& net, const std::vector<Volume>& steps) {
  return net.stream(OperatorKind::copy, "join", steps, {},
                    {0, steps.front().channels, 1, static_cast<std::int64_t>(steps.size())});
}

std::vector<Volume> parted(NetworkBuilder& net, const Volume& line) {
  std::vector<Volume> steps;
  for (std::int64_t step = 0; step < line.width; ++step)
    steps.push_back(net.cut("step", line, {0, line.channels * line.height, 1, 1}));
  return steps;
}

}  // namespace tessera::workload::graphs
