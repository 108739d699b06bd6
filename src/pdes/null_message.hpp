// Null messages: each rank tells each neighbour before which time nothing more will come from it.
#pragma once

#include "agreement.hpp"
#include "mpi_handle.hpp"
#include "round.hpp"
#include "synchroniser.hpp"

namespace tessera::pdes {

/// The events of a wave and the clock of the channel travel in one message; a wave without events is the null message
/// proper. Clocks alone would creep through idle time by one latency a wave, and would never end: so every few waves
/// all ranks agree on the earliest event that is left, while the waves go on, and all clocks jump to it. Where they get
/// on by these jumps alone, each wave is one: windows then, with what these know.
class NullMessageSynchroniser final : public Synchroniser {
 public:
  NullMessageSynchroniser(MPI_Comm comm, const Wiring& wiring, detail::Kernel& kernel);
  [[nodiscard]] Step exchange(const Standing& mine) override;
  [[nodiscard]] bool asks_foresight() const override { return waves_ == 1; }

 private:
  void exchange_clocks(const Standing& mine);
  void finish_agreement();
  void choose_waves();

  MpiHandle comm_;
  NeighbourRound round_;
  std::vector<Time> clocks_;  // by in-neighbour: nothing that comes from it from now on takes place earlier
  Time safe_ = 0;             // the least of them
  Time run_ahead_ = never;    // no rank works off events from here on before the next agreement
  int waves_;                 // to the next agreement
  int wave_ = 0;              // of these
  Time agreed_on_ = 0;        // the earliest event at the last agreement
  Agreement agreement_;
  MPI_Request reduction_ = MPI_REQUEST_NULL;
};

}  // namespace tessera::pdes
