// Operators for tests, and who receives from whom in a P, written as a place on its torus.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "strategy/primepar/cuts/redistribution.hpp"

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

/// The slice of every device.
inline std::vector<Box> boxes(const Slices& slices, Tensor tensor, Phase phase, int step) {
  std::vector<Box> found;
  for (int device = 0; device < slices.devices(); ++device) found.push_back(slices.box(tensor, device, phase, step));
  return found;
}

/// A region that has one range of each axis, and back.
inline Box box_of(const Region& region) {
  Box box;
  for (const Ranges& axis : region) box.push_back(axis.at(0));
  return box;
}
inline std::vector<Region> regions_of(const std::vector<Box>& boxes) {
  std::vector<Region> found;
  for (const Box& box : boxes) {
    found.emplace_back();
    for (const Range& range : box) found.back().push_back({range});
  }
  return found;
}

/// Of two linears whose O and I are one tensor.
inline std::vector<Piece> forward_redistribution(const Slices& producer, const Slices& consumer) {
  return forward_redistribution(plain(producer.op(), consumer.op()), producer, consumer);
}
inline std::vector<Piece> backward_redistribution(const Slices& producer, const Slices& consumer) {
  return backward_redistribution(plain(producer.op(), consumer.op()), producer, consumer);
}

/// Sender and receiver of each move or piece.
template <class Moves>
Pairs pairs(const Moves& moves) {
  Pairs found;
  for (const auto& move : moves) found.emplace_back(move.from, move.to);
  return found;
}

}  // namespace tessera::strategy::primepar
