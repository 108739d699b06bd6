// One point of a sweep, from its values to its row.
#pragma once

#include "tessera/experiment/run_sweep.hpp"
#include "tessera/results/sweep_folder.hpp"

namespace tessera::experiment::sweep {

/// On all ranks of `team`, of which as many as the machine can be spread over take part. Its result file is written
/// where `result` is not empty; `on_the_way` is called now and then while it is simulated. The row is whole on rank 0.
/// Throws what must end the sweep: a signal, and an internal error where others of the team may wait for this rank.
[[nodiscard]] results::SweepRow run_point(const Sweep& sweep, const Point& point, const std::string& result,
                                          Communicator& team, const SweepRunOptions& options,
                                          const std::function<void()>& on_the_way);

}  // namespace tessera::experiment::sweep
