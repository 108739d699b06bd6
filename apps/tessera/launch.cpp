#include "launch.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "tessera/base/error.hpp"

namespace tessera::app {
namespace {

std::optional<int> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  int number = 0;
  if (text == nullptr || std::from_chars(text, text + std::strlen(text), number).ec != std::errc{}) return std::nullopt;
  return number;
}

}  // namespace

Launch find_launch() {
  struct Variables {
    const char* processes;
    const char* number;
  };
  for (const auto& [processes, number] :
       {Variables{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, Variables{"PMI_SIZE", "PMI_RANK"},
        Variables{"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}}) {
    // The innermost launcher decides: under mpirun inside an allocation, srun's variables may be there too.
    if (const auto count = number_in(processes)) return {*count, number_in(number).value_or(0)};
  }
  return {};
}

bool is_launched() {
  constexpr std::array variables{"OMPI_COMM_WORLD_SIZE",
                                 "OMPI_UNIVERSE_SIZE",
                                 "PMIX_RANK",
                                 "PMIX_NAMESPACE",
                                 "PMI_RANK",
                                 "PMI_SIZE",
                                 "PMI_FD",
                                 "PMI_ID",
                                 "PMI_PORT",
                                 "MPI_LOCALNRANKS",
                                 "SLURM_STEP_ID",
                                 "SLURM_STEPID",
                                 "SLURM_STEP_NUM_TASKS",
                                 "PALS_RANKID",
                                 "ALPS_APP_PE",
                                 "JSM_NAMESPACE_RANK",
                                 "FLUX_TASK_RANK",
                                 "MPIRUN_RANK",
                                 "MV2_COMM_WORLD_RANK"};
  return std::ranges::any_of(variables, [](const char* name) { return std::getenv(name) != nullptr; });
}

void check_launch(const Launch& launch, int ranks, const std::string& mpi) {
  if (ranks > 1 || launch.processes <= 1) return;
  if (mpi == "off")
    throw InputError("--mpi off is for one process, and " + std::to_string(launch.processes) + " were started");
  throw InputError(std::to_string(launch.processes) +
                   " processes were started, but each is alone in MPI: start them with the mpirun of the " +
                   "MPI that tessera was built with, or with srun --mpi=pmix");
}

}  // namespace tessera::app
