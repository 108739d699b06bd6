// The entry point of the tests that run under mpirun. A rank that fails an assertion ends all of them, since the others
// would wait for it in their next collective; ranks above 0 are silent unless they fail.
#define CATCH_CONFIG_EXTERNAL_INTERFACES  // of listeners
#include <mpi.h>

#include <catch2/catch.hpp>
#include <iostream>

#include "support/run_tests.hpp"

namespace {

struct AbortOnFailure : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  bool assertionEnded(const Catch::AssertionStats& stats) override {
    if (!stats.assertionResult.isOk()) {
      int rank = 0;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      const auto& result = stats.assertionResult;
      std::cerr << "rank " << rank << ": " << result.getSourceInfo().file << ':' << result.getSourceInfo().line << ": "
                << result.getExpression() << " became " << result.getExpandedExpression() << ' ' << result.getMessage()
                << std::endl;
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return true;
  }
};
CATCH_REGISTER_LISTENER(AbortOnFailure)

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) std::cout.setstate(std::ios::failbit);
  const int result = tessera::test::run_tests(argc, argv);
  MPI_Finalize();
  return result;
}
