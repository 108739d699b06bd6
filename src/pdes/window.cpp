#include "window.hpp"

#include <chrono>

namespace tessera::pdes {

WindowSynchroniser::WindowSynchroniser(MPI_Comm comm, const Wiring& wiring, detail::Kernel& kernel)
    : Synchroniser(wiring, kernel), comm_(comm), round_(comm_.get(), wiring, kernel) {}

Step WindowSynchroniser::exchange(const Standing& mine) {
  const auto start = std::chrono::steady_clock::now();
  agreement_ = Agreement(mine, kernel_, wiring_.lookahead);
  if (wiring_.all_pairs) {
    agree_in_messages();
  } else {
    agree_by_reduction();
  }
  waiting_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  messages_ = round_.messages();
  const Time horizon = agreement_.horizon(wiring_.lookahead);
  std::fill(promised_.begin(), promised_.end(), horizon);
  return {horizon, agreement_.finished(mine.end)};
}

void WindowSynchroniser::agree_in_messages() {
  for (std::size_t k = 0; k < wiring_.out.size(); ++k) {
    std::copy(agreement_.values.begin(), agreement_.values.end(), round_.header(k).values);
  }
  round_.begin();
  for (Patience patience; !round_.poll();) patience.pause();
  for (std::size_t k = 0; k < wiring_.in.size(); ++k) agreement_.take_minimum(round_.received(k).values);
}

void WindowSynchroniser::agree_by_reduction() {
  MPI_Request reduction = MPI_REQUEST_NULL;
  round_.begin();
  MPI_Iallreduce(MPI_IN_PLACE, agreement_.values.data(), Agreement::size, MPI_INT64_T, MPI_MIN, comm_.get(),
                 &reduction);
  Patience patience;
  for (bool received = false, reduced = false; !(received && reduced); patience.pause()) {
    if (!received) received = round_.poll();
    int done = 0;
    MPI_Test(&reduction, &done, MPI_STATUS_IGNORE);
    reduced = done != 0;
  }
}

}  // namespace tessera::pdes
