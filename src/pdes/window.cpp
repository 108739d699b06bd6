#include "window.hpp"

#include <chrono>

#include "agreement.hpp"

namespace tessera::pdes {

namespace {

/// Ranks may hold communicators of their own; this one keeps the engine's messages apart from everybody else's.
MPI_Comm duplicate(MPI_Comm parent) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(parent, &comm);
  return comm;
}

}  // namespace

WindowSynchroniser::WindowSynchroniser(MPI_Comm comm, const Wiring& wiring, detail::Kernel& kernel)
    : comm_(duplicate(comm)), wiring_(wiring), kernel_(kernel), round_(comm_, wiring, kernel) {}

WindowSynchroniser::~WindowSynchroniser() { MPI_Comm_free(&comm_); }

Step WindowSynchroniser::exchange(const Standing& mine) {
  Agreement agreed(mine, kernel_);
  MPI_Request reduction = MPI_REQUEST_NULL;
  round_.begin();
  MPI_Iallreduce(MPI_IN_PLACE, agreed.values.data(), static_cast<int>(agreed.values.size()), MPI_INT64_T, MPI_MIN,
                 comm_, &reduction);
  const auto start = std::chrono::steady_clock::now();
  Patience patience;
  for (bool received = false, reduced = false; !(received && reduced); patience.pause()) {
    if (!received) received = round_.poll();
    int done = 0;
    MPI_Test(&reduction, &done, MPI_STATUS_IGNORE);
    reduced = done != 0;
  }
  waiting_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  messages_ = round_.messages();
  const Time horizon = std::max(saturating_add(agreed.next_event(), wiring_.lookahead), agreed.promise());
  return {horizon, agreed.finished(mine.end)};
}

}  // namespace tessera::pdes
