// Machines without a network, by hand: all that programs and collectives look at is where devices stand.
#pragma once

#include "tessera/machine/machine.hpp"

namespace tessera::program {

/// `devices` devices in nodes of `per_node`.
inline machine::Machine nodes_of(std::uint32_t devices, int per_node) {
  machine::Machine machine;
  machine.topology = "cluster";
  machine.devices_per_node = per_node;
  machine.network.devices = devices;
  machine.speed.assign(devices, 1.0);
  for (std::uint32_t i = 0; i < devices; ++i) {
    const int index = static_cast<int>(i);
    machine.places.push_back({index / per_node, index % per_node, 0});
  }
  return machine;
}

/// A mesh or torus of columns x rows dies, numbered row by row.
inline machine::Machine mesh_of(int columns, int rows, const char* topology = "mesh") {
  machine::Machine machine = nodes_of(static_cast<std::uint32_t>(columns * rows), columns * rows);
  machine.topology = topology;
  machine.columns = columns;
  machine.rows = rows;
  for (int i = 0; i < columns * rows; ++i) {
    machine.places[static_cast<std::size_t>(i)] = {0, i % columns, i / columns};
  }
  return machine;
}

inline machine::Machine line_of(std::uint32_t devices) { return nodes_of(devices, static_cast<int>(devices)); }

}  // namespace tessera::program
