// Machines without a device of their own: all that programs and collectives look at is where devices stand and what
// joins them.
#pragma once

#include <algorithm>
#include <string>

#include "tessera/machine/topology.hpp"

namespace tessera::program {

inline machine::Machine machine_of(const std::string& topology) {
  config::Diagnostics diagnostics;
  const auto table = config::parse_toml(
      "name = \"test\"\npacket = \"1 kB\"\n[device]\nname = \"gpu\"\npeak.fp16 = \"1 TFLOP/s\"\n"
      "memory_bandwidth = \"1 TB/s\"\nmemory_capacity = \"1 GB\"\n[topology]\n" +
          topology,
      "test", diagnostics);
  machine::Machine machine = machine::build_machine(*table, diagnostics);
  diagnostics.throw_if_errors();
  machine.device = {};
  return machine;
}

/// `devices` devices in nodes of `per_node`, or in one where they do not fill nodes. 100 GB/s and 1 us inside; between
/// nodes `nics` NICs a node, 10 GB/s and 5 us.
inline machine::Machine nodes_of(std::uint32_t devices, int per_node, int nics = 0) {
  const auto size =
      devices % static_cast<std::uint32_t>(per_node) == 0 ? static_cast<std::uint32_t>(per_node) : devices;
  return machine_of("kind = \"cluster\"\nnodes = " + std::to_string(devices / size) +
                    "\ngpus_per_node = " + std::to_string(size) +
                    "\nnvlink_bandwidth = \"100 GB/s\"\nnvlink_latency = \"1 us\"\nnic_bandwidth = \"10 GB/s\"\n"
                    "nic_latency = \"5 us\"\npcie_bandwidth = \"100 GB/s\"\n" +
                    (nics > 0 ? "nics_per_node = " + std::to_string(nics) + "\n" : ""));
}

/// A mesh or torus of columns x rows dies, numbered row by row.
inline machine::Machine mesh_of(int columns, int rows, const std::string& topology = "mesh") {
  return machine_of("kind = \"" + topology + "\"\ncolumns = " + std::to_string(columns) +
                    "\nrows = " + std::to_string(rows) + "\nbandwidth = \"1 TB/s\"\nlatency = \"100 ns\"\n");
}

/// All in one node: behind a switch, or on a ring where they are more than a switch has.
inline machine::Machine line_of(std::uint32_t devices) {
  if (devices <= 1024) return nodes_of(devices, static_cast<int>(devices));
  return machine_of("kind = \"ring\"\ndevices = " + std::to_string(devices) +
                    "\nbandwidth = \"100 GB/s\"\nlatency = \"1 us\"\n");
}

}  // namespace tessera::program
