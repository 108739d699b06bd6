// What the readers of this layer share.
#pragma once

#include <cstdint>
#include <optional>

#include "tessera/base/config.hpp"

namespace tessera::machine {

/// More would not fit the 32-bit ids of components once links are counted.
inline constexpr std::int64_t most_devices = std::int64_t{1} << 20;

/// The object, or nothing when reading it reported an error.
template <class T>
std::optional<T> read_whole(const config::Schema<T>& schema, const config::Table& table,
                            config::Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.errors().size();
  T object = schema.read(table, diagnostics);
  if (diagnostics.errors().size() != before) return std::nullopt;
  return object;
}

/// Reports more devices than can be simulated; `product` says where they come from: "columns x rows".
inline bool check_device_count(std::int64_t count, const char* product, const config::Table& table,
                               config::Diagnostics& diagnostics) {
  if (count <= most_devices) return true;
  diagnostics.error(table.where(), std::string(product) + " is " + std::to_string(count) + " devices, at most " +
                                       std::to_string(most_devices) + " are allowed");
  return false;
}

}  // namespace tessera::machine
