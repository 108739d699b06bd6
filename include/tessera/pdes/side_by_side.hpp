// All ranks of a model in one process, without MPI: what more processes than there are would have to do.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tessera/pdes/engine.hpp"

namespace tessera::pdes {

/// What all ranks did between two agreements.
struct Window {
  Time begin = 0;                         ///< the earliest event that was pending anywhere
  Time horizon = 0;                       ///< events before it were worked off
  std::span<const std::uint64_t> events;  ///< by rank
};

/// One of so many ranks that this process carries out. Its operations know of this rank alone: each returns what it
/// would if no other took part.
[[nodiscard]] std::unique_ptr<Communicator> make_virtual_rank(int rank, int ranks);

/// Carries out simulations, constructed with make_virtual_rank() each, in turn within each window: the same windows and
/// the same events in them as on so many processes with the synchroniser "window".
class SideBySide {
 public:
  /// In order of rank; they outlive it.
  explicit SideBySide(std::span<Simulation* const> ranks);
  /// `each` window is handed on when it is done; may be empty. What is returned is by rank. Errors as in
  /// Simulation::run, but where a rank could not be constructed: that one throws by itself.
  [[nodiscard]] std::vector<RunStatistics> run(const RunOptions& options,
                                               const std::function<void(const Window&)>& each = {});

 private:
  std::vector<Engine*> ranks_;
};

}  // namespace tessera::pdes
