// How much the streams of a device will be, without running them: for estimates.
#pragma once

#include <string>
#include <vector>

#include "tessera/machine/machine.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/sim/execution/program_facts.hpp"

namespace tessera::sim {

/// Of all streams of one device. double: repeats of repeats may be beyond 2^63.
struct StreamVolume {
  /// Events of a stream that waits for its own clock, or for messages to leave: where what it waits for always comes
  /// after what it computes beside, and the most.
  double wakes = 0, most_wakes = 0;
  double ring_messages = 0;   ///< of ring collectives that may need no event for each: `wakes` counts them so
  double intervals = 0;       ///< rows of a recorded timeline, at most
  double memory_changes = 0;  ///< rows of a recorded memory timeline
  /// Messages that wait in line at the device: those that are posted one behind the other without anything between
  /// them, and those between which nothing waits for any to leave.
  double in_line = 0, most_in_line = 0;
};

[[nodiscard]] StreamVolume stream_volume(program::Lowerings& lowerings, const ProgramFacts& facts,
                                         program::DeviceId device);

/// Collectives that go round several rings whose ways share links, so that the law of rings does not take them: each as
/// a text, "reduce-scatter over 128 in 8 rings".
[[nodiscard]] std::vector<std::string> rings_that_share_links(const program::Program& program,
                                                              const machine::Machine& machine);

}  // namespace tessera::sim
