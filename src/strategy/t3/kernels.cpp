#include "kernels.hpp"

#include <fmt/format.h>

#include "tessera/strategy/t3/sublayer.hpp"

namespace tessera::strategy::t3 {

program::GemmKernel gemm_kernel(const Options& options, const Product& product, const machine::DeviceSpec& device,
                                const std::string& datatype) {
  program::GemmKernel gemm;
  program::GemmShape& shape = gemm.shape;
  shape.m = product.m;
  shape.n = product.n;
  shape.k = product.k;
  shape.tile_m = options.tile_m;
  shape.tile_n = options.tile_n;
  shape.tile_k = options.tile_k;
  shape.wavefronts = options.wavefronts;
  shape.split_k = options.split_k;
  shape.order = options.tile_order;
  shape.element = workload::bytes_per_element(datatype);
  shape.peak = device.peak.at(datatype);
  gemm.map = program::address_map_index(options.collective);
  gemm.input_map = static_cast<std::uint16_t>(program::address_map_index(options.input));
  gemm.dma_tiles = options.dma_tiles;
  gemm.reduction = options.reduction;
  return gemm;
}

std::optional<KeyProblem> tile_problem(const Options& options, std::int64_t granularity, const std::string& datatype) {
  const std::int64_t element = workload::bytes_per_element(datatype);
  if (options.tile_m % options.wavefronts != 0)
    return KeyProblem{"wavefronts",
                      fmt::format("{} wavefronts do not divide a tile of {} rows", options.wavefronts, options.tile_m)};
  const std::pair<const char*, std::int64_t> parts[] = {
      {"tile_m x tile_k", options.tile_m * options.tile_k * element},
      {"tile_n x tile_k", options.tile_n * options.tile_k * element},
      {"a wavefront's share of the tile", options.tile_m / options.wavefronts * options.tile_n * element}};
  for (const auto& [what, bytes] : parts) {
    if (bytes % granularity != 0)
      return KeyProblem{"tile_k",
                        fmt::format("a granularity of {} does not divide {}, {} ([machine.device.transaction])",
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

std::string inline_problem(const machine::DeviceSpec& device, const std::string& datatype) {
  if (!device.transaction) return "the device has no table [machine.device.transaction]";
  if (device.peak.count(datatype) == 0)
    return "the device has no peak for the workload's datatype \"" + datatype + "\"";
  const auto problem = tile_problem(Options{}, device.transaction->granularity, datatype);
  return problem ? problem->text : "";
}

void add_sublayer(const InlineSublayer& sublayer, const machine::DeviceSpec& device, const workload::Operator& gemm,
                  program::BlockBuilder& builder) {
  Work work;
  work.gemm = gemm_kernel(Options{}, {gemm.m, gemm.n, gemm.k}, device, gemm.datatype);
  work.gemm.shape.b_transposed = sublayer.activity != program::Activity::backward;  // as weights are stored
  work.activity = sublayer.activity;
  work.label = gemm.name;
  work.group_slot = sublayer.group_slot;
  work.gathers = sublayer.gathers;
  Streams streams{builder, builder};
  configuration(sublayer.configuration).add(work, streams);
}

}  // namespace tessera::strategy::t3
