// A tile of weights stays while the inputs pass: m turns innermost, and the partial sums come and go with them.
#include "dataflows.hpp"

namespace tessera::workload::dataflow {

Dataflow weight_stationary() {
  return matrix_dataflow("weight-stationary", "weights stay while all inputs pass",
                         {{of_n, of_k, of_m}, {of_k, of_n, of_m}});
}

}  // namespace tessera::workload::dataflow
