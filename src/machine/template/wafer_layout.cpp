// What fits on a wafer: dies with their DRAM, cores on a die, and what shares its edge.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "templates.hpp"

namespace tessera::machine {
namespace {

/// How many of `each`, with `spacing` between neighbours, have room on `length`.
std::int64_t count_that_fits(Length each, Length spacing, Length length) {
  return each > Length{0} ? (length + spacing) / (each + spacing) : 0;
}

Length length_of(std::int64_t count, Length each, Length spacing) { return count * each + (count - 1) * spacing; }

/// Things in a row on an edge of something.
struct Row {
  const char *constraint, *key;  ///< the key says how many there are
  const char *one, *several, *room;
  Length size, spacing, length;
};

/// How many there are: `stated`, or as many as fit. A conflict where that is more than there is room for, or none.
std::int64_t count_of(std::int64_t stated, const Row& row, std::vector<Conflict>& conflicts) {
  const std::int64_t fitting = count_that_fits(row.size, row.spacing, row.length);
  const std::int64_t count = stated > 0 ? stated : std::max<std::int64_t>(1, fitting);
  const Length taken = length_of(count, row.size, row.spacing);
  if (taken > row.length)
    conflicts.push_back(
        {row.constraint, row.key,
         fmt::format("{} {} of {} take{} {}, {} is {}: {} too much", count, count == 1 ? row.one : row.several,
                     in_millimetres(row.size), count == 1 ? "s" : "", in_millimetres(taken), row.room,
                     in_millimetres(row.length), in_millimetres(taken - row.length))});
  return count;
}

std::int64_t sides_of(DramPlace place) {
  if (place == DramPlace::both_sides) return 2;
  return place == DramPlace::one_side ? 1 : 0;
}

/// Chiplets stand in columns and rows on a die, all of them turned the same way.
std::int64_t most_on_top(const WaferTemplate& of) {
  const Length width = of.die.width, height = of.die.height, a = of.dram.width, b = of.dram.depth;
  if (std::min(a, b) <= Length{0}) return 0;
  return std::max((width / a) * (height / b), (width / b) * (height / a));
}

void place_dram(const WaferTemplate& of, WaferLayout& layout) {
  const std::int64_t sides = sides_of(of.dram.place);
  layout.site_width = of.die.width + sides * (of.dram.depth + of.wafer.spacing);
  layout.site_height = of.die.height;
  layout.chiplets = of.dram.place == DramPlace::on_top ? of.dram.chiplets : sides * of.dram.chiplets;
  if (sides > 0) {
    static_cast<void>(count_of(of.dram.chiplets,
                               {"chiplets along the die's edge", "dram.chiplets", "chiplet", "chiplets",
                                "the die's edge", of.dram.width, of.wafer.spacing, of.die.height},
                               layout.conflicts));
  } else if (of.dram.place == DramPlace::on_top && of.dram.chiplets > most_on_top(of)) {
    layout.conflicts.push_back(
        {"chiplets on the die", "dram.chiplets",
         fmt::format("{} chiplets of {} x {} on a die of {} x {}, on which {} fit: {} too many", of.dram.chiplets,
                     in_millimetres(of.dram.width), in_millimetres(of.dram.depth), in_millimetres(of.die.width),
                     in_millimetres(of.die.height), most_on_top(of), of.dram.chiplets - most_on_top(of))});
  }
}

void place_dies(const WaferTemplate& of, WaferLayout& layout) {
  const bool is_wider = sides_of(of.dram.place) > 0;
  layout.columns = count_of(of.wafer.columns,
                            {"columns of dies", "wafer.columns", is_wider ? "die with its DRAM" : "die",
                             is_wider ? "dies with their DRAM" : "dies", "the wafer's width", layout.site_width,
                             of.wafer.spacing, of.wafer.width},
                            layout.conflicts);
  layout.rows = count_of(of.wafer.rows,
                         {"rows of dies", "wafer.rows", "die", "dies", "the wafer's height", layout.site_height,
                          of.wafer.spacing, of.wafer.height},
                         layout.conflicts);
}

/// One direction of the array; a core whose size is not said fits as often as is stated.
std::int64_t cores_along(std::int64_t stated, Row row, std::vector<Conflict>& conflicts) {
  if (row.size > Length{0}) return count_of(stated, row, conflicts);
  if (stated == 0)
    conflicts.push_back(
        {row.constraint, row.key, "neither the cores of a die are counted nor is the size of one said"});
  return stated;
}

/// `each` times so many, or nothing where 64 bits do not count that.
template <class Amount>
Amount times(std::int64_t count, Amount each, bool& is_counted) {
  const auto product = static_cast<Uint128>(count) * static_cast<Uint128>(each.value());
  is_counted = is_counted && product <= static_cast<Uint128>(std::numeric_limits<std::int64_t>::max());
  return is_counted ? count * each : Amount{};
}

void add_up_cores(const WaferTemplate::Core& core, WaferLayout& layout) {
  constexpr std::int64_t most = std::int64_t{1} << 20;  // of a die, and in each direction
  bool fits = layout.core_columns <= most && layout.core_rows <= most && layout.cores() <= most;
  const std::int64_t cores = fits ? layout.cores() : 0;
  const PeakRates& of = core.peak;
  layout.peak = {times(cores, of.fp64, fits), times(cores, of.fp32, fits), times(cores, of.tf32, fits),
                 times(cores, of.fp16, fits), times(cores, of.bf16, fits), times(cores, of.fp8, fits),
                 times(cores, of.int8, fits), times(cores, of.fp4, fits)};
  layout.sram = times(cores, core.sram, fits);
  layout.sram_bandwidth = times(cores, core.sram_bandwidth, fits);
  if (!fits)
    layout.conflicts.push_back({"cores of a die", "core.columns",
                                fmt::format("{} x {} of them, or what they have together, are more than is "
                                            "counted, allowed: {} cores",
                                            layout.core_columns, layout.core_rows, most)});
}

void place_cores(const WaferTemplate& of, WaferLayout& layout) {
  const WaferTemplate::Core& core = of.core;
  layout.core_columns = cores_along(
      core.columns,
      {"columns of cores", "core.columns", "core", "cores", "the die's width", core.width, Length{0}, of.die.width},
      layout.conflicts);
  layout.core_rows = cores_along(
      core.rows,
      {"rows of cores", "core.rows", "core", "cores", "the die's height", core.height, Length{0}, of.die.height},
      layout.conflicts);
  add_up_cores(core, layout);
}

/// What `edge_bandwidth` on `edge_length` is on the whole edge of the die, rounded down to a byte a second.
BytesPerSecond whole_edge(const WaferTemplate::Die& die) {
  const auto around = static_cast<Uint128>(2 * (die.width + die.height).value());
  const Uint128 scaled = static_cast<Uint128>(die.edge_bandwidth.value()) * around;
  return BytesPerSecond{static_cast<std::int64_t>(scaled / static_cast<Uint128>(die.edge_length.value()))};
}

/// DRAM beside a die takes its own bandwidth of what the edge has, and the four directions share the rest (WATOS,
/// section III-B: "allocating more interfaces to DRAM reduces the bandwidth available for D2D links"). What is on top
/// needs no edge (section VI-E).
void share_edge(const WaferTemplate& of, WaferLayout& layout) {
  constexpr std::int64_t directions = 4;
  layout.edge_bandwidth = whole_edge(of.die);
  const std::int64_t at_the_edge = sides_of(of.dram.place) * of.dram.chiplets;
  const BytesPerSecond taken = at_the_edge * of.dram.bandwidth;
  layout.link_bandwidth = (layout.edge_bandwidth - taken) / directions;
  if (layout.link_bandwidth >= BytesPerSecond{1}) return;
  const std::string beyond =
      taken > layout.edge_bandwidth ? config::format_rounded(taken - layout.edge_bandwidth) + " too much, " : "";
  layout.conflicts.push_back(
      {"bandwidth of the die's edge", "dram.chiplets",
       fmt::format("{} chiplets of {} take {}, the die's edge of {} has {}: {}nothing is left for links", at_the_edge,
                   config::format_rounded(of.dram.bandwidth), config::format_rounded(taken),
                   in_millimetres(2 * (of.die.width + of.die.height)), config::format_rounded(layout.edge_bandwidth),
                   beyond)});
}

/// Without DRAM a die has its cores' SRAM alone.
void find_memory(const WaferTemplate& of, WaferLayout& layout) {
  if (of.dram.place != DramPlace::none) {
    layout.memory_capacity = layout.chiplets * of.dram.capacity;
    layout.memory_bandwidth = layout.chiplets * of.dram.bandwidth;
    return;
  }
  layout.memory_capacity = layout.sram;
  layout.memory_bandwidth = layout.sram_bandwidth;
  if (layout.memory_bandwidth < BytesPerSecond{1} || layout.memory_capacity < Bytes{1})
    layout.conflicts.push_back(
        {"memory", "dram.place",
         "a die without DRAM computes from its SRAM, which core.sram and core.sram_bandwidth do not say"});
}

}  // namespace

WaferLayout layout_of(const WaferTemplate& wafer) {
  WaferLayout layout;
  place_cores(wafer, layout);
  place_dram(wafer, layout);
  share_edge(wafer, layout);
  place_dies(wafer, layout);
  find_memory(wafer, layout);
  return layout;
}

}  // namespace tessera::machine
