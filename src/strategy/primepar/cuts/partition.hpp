// How an operator is partitioned over 2^n devices: a sequence of primitives, each of which consumes bits of the device
// id, from d1, the most significant, on (PrimePar, ASPLOS 2024, slides: tensor partition notations).
//
//   a dimension    one bit:  its slices are cut in two
//   P(2^k x 2^k)   2k bits:  the spatial-temporal primitive; a square of devices cuts M, N and K into 2^k slices each
//                            and exchanges them in 2^k temporal steps
//
// Written {N, P(2x2)}. The count of sequences of an operator with D dimensions over 2^n devices is
//
//   f(0) = 1,  f(n) = D f(n-1) + f(n-2) + f(n-4) + ...   (one term for each P with 2k <= n)
//
// The slides do not list the primitives of a linear; the numbers known for it, 306 on 16 devices and 1,300 on 32, hold
// for D = 4: batch B and rows M are dimensions of their own beside N and K. 4, 17, 72, 306, 1300 on 2, 4, 8, 16, 32.
// (With the batch as the only rows, D = 3, there are 110 on 16.) D = 5, a matmul of attention with heads, has 3,650
// on 32.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "operator.hpp"

namespace tessera::strategy::primepar {

/// Ordered as partitions are listed and ties are decided: dimensions in the operator's order, then P by its side.
struct Primitive {
  int log_side = 0;   ///< k of P(2^k x 2^k); 0: one dimension is cut
  int dimension = 0;  ///< of the operator, that is cut; 0 with P

  [[nodiscard]] bool is_square() const { return log_side > 0; }
  [[nodiscard]] int bits() const { return is_square() ? 2 * log_side : 1; }
  auto operator<=>(const Primitive&) const = default;
};
[[nodiscard]] constexpr Primitive cut(int dimension) { return {0, dimension}; }
[[nodiscard]] constexpr Primitive square(int log_side) { return {log_side, 0}; }

using Partition = std::vector<Primitive>;

/// Bits of a device id that it consumes.
[[nodiscard]] int bits_of(const Partition& partition);
/// Whether it has a P.
[[nodiscard]] bool has_square(const Partition& partition);

/// n of 2^n devices. Throws InputError on another number.
[[nodiscard]] int device_bits(std::int64_t devices);

/// "{N, P(2x2)}"; of no primitives "{}", for one device.
[[nodiscard]] std::string to_text(const Operator& op, const Partition& partition);

/// The inverse; blanks do not matter. Throws InputError, which says what in the text is wrong, and what could stand
/// there.
[[nodiscard]] Partition parse_partition(const Operator& op, std::string_view text);

/// Those of an operator in all layers: "{N, P(2x2)}", or, in their order, "95 x {N, P(2x2)}, {N, N, N}".
[[nodiscard]] std::string layers_text(const Operator& op, const std::vector<Partition>& layers);
/// The inverse; one partition without a count is that of all layers. Throws InputError also where counts do not make so
/// many layers.
[[nodiscard]] std::vector<Partition> parse_layers(const Operator& op, std::string_view text, std::int64_t layers);

/// Throws InputError unless the partition consumes exactly these bits, and cuts no dimension below one element.
void check_partition(const Operator& op, const Partition& partition, int bits);

/// All that check_partition accepts, in the order of operator<.
[[nodiscard]] std::vector<Partition> all_partitions(const Operator& op, int bits);

/// In how many slices each dimension is cut, in the operator's order.
[[nodiscard]] std::vector<std::int64_t> slice_counts(const Operator& op, const Partition& partition);

}  // namespace tessera::strategy::primepar
