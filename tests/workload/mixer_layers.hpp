// What tests of mixers have in common.
#pragma once

#include "models_from.hpp"

namespace tessera::workload {

/// Ten tokens; of generation one of three sequences each, behind a context of seven that ends with it.
inline LayerShape mixer_shape(std::int64_t tensor, Phase phase = Phase::training) {
  LayerShape shape;
  shape.sequence = 10;
  shape.tensor = tensor;
  shape.phase = phase;
  if (phase != Phase::generation) return shape;
  shape.sequence = 1;
  shape.context = 7;
  shape.micro_batch = 3;
  return shape;
}

}  // namespace tessera::workload
