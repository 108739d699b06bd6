#include "kernels.hpp"

#include <fmt/format.h>

namespace tessera::strategy::t3 {

void cut(const Options& options, program::GemmKernel& gemm) {
  program::GemmShape& shape = gemm.shape;
  shape.tile_m = options.tile_m;
  shape.tile_n = options.tile_n;
  shape.tile_k = options.tile_k;
  shape.wavefronts = options.wavefronts;
  shape.split_k = options.split_k;
  shape.order = options.tile_order;
  gemm.map = program::address_map_index(options.collective);
  gemm.input_map = static_cast<std::uint16_t>(program::address_map_index(options.input));
  gemm.dma_tiles = options.dma_tiles;
  gemm.reduction = options.reduction;
}

namespace {

// What CUs have summed is in the L2 first, and is written back beside the next kernel: the memory cannot add to it yet.
std::optional<Problem> following_problem(const Work& work, const Options& options) {
  if (options.following == Following::nothing) return std::nullopt;
  const Configuration& config = configuration(options.configuration);
  if (!config.whole)
    return Problem{"following", fmt::format("nothing follows in configuration \"{}\"", options.configuration)};
  if (!work.sums())
    return Problem{"following", work.gemm.calls.empty()
                                    ? fmt::format("there is no sum to add to: collective \"{}\"", options.collective)
                                    : "there may be no sum to add to, with maps of your own"};
  if (options.following == Following::near_memory && !config.near_memory)
    return Problem{"following",
                   fmt::format("in configuration \"{}\" CUs make the sum; near memory it can be added to in "
                               "t3, t3-mca and ideal-rs-nmc",
                               options.configuration)};
  return std::nullopt;
}

}  // namespace

// Rows of A are gathered where they are whole; results too, and then there is nothing to reduce.
std::optional<Problem> communication_problem(const Work& work, const Options& options) {
  const bool own = options.sublayer == "gemm";
  if (work.gathers_input() && !own)
    return Problem{"input", fmt::format("sub-layer \"{}\" has a part of each row on each device, nothing to gather",
                                        options.sublayer)};
  const std::int64_t rows = work.gemm.shape.tile_rows();
  if (work.gathers_input() && rows % work.ranks != 0)
    return Problem{"input",
                   fmt::format("{} devices cannot share {} rows of tiles (m / tile_m) evenly", work.ranks, rows)};
  if (work.gathers_shards() && !own)
    return Problem{"collective", fmt::format("\"{}\" gathers results, but those of sub-layer \"{}\" are partial sums; "
                                             "\"gemm\" has whole ones",
                                             options.collective, options.sublayer)};
  const Configuration& config = configuration(options.configuration);
  const bool own_maps = !work.gemm.calls.empty();
  if (own_maps && !config.fused && options.configuration != "gemm")
    return Problem{"configuration", fmt::format("\"{}\" has no kernel that does what maps of your own do; allowed: t3, "
                                                "t3-mca, gemm",
                                                options.configuration)};
  if (config.sums && !work.sums())
    return Problem{"configuration",
                   fmt::format("\"{}\" needs a sum, but \"{}\" has none", options.configuration, options.collective)};
  const bool direct = !own_maps && options.collective == "direct-reduce-scatter";
  if (work.gemm.reduction == program::Reduction::in_switch && !direct)
    return Problem{"reduction", fmt::format("a switch adds what all devices store to one: collective "
                                            "\"direct-reduce-scatter\"{}",
                                            own_maps ? ", without maps of your own" : "")};
  if (options.configuration == "all-gather" && !work.sums() && !work.gathers_shards() && !work.gathers_input())
    return Problem{"configuration", fmt::format("\"all-gather\" has nothing to gather: collective is \"{}\", input "
                                                "\"local\"",
                                                options.collective)};
  return following_problem(work, options);
}

}  // namespace tessera::strategy::t3
