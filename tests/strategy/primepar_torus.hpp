// Operators for tests, and who receives from whom in a P, written as a place on its torus.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "strategy/primepar/slices.hpp"

namespace tessera::strategy::primepar {

/// A partition of a linear, 32 elements in every dimension, over as many devices as it has bits for.
inline Slices slices(const std::string& text) {
  const Operator op = linear("fc", 32, 32, 32, 32);
  const Partition partition = parse_partition(op, text);
  return {op, partition, bits_of(partition)};
}

/// {P(2^k x 2^k)}.
inline Slices pure(int log_side) {
  const Operator op = linear("fc", 1, 32, 32, 32);
  return {op, {square(log_side)}, 2 * log_side};
}

/// Where device (r, c) of one P receives from, up to multiples of its side.
using Source = std::function<Place(int r, int c)>;

using Pairs = std::vector<std::pair<int, int>>;

/// Sender and receiver, if all of q x q devices receive from there but those that would from themselves.
inline Pairs expected(int q, const Source& source) {
  Pairs found;
  for (int r = 0; r < q; ++r) {
    for (int c = 0; c < q; ++c) {
      const Place from = source(r, c);
      const int sender = ((from.row + q) % q) * q + (from.column + q) % q;
      if (sender != r * q + c) found.emplace_back(sender, r * q + c);
    }
  }
  return found;
}

/// Sender and receiver of each move or piece.
template <class Moves>
Pairs pairs(const Moves& moves) {
  Pairs found;
  for (const auto& move : moves) found.emplace_back(move.from, move.to);
  return found;
}

}  // namespace tessera::strategy::primepar
