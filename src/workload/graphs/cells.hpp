// Recurrent layers, unrolled over time steps: all steps of a layer share its weights.
#pragma once

#include <string>
#include <vector>

#include "network_builder.hpp"

namespace tessera::workload::graphs {

enum class Cell { lstm, gru, plain };

struct Recurrence {
  Cell cell = Cell::lstm;
  std::int64_t hidden = 0;
  std::int64_t biases = 1;  ///< for each gate: some libraries keep one of the input and one of the state
  bool backward = false;    ///< from the last step to the first
};

/// A vector for each step in and out. States before the first step come from the host, or are `from`, the last state
/// of another layer of the kind.
struct Unrolled {
  std::vector<Volume> outputs;
  std::vector<Volume> state;  ///< behind the last step: what is read by the next one
};
[[nodiscard]] Unrolled unroll(NetworkBuilder& net, const std::string& name, const std::vector<Volume>& steps,
                              const Recurrence& layer, const std::vector<Volume>& from = {});

/// Vectors that the host gives, one for each step: looked-up words, frames of sound.
[[nodiscard]] std::vector<Volume> step_inputs(NetworkBuilder& net, const std::string& name, std::int64_t width,
                                              std::int64_t steps);
/// All steps as places of one line, for layers that need no state.
[[nodiscard]] Volume joined(NetworkBuilder& net, const std::vector<Volume>& steps);
/// And the other way.
[[nodiscard]] std::vector<Volume> parted(NetworkBuilder& net, const Volume& line);

}  // namespace tessera::workload::graphs
