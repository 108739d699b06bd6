// Where messages about a strategy's keys point to.
#pragma once

#include "tessera/base/config.hpp"

namespace tessera::strategy {

/// Where a key stands, or the table when it is absent.
inline const config::Location& place_of(const config::Table& table, const char* key) {
  const config::Value* value = table.find(key);
  return value == nullptr ? table.where() : value->where();
}

}  // namespace tessera::strategy
