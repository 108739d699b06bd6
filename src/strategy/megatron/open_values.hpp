// Keys of a cut that may be open, and what each of them may be.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cut.hpp"

namespace tessera::strategy::megatron {

/// Where a search is among the combinations of open keys.
struct SoFar {
  const Options& options;  ///< keys before this one have their values
  const config::Table& table;
  const Job& job;
  std::int64_t devices = 0;  ///< that work
};

/// One key that may be open. Its values are fixed ones, or follow from those of the keys before it.
struct OpenDimension {
  void (*copy)(const Options& from, Options& to) = nullptr;  ///< the key's value
  /// Options of which this key has such a value; empty: the fixed ones.
  std::function<std::vector<Options>(const SoFar& so_far)> values = {};
  std::vector<Options> fixed = {};
};

/// Those that the table leaves open, in the order in which combinations are gone through. Problems of lists that only
/// the model shows, and of keys that are not open together, go to `diagnostics`.
[[nodiscard]] std::vector<std::pair<std::string, OpenDimension>> open_dimensions(const config::Table& table,
                                                                                 const Job& job,
                                                                                 config::Diagnostics& diagnostics);

}  // namespace tessera::strategy::megatron
