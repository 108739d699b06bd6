// A plain store-and-forward simulation, packet by packet, of the rules in docs/architecture.md: what the trains of
// src/sim must equal.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/machine/routes.hpp"

namespace tessera::test {

/// A message posted at `time`, or in answer to the delivery of message `after` at its sender. Those between two devices
/// on one channel leave in the order of posting.
struct TestMessage {
  machine::NodeId from = 0;
  machine::NodeId to = 0;
  std::int64_t bytes = 0;
  Time time = 0;
  int after = -1;
  std::uint32_t channel = 0;
};

/// A packet that left a link.
struct Departure {
  std::uint32_t message = 0;
  Time time = 0;
  bool operator==(const Departure&) const = default;
};

struct TrafficResult {
  std::vector<Time> delivered;                     ///< by message
  std::vector<std::vector<Departure>> departures;  ///< by link, in order
  std::vector<Time> busy;                          ///< by link
  std::vector<std::int64_t> peak_queue;            ///< B, by link: see LinkCounts
  bool operator==(const TrafficResult&) const = default;
};

/// `ways`: of connections that do not take the network's own.
[[nodiscard]] TrafficResult run_reference(const machine::Network& network, const std::vector<TestMessage>& messages,
                                          const std::vector<machine::BoundWay>& ways = {});

}  // namespace tessera::test
