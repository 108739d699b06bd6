// Which slice of every dimension a device works on in every step of a phase: the dimension slice indices (DSI) of
// PrimePar (ASPLOS 2024, slides: forward, backward and gradient DSIs, printed there for k = 2), in general form.
//
// A square P(q x q), q = 2^k, numbers its devices by rows and columns 0 <= r, c < q: r is the first k of the bits that
// it consumes, c the next k. With l = q - 1, delta = 1 exactly when t = l, and everything mod q, (M, N, K) is
//
//   forward    (r,     r + c + t,          c)
//   backward   (r,     r + c - 1,          c + t)
//   gradient   (r + t, r + c - 1 + delta,  c - 1 + delta)
//
// A sequence of primitives refines: I_X := 2 I_X + d where the bit d cuts X, I_X := q I_X + f for M, N and K of a P.
// With several P the temporal index is a tuple, the last P fastest, and each has its own delta.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <vector>

#include "operator.hpp"
#include "partition.hpp"
#include "tessera/program/redistribution.hpp"

namespace tessera::strategy::primepar {

using program::Box;
using program::Range;

/// The slice of each dimension, in the operator's order.
using Position = std::array<std::int32_t, max_dimensions>;

/// One P's slices of M, N and K, before they are combined with those of other primitives.
struct SquareSlices {
  int rows = 0, contracted = 0, columns = 0;
};
[[nodiscard]] SquareSlices square_slices(Phase phase, int row, int column, int step, int log_side);

/// A device's place in one P.
struct Place {
  int row = 0, column = 0;
};

/// The slices of one partition of one operator.
class Slices {
 public:
  /// Throws InputError as check_partition does.
  Slices(Operator op, Partition partition, int bits);

  [[nodiscard]] const Operator& op() const { return op_; }
  [[nodiscard]] const Partition& partition() const { return partition_; }
  [[nodiscard]] int devices() const { return 1 << bits_; }
  /// Temporal steps of each phase: the product of the sides of all P.
  [[nodiscard]] int steps() const { return steps_; }

  /// All slices of each dimension have as many elements, so that all devices have as many in all steps.
  [[nodiscard]] bool is_even() const { return is_even_; }

  /// I_X(device, phase, step) of each dimension X.
  [[nodiscard]] Position at(int device, Phase phase, int step) const;

  /// A number for each slice of some dimensions, the same for two devices exactly if they are at the same slice.
  [[nodiscard]] std::int64_t key(const std::vector<int>& dimensions, int device, Phase phase, int step) const;
  /// The keys of all devices at a tensor's slices.
  [[nodiscard]] std::vector<std::int64_t> layout(Tensor tensor, Phase phase, int step) const;

  /// The elements of each dimension that it works on, in the operator's order. A dimension that its slices do not
  /// divide has slices that differ by one element.
  [[nodiscard]] std::vector<Range> ranges(int device, Phase phase, int step) const;
  /// Those of a tensor's dimensions: its slice.
  [[nodiscard]] Box box(Tensor tensor, int device, Phase phase, int step) const;

  /// The device's places in the partition's P, in sequence, ...
  [[nodiscard]] std::vector<Place> places(int device) const;
  /// ... and its bits that cut dimensions; those of P are 0.
  [[nodiscard]] int cut_bits(int device) const { return device & cut_mask_; }

 private:
  struct Level {
    Primitive primitive;
    int shift = 0;        // of its bits in the device id
    int step_stride = 1;  // of its temporal index in the step
  };
  [[nodiscard]] Place place(const Level& level, int device) const;

  Operator op_;
  Partition partition_;
  int bits_ = 0, steps_ = 1, cut_mask_ = 0;
  bool is_even_ = true;
  std::vector<Level> levels_;
  std::vector<std::int64_t> counts_;
};

}  // namespace tessera::strategy::primepar
