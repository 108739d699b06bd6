// What keeps devices and collectives from being folded, by shifts or by ends.
#pragma once

#include <initializer_list>
#include <string>

#include "tessera/machine/machine.hpp"
#include "tessera/program/collective.hpp"

namespace tessera::sim {

/// What two devices have that keeps one from standing for the other, whatever their peers are and who is in their
/// groups; empty: nothing.
[[nodiscard]] std::string unlike_devices(const machine::Machine& machine, const program::Program& program,
                                         program::DeviceId device, program::DeviceId other);
/// A group whose members have it in different slots; empty: there is none. Of a group a fold knows one slot in which
/// all of its members have it, whether or not they have it in others as well.
[[nodiscard]] std::string group_in_different_slots(const machine::Machine& machine, const program::Program& program);
/// Why the machine cannot carry a collective out in one of these groups; empty: it can. Facts about a fold are asked
/// for before a program is checked.
[[nodiscard]] std::string unfit_collective(const machine::Machine& machine, const program::Program& program,
                                           std::uint32_t index, std::initializer_list<program::GroupId> groups);

}  // namespace tessera::sim
