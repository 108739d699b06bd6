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
void list_busy(StateList& list, BusyPeriod& busy);
void list_counts(StateList& list, LinkCounts& counts);

}  // namespace tessera::sim
