// Parts of a program that do the same although no shift takes all of them to each other (fold.hpp, "by ends").
#pragma once

#include <initializer_list>
#include <memory>
#include <string>

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

/// What two devices have that keeps one from standing for the other, whatever their peers and groups; empty: nothing.
[[nodiscard]] std::string unlike_devices(const machine::Machine& machine, const program::Program& program,
                                         program::DeviceId device, program::DeviceId other);
/// Why the machine cannot carry a collective out in one of these groups; empty: it can. Facts about a fold are asked
/// for before a program is checked.
[[nodiscard]] std::string unfit_collective(const machine::Machine& machine, const program::Program& program,
                                           std::uint32_t index, std::initializer_list<program::GroupId> groups);

}  // namespace tessera::sim
