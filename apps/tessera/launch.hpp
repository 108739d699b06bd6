// What the program that started this process says about it, read from the environment before and beside MPI.
#pragma once

#include <string>

namespace tessera::app {

struct Launch {
  int processes = 1;  ///< that were started together; 1 when nobody says so
  int number = 0;     ///< of this one among them
};

/// From the variables of Open MPI's mpirun, of Hydra (MPICH and its relatives), and of srun.
[[nodiscard]] Launch find_launch();

/// Whether a launcher of MPI processes has started this one, as far as its variables say: those of Open MPI and PRRTE,
/// PMIx, PMI and Hydra, a Slurm step, Cray's PALS and ALPS, IBM's jsrun, Flux.
[[nodiscard]] bool is_launched();

/// Processes that were started together, but of which each finds itself alone in MPI, would all simulate everything and
/// write the same file. InputError that says what to do about it. `mpi`: --mpi.
void check_launch(const Launch& launch, int ranks, const std::string& mpi);

}  // namespace tessera::app
