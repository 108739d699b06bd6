// A tile of the input stays while the weights pass: n turns innermost, and the partial sums come and go with them.
#include "dataflows.hpp"

namespace tessera::workload::dataflow {

Dataflow input_stationary() {
  return matrix_dataflow("input-stationary", "inputs stay while all weights pass",
                         {{of_m, of_k, of_n}, {of_k, of_m, of_n}});
}

}  // namespace tessera::workload::dataflow
