// Windows: all ranks work off the same span of time, then agree on the next one by a non-blocking all-reduce.
#pragma once

#include "agreement.hpp"
#include "mpi_handle.hpp"
#include "round.hpp"
#include "synchroniser.hpp"

namespace tessera::pdes {

class WindowSynchroniser final : public Synchroniser {
 public:
  WindowSynchroniser(MPI_Comm comm, const Wiring& wiring, detail::Kernel& kernel);
  [[nodiscard]] Step exchange(const Standing& mine) override;
  [[nodiscard]] bool asks_foresight() const override { return true; }

 private:
  /// Where all ranks are neighbours of all others, the messages between them carry the values, and nothing is to be
  /// reduced.
  void agree_in_messages();
  void agree_by_reduction();

  MpiHandle comm_;
  NeighbourRound round_;
  Agreement agreement_;
};

}  // namespace tessera::pdes
