#include "work.hpp"

#include <fmt/format.h>

#include "configurations.hpp"

namespace tessera::strategy::t3 {

bool Work::communicates() const { return !gemm.calls.empty() || gemm.map != program::address_map_index("local"); }

bool Work::gathers_input() const { return program::address_map_kinds()[gemm.input_map].gathers; }

bool Work::gathers_shards() const { return gemm.calls.empty() && program::address_map_kinds()[gemm.map].gathers; }

bool Work::exchanges() const {
  return communicates() && gemm.calls.empty() && !gathers_shards() &&
         !program::address_map_kinds()[gemm.map].scatters_sums;
}

// Rows of A are gathered where they are whole; results too, and then there is nothing to reduce.
std::optional<KeyProblem> communication_problem(const Work& work, const Options& options) {
  const bool own = options.sublayer == "gemm";
  if (work.gathers_input() && !own)
    return KeyProblem{"input", fmt::format("sub-layer \"{}\" has a part of each row on each device, nothing to gather",
                                           options.sublayer)};
  const std::int64_t rows = work.gemm.shape.tile_rows();
  if (work.gathers_input() && rows % work.ranks != 0)
    return KeyProblem{"input",
                      fmt::format("{} devices cannot share {} rows of tiles (m / tile_m) evenly", work.ranks, rows)};
  if (work.gathers_shards() && !own)
    return KeyProblem{"collective",
                      fmt::format("\"{}\" gathers results, but those of sub-layer \"{}\" are partial sums; "
                                  "\"gemm\" has whole ones",
                                  options.collective, options.sublayer)};
  const Configuration& config = configuration(options.configuration);
  if (config.sums && (work.gathers_shards() || !work.communicates()))
    return KeyProblem{"configuration", fmt::format("\"{}\" needs a sum, but \"{}\" has none", options.configuration,
                                                   options.collective)};
  const bool direct = work.gemm.calls.empty() && options.collective == "direct-reduce-scatter";
  if (work.gemm.reduction == program::Reduction::in_switch && !direct)
    return KeyProblem{"reduction", "a switch adds what all devices store to one: collective \"direct-reduce-scatter\""};
  if (!config.fused && config.whole && work.exchanges())
    return KeyProblem{"configuration",
                      fmt::format("\"{}\" has no kernel for \"{}\" by itself; allowed: t3, t3-mca, gemm",
                                  options.configuration, options.collective)};
  return std::nullopt;
}

}  // namespace tessera::strategy::t3
