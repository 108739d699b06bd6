// tessera train with training.learns = "products".
#pragma once

#include "tessera/experiment/training.hpp"

namespace tessera::experiment {

/// As train(), of the times that the experiment's cost model has for products on its device.
[[nodiscard]] TrainingResult train_products(const TrainingSources& sources, const TrainingHooks& hooks,
                                            Communicator& comm);

}  // namespace tessera::experiment
