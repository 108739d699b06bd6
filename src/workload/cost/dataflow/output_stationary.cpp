// A tile of sums stays until it is complete: k turns innermost, no partial sum leaves.
#include "dataflows.hpp"

namespace tessera::workload::dataflow {

Dataflow output_stationary() {
  return matrix_dataflow("output-stationary", "sums stay until they are complete",
                         {{of_m, of_n, of_k}, {of_n, of_m, of_k}});
}

}  // namespace tessera::workload::dataflow
