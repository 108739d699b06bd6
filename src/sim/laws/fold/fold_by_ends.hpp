// Parts of a program that do the same although no shift takes all of them to each other (fold.hpp, "by ends").
#pragma once

#include <memory>

#include "sim/laws/fold/fold.hpp"
#include "tessera/machine/machine.hpp"
#include "tessera/program/collective.hpp"

namespace tessera::sim {

/// A fold by ends that simulates the first `block` parts; null where there is none. Each device outside is compared
/// with the one that is simulated for it: instructions, speed, peers, and of its collectives what members do who are as
/// many ranks further on, and which devices are simulated for these. So is every way that messages take, which has to
/// be the sender's link and the receiver's, or one from the one to the other.
[[nodiscard]] std::unique_ptr<Fold> find_fold_by_ends(const machine::Machine& machine, program::Lowerings& lowerings,
                                                      const NetworkTables& tables, const program::AlikeParts& alike,
                                                      std::uint32_t block);

}  // namespace tessera::sim
