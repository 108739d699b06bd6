// What a run will be like, from the program alone: for `tessera check`, the progress display, and to refuse what cannot
// fit into this computer.
#pragma once

#include <cstdint>

#include "tessera/experiment/experiment.hpp"

namespace tessera::experiment {

/// The least and the most. Known: both are within a factor of two of what it will be.
struct Range {
  double least = 0, most = 0;

  [[nodiscard]] bool known() const { return most <= 2 * least; }
  void add(double least_more, double most_more) {
    least += least_more;
    most += most_more;
  }
};

struct Estimate {
  std::int64_t devices = 0;       ///< that compute and take part
  std::int64_t hosts = 0;         ///< that take part
  program::DeviceId fullest = 0;  ///< device that has the least memory to spare, or may
  program::MemoryPeak peak;       ///< of that device
  std::int64_t certain_peak = 0;  ///< B: what some device of its kind holds for certain
  double bytes_sent = 0;          ///< by all devices
  double messages = 0;
  double executed_flops = 0;
  bool is_sampled = false;  ///< these were counted of some of the devices: exact only where all of a kind do the same
  /// Of the simulation, over all ranks: when no flows share a link, and when every packet on every link is an event. Of
  /// every round of every loop: what sim::Laws::all leaves out is not known before.
  Range events;
  Range bytes_shared;     ///< memory of the simulator, B, over all ranks: each holds its own devices'
  double bytes_each = 0;  ///< B, of every rank: the machine, the program, connections

  /// Memory of one of so many ranks, B, with what a process needs anyway.
  [[nodiscard]] Range bytes_per_rank(int ranks) const;
};

[[nodiscard]] Estimate estimate(const Experiment& experiment);
/// What there is to be done in all.
[[nodiscard]] inline sim::WorkDone work_of(const Estimate& expected) {
  return {expected.devices + expected.hosts, expected.executed_flops, expected.bytes_sent};
}

}  // namespace tessera::experiment
