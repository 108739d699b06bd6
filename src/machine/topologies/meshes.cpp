#include "meshes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tessera::machine {

std::shared_ptr<config::Table> with_one_size(const config::Table& table, const char* meshes,
                                             config::Diagnostics& diagnostics) {
  auto alike = config::clone(table);
  for (const char* key : {"columns", "rows"}) {
    const config::Value* value = table.find(key);
    const config::Array* list = value == nullptr ? nullptr : value->array();
    if (list == nullptr || list->empty()) continue;
    std::vector<std::int64_t> sizes;
    for (const config::Value& one : *list)
      if (const auto* size = std::get_if<std::int64_t>(&one.content())) sizes.push_back(*size);
    if (sizes.size() != list->size()) continue;  // reported as no number
    const config::Value* count = table.find(meshes);
    const auto* wanted = count == nullptr ? nullptr : std::get_if<std::int64_t>(&count->content());
    if (wanted != nullptr && *wanted != std::ssize(sizes)) {
      diagnostics.error(value->where(), fmt::format("\"{}\": {} numbers for {} {}, allowed: one number for all", key,
                                                    sizes.size(), *wanted, meshes));
      return nullptr;
    }
    if (std::ranges::adjacent_find(sizes, std::ranges::not_equal_to()) != sizes.end()) {
      diagnostics.error(value->where(), fmt::format("\"{}\": {} of unequal edges, {}, allowed: one number for all", key,
                                                    meshes, fmt::join(sizes, " and ")));
      return nullptr;
    }
    alike->set(key, config::Value(sizes.front(), value->where()));
  }
  return alike;
}

BytesPerSecond divided(BytesPerSecond bandwidth, std::int64_t links) {
  return BytesPerSecond{std::max<std::int64_t>(1, (bandwidth.value() - links / 2) / links + 1)};
}

}  // namespace tessera::machine
