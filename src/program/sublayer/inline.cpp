// Sub-layers in the midst of other work, and what their tiles must fit.
#include <fmt/format.h>

#include "tessera/base/config.hpp"
#include "tessera/program/sublayer.hpp"

namespace tessera::program::sublayer {

GemmKernel gemm_kernel(const Product& product, const machine::DeviceSpec& device, const std::string& datatype) {
  GemmKernel gemm;
  gemm.shape.m = product.m;
  gemm.shape.n = product.n;
  gemm.shape.k = product.k;
  gemm.shape.order = TileOrder::column_major;
  gemm.shape.element = workload::bytes_per_element(datatype);
  gemm.shape.peak = device.peak.at(datatype).value();
  gemm.map = address_map_index("ring-reduce-scatter");
  return gemm;
}

std::optional<Problem> tile_problem(const GemmShape& shape, std::int64_t granularity) {
  if (shape.tile_m % shape.wavefronts != 0)
    return Problem{"wavefronts",
                   fmt::format("{} wavefronts do not divide a tile of {} rows", shape.wavefronts, shape.tile_m)};
  const std::pair<const char*, std::int64_t> parts[] = {
      {"tile_m x tile_k", shape.tile_m * shape.tile_k * shape.element},
      {"tile_n x tile_k", shape.tile_n * shape.tile_k * shape.element},
      {"a wavefront's share of the tile", shape.tile_m / shape.wavefronts * shape.tile_n * shape.element}};
  for (const auto& [what, bytes] : parts) {
    if (bytes % granularity != 0)
      return Problem{"tile_k", fmt::format("a granularity of {} does not divide {}, {} ([machine.device.transaction])",
                                           config::format_quantity(granularity, config::Unit::bytes), what,
                                           config::format_quantity(bytes, config::Unit::bytes))};
  }
  return std::nullopt;
}

std::vector<std::string> inline_configurations() {
  std::vector<std::string> names;
  for (const Configuration& one : configurations()) {
    if (one.whole && !one.uses_side) names.push_back(one.name);
  }
  return names;
}

std::vector<std::string> levels() {
  std::vector<std::string> names = inline_configurations();
  names.insert(names.begin(), "operators");
  return names;
}

std::string inline_problem(const machine::DeviceSpec& device, const std::string& datatype) {
  if (!device.transaction) return "the device has no table [machine.device.transaction]";
  if (device.peak.count(datatype) == 0)
    return "the device has no peak for the workload's datatype \"" + datatype + "\"";
  GemmShape shape;
  shape.element = workload::bytes_per_element(datatype);
  const auto problem = tile_problem(shape, device.transaction->granularity);
  return problem ? problem->text : "";
}

void add_inline(const Inline& sublayer, const machine::DeviceSpec& device, const workload::Operator& gemm,
                BlockBuilder& builder) {
  Work work;
  work.gemm = gemm_kernel({gemm.m, gemm.n, gemm.k}, device, gemm.datatype);
  work.gemm.shape.b_transposed = sublayer.activity != Activity::backward;  // as weights are stored
  work.activity = sublayer.activity;
  work.label = gemm.name;
  work.group_slot = sublayer.group_slot;
  work.gathers = sublayer.gathers;
  Streams streams{builder, builder};
  configuration(sublayer.configuration).add(work, streams);
}

}  // namespace tessera::program::sublayer
