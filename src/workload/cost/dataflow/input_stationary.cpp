// A tile of the input stays while the weights pass: n turns innermost, and the partial sums come and go with them.
#include "dataflows.hpp"

namespace tessera::workload::dataflow {

Dataflow input_stationary() {
  return {"input-stationary",
          "inputs stay while all weights pass",
          {{of_m, of_k, of_n}, {of_k, of_m, of_n}},
          applies_to_all,
          matrices_of,
          matrix_work,
          false};
}

}  // namespace tessera::workload::dataflow
