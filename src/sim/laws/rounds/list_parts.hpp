// Each lists one part of a simulation (state_list.hpp).
#pragma once

#include "sim/execution/device.hpp"
#include "sim/laws/rounds/state_list.hpp"
#include "tessera/pdes/event.hpp"

namespace tessera::sim {

/// All that what follows may depend on, and what is counted.
void list_device(StateList& list, Device& device, const NetworkTables& tables);
/// What a network component has in its ports.
void list_node(StateList& list, NetworkNode& node, const NetworkTables& tables);
/// A pending event between components: Segment, Segments, Delivered or Amend.
void list_message(StateList& list, pdes::Event& event);
/// Packets that come from a component.
void list_segment(StateList& list, Segment& segment, pdes::ComponentId from);
void list_times(StateList& list, PacketTimes& times);
/// A message, and what `server` has told of it under a number of its own.
void list_name(StateList& list, const MessageName& name, machine::NodeId destination, pdes::ComponentId server,
               std::uint32_t generation);
/// But for its name. `number`: where it stands among others.
void list_own_message(StateList& list, OwnMessage& message, pdes::ComponentId self);
/// What its streams and messages move through a device's memory.
void list_shared_memory(StateList& list, SharedMemory& memory, program::DeviceId self);
void list_busy(StateList& list, BusyPeriod& busy);
void list_counts(StateList& list, LinkCounts& counts);

}  // namespace tessera::sim
