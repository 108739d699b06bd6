// What a partitioned operator communicates, derived from its slice indices alone, for any sequence of primitives: which
// device sends what to whom before which step, and which devices sum what at the end of a phase.
#pragma once

#include <cstdint>
#include <vector>

#include "slices.hpp"

namespace tessera::strategy::primepar {

/// One slice of a tensor from a device to another.
struct Move {
  int from = 0, to = 0;
  std::int64_t elements = 0;
  bool operator==(const Move&) const = default;
};

/// A tensor as the devices hold it in one step of a phase.
struct Moment {
  Tensor tensor;
  Phase phase;
  int step = 0;
  bool operator==(const Moment&) const = default;
};

/// What brings `before` to `after`, whose tensors have the same dimensions: a move to every device that does not have
/// its slice in place, in the order of the receiving devices. The sender is, of those that have the slice before, one
/// that differs least in the bits that cut dimensions, then the nearest on the torus of every P, then the one of the
/// smallest id. Throws InternalError where no device has it.
[[nodiscard]] std::vector<Move> moves_between(const Slices& slices, const Moment& before, const Moment& after);

/// The moves of one tensor from one step of a phase to the next; never none.
struct StepTransfer {
  Tensor tensor;
  int step = 1;  ///< the first one that needs them
  /// Sums that follow their slice. They are added to what the step computes, so they may travel beside it, into a
  /// second buffer; what else a step needs is there before it.
  bool is_sum = false;
  std::vector<Move> moves;
};
/// All of a phase, by step: what is read, left before right, then the sum.
[[nodiscard]] std::vector<StepTransfer> step_transfers(const Slices& slices, Phase phase);

/// The moves from one phase into another; none where every slice is in place.
struct Alignment {
  Moment before, after;
  std::vector<Move> moves;
};
/// What a training iteration hands from phase to phase: I, W, O to dO and dO into backward and gradient; W and dW to W
/// into the next forward.
[[nodiscard]] std::vector<Alignment> alignments(const Slices& slices);

/// At the end of a phase, in each group the same slice is the sum of what its members have.
struct AllReduce {
  Tensor tensor;
  std::vector<std::vector<int>> groups;  ///< by their smallest member; each in order; none of a single device
  std::vector<std::int64_t> elements;    ///< of each group's slice
};
/// Without groups where every device already has the whole sum, or the operator has no such phase.
[[nodiscard]] AllReduce all_reduce(const Slices& slices, Phase phase);

/// The devices that sum a part each of the same statistics; as in AllReduce.
[[nodiscard]] std::vector<std::vector<int>> statistics_groups(const Slices& slices);

/// How many devices hold each slice of the tensor; all slices are held by as many.
[[nodiscard]] int replication(const Slices& slices, const Moment& moment);

}  // namespace tessera::strategy::primepar
