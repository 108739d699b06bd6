// In which keys two resolved experiments differ.
#pragma once

#include <string>
#include <vector>

#include "tessera/base/config.hpp"

namespace tessera::experiment {

/// A key with two values, as TOML writes them; empty: it is not given.
struct Difference {
  std::string key, was, is;
};

/// Of all keys below, in the order of `is`, with those behind that it does not have. `path`: of the tables themselves.
[[nodiscard]] std::vector<Difference> differences(const config::Table& was, const config::Table& is,
                                                  const std::string& path);

/// "machine.topology.nodes 16 -> 8, workload.global_batch 4 -> 8": of many the first, and how many more.
[[nodiscard]] std::string text_of(const std::vector<Difference>& differences);

}  // namespace tessera::experiment
