// Windows: all ranks work off the same span of time, then agree on the next one by a non-blocking all-reduce.
#pragma once

#include "round.hpp"
#include "synchroniser.hpp"

namespace tessera::pdes {

class WindowSynchroniser final : public Synchroniser {
 public:
  WindowSynchroniser(MPI_Comm comm, const Wiring& wiring, detail::Kernel& kernel);
  ~WindowSynchroniser() override;
  WindowSynchroniser(const WindowSynchroniser&) = delete;
  WindowSynchroniser& operator=(const WindowSynchroniser&) = delete;
  [[nodiscard]] Step exchange(const Standing& mine) override;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  const Wiring& wiring_;
  detail::Kernel& kernel_;
  NeighbourRound round_;
};

}  // namespace tessera::pdes
