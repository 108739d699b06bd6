#include "meshes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "../reading.hpp"

namespace tessera::machine {
namespace {

/// The table with one number each for "columns" and "rows"; null where those of the meshes differ, which is reported.
std::shared_ptr<config::Table> with_one_size(const config::Table& table, const std::string& meshes,
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

}  // namespace

void add_meshes(config::Schema<MeshesSpec>& schema, const std::string& kind, const std::string& meshes,
                const std::string& mesh) {
  schema.also_accept("kind", '"' + kind + '"');
  schema.integer(meshes, &MeshesSpec::meshes, "number of " + meshes).at_least("1").at_most("65536");
  schema.integer("columns", &MeshesSpec::columns, "dies of a " + mesh + " in x").at_least("1").at_most("65536");
  schema.integer("rows", &MeshesSpec::rows, "dies of a " + mesh + " in y").at_least("1").at_most("65536");
  schema.quantity("bandwidth", &MeshesSpec::bandwidth, "of one link between two dies of a " + mesh + ", per direction")
      .at_least("1 B/s");
  schema.quantity("latency", &MeshesSpec::latency, "of each of these links").at_least("1 ps").at_most("1 s");
}

std::optional<MeshesSpec> read_meshes(const config::Schema<MeshesSpec>& schema, const config::Table& table,
                                      const std::string& meshes, config::Diagnostics& diagnostics) {
  const auto alike = with_one_size(table, meshes, diagnostics);
  if (alike == nullptr) return std::nullopt;
  const auto spec = read_whole(schema, *alike, diagnostics);
  const std::string product = meshes + " x columns x rows";
  if (!spec || !check_device_count(spec->meshes * spec->dies(), product.c_str(), table, diagnostics))
    return std::nullopt;
  return spec;
}

BytesPerSecond divided(BytesPerSecond bandwidth, std::int64_t links) {
  return BytesPerSecond{std::max<std::int64_t>(1, (bandwidth.value() - links / 2) / links + 1)};
}

}  // namespace tessera::machine
