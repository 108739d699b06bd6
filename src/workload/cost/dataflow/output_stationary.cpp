// A tile of sums stays until it is complete: k turns innermost, no partial sum leaves.
#include "dataflows.hpp"

namespace tessera::workload::dataflow {

Dataflow output_stationary() {
  return {"output-stationary",
          "sums stay until they are complete",
          {{of_m, of_n, of_k}, {of_n, of_m, of_k}},
          applies_to_all,
          matrices_of,
          matrix_work,
          false};
}

}  // namespace tessera::workload::dataflow
