// The loops over tiles, carried out: which tile is there, which one has to come, which one leaves.
#pragma once

#include <functional>

#include "product.hpp"

namespace tessera::workload::dataflow {

/// What the device computes at a time is a tile; the last ones along a side may be smaller.
struct Nest {
  Sides tile{};
  Order order{};
};

/// Elements that go between the device's memory and its SRAMs, each counted once however many cores get it.
struct Accesses {
  std::int64_t input = 0, weights = 0;  ///< read
  std::int64_t sums_read = 0;           ///< partial sums that come again
  std::int64_t sums_written = 0;        ///< and those that have to leave
  std::int64_t added = 0, results = 0;  ///< read where a sum begins, written where it is complete

  Accesses& operator+=(const Accesses& other);
  friend bool operator==(const Accesses&, const Accesses&) = default;
};
[[nodiscard]] Accesses operator*(const Accesses& accesses, std::int64_t factor);

/// A step of the nest: a tile's product, for which tiles come and earlier ones leave. One stands for `count` alike that
/// follow each other, in `repeats` products of the batch that are alike.
struct Step {
  std::int64_t count = 1, repeats = 1;
  Sides extent{};  ///< of the tile; all 0 behind the last one, when what is left leaves
  Accesses moved;  ///< for one of them
};

/// Walks through all loops. One tile of each operand and one of sums are there; the next one replaces it.
void execute(const Product& product, const Nest& nest, const std::function<void(const Step&)>& visit);
/// What that moves in all.
[[nodiscard]] Accesses executed(const Product& product, const Nest& nest);
/// The same by formula: an operand is read once for each round of the loop that it does not depend on, if one that it
/// depends on turns inside of that.
[[nodiscard]] Accesses closed_form(const Product& product, const Nest& nest);

/// B read from the device's memory, and written to it.
[[nodiscard]] double bytes_read(const Product& product, const Accesses& accesses);
[[nodiscard]] double bytes_written(const Product& product, const Accesses& accesses);

}  // namespace tessera::workload::dataflow
