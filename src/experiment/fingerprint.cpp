#include "fingerprint.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tessera/base/hash.hpp"

namespace tessera::experiment {
namespace {

using config::Table;
using config::Value;

/// Keys in order, so that it does not matter who wrote them first.
Table sorted(const Table& table) {
  auto entries = table.entries();
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Table found(table.where());
  for (const auto& [key, value] : entries) {
    const Table* inner = value.table();
    found.set(key, inner == nullptr ? value : Value{std::make_shared<Table>(sorted(*inner)), value.where()});
  }
  return found;
}

}  // namespace

std::string fingerprint(const Table& resolved, const std::string& key) {
  const Value* value = resolved.find(key);
  if (value == nullptr || value->table() == nullptr) return "";
  return fmt::format("{:016x}", hash_of(config::to_toml(sorted(*value->table()))));
}

}  // namespace tessera::experiment
