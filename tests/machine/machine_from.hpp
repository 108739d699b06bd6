// Machines from a few lines of TOML, for the tests of this layer.
#pragma once

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tessera/machine/routes.hpp"
#include "tessera/machine/topology.hpp"

namespace tessera::machine {

/// A [machine] with a device of no interest, that [machine.topology], and whatever follows. Topology starts in line 6.
inline std::string machine_text(const std::string& topology, const std::string& rest = "") {
  return "[machine]\n"
         "name = \"test\"\n"
         "packet = \"1 kB\"\n"
         "device = { name = \"d\", peak.fp16 = \"1 TFLOP/s\", memory_bandwidth = \"1 TB/s\", memory_capacity = \"1 "
         "GB\" }\n"
         "[machine.topology]\n" +
         topology + rest;
}

// Topologies of no interest by themselves.
inline const std::string speeds = "bandwidth = \"100 GB/s\"\nlatency = \"100 ns\"\n";
inline const std::string mesh4 = "kind = \"mesh\"\ncolumns = 4\nrows = 4\n" + speeds;
inline const std::string ring6 = "kind = \"ring\"\ndevices = 6\n" + speeds;

inline const std::string two_servers =
    "kind = \"cluster\"\nnodes = 2\ngpus_per_node = 4\nnvlink_bandwidth = \"300 GB/s\"\nnvlink_latency = \"600 ns\"\n"
    "nic_bandwidth = \"25 GB/s\"\nnic_latency = \"2 us\"\n";

/// Faults of ring6 start in line 10, those of mesh4 in line 11.
inline std::string fault(const std::string& keys) { return "[[machine.fault]]\n" + keys + "\n"; }

/// A host; after a topology it may stand before faults.
inline std::string host(const std::string& keys) {
  return "[[machine.host]]\nmemory_capacity = \"2 TB\"\nmemory_bandwidth = \"400 GB/s\"\nbandwidth = \"20 GB/s\"\n"
         "latency = \"1 us\"\n" +
         keys + "\n";
}

/// One whose links share 160 GB/s.
inline std::string bridged(const std::string& keys) { return host("bridge_bandwidth = \"160 GB/s\"\n" + keys); }

/// The machine, or null when there are errors, which are then in `errors`.
inline std::unique_ptr<Machine> try_machine(const std::string& text, std::vector<std::string>& errors) {
  config::Diagnostics diagnostics;
  const auto table = parse_machine_file(text, "m.toml", diagnostics);
  std::unique_ptr<Machine> machine;
  if (table != nullptr) machine = std::make_unique<Machine>(build_machine(*table, diagnostics));
  errors = diagnostics.errors();
  if (!errors.empty()) machine.reset();
  return machine;
}

inline Machine machine_from(const std::string& text) {
  std::vector<std::string> errors;
  const auto machine = try_machine(text, errors);
  for (const std::string& error : errors) FAIL_CHECK(error);
  REQUIRE(machine != nullptr);
  return *machine;
}

inline std::vector<std::string> errors_of(const std::string& text) {
  std::vector<std::string> errors;
  (void)try_machine(text, errors);
  return errors;
}

inline std::vector<std::string> warnings_of(const std::string& text) {
  config::Diagnostics diagnostics;
  const auto table = parse_machine_file(text, "m.toml", diagnostics);
  if (table != nullptr) (void)build_machine(*table, diagnostics);
  return diagnostics.warnings();
}

/// The names of the nodes on the way, both ends included; empty when there is none.
inline std::vector<std::string> way(const Machine& machine, NodeId from, NodeId to) {
  std::vector<std::string> names;
  for (const LinkId link : Routes(machine.network).links(from, to)) {
    if (names.empty()) names.push_back(machine.node_name(machine.network.links[link].from));
    names.push_back(machine.node_name(machine.network.links[link].to));
  }
  return names;
}

inline const Link& link_between(const Machine& machine, NodeId from, NodeId to) {
  const Network& network = machine.network;
  for (LinkId link = network.first_link[from]; link < network.first_link[from + 1]; ++link)
    if (network.links[link].to == to) return network.links[link];
  throw std::runtime_error("no such link");
}

using Names = std::vector<std::string>;

}  // namespace tessera::machine
