#include "placement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "tessera/base/error.hpp"

namespace tessera::strategy::megatron {
namespace {

using config::Diagnostics;
using config::Table;
using machine::Tile;

/// A whole number of at least 1 and at most a million, of all of the text.
std::optional<int> count_of(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole && number >= 1 && number <= 1'000'000 ? std::optional(number) : std::nullopt;
}

struct TileRun {
  Tile tile;
  int times = 1;
};

/// "2x2" or "2x2 * 12".
std::optional<TileRun> run_of(const std::string& text) {
  const std::size_t star = text.find('*'), cross = text.find('x');
  if (cross == std::string::npos || cross > star) return std::nullopt;
  const std::string_view all = text;
  const auto columns = count_of(all.substr(0, cross));
  const auto rows = count_of(all.substr(cross + 1, star == std::string::npos ? star : star - cross - 1));
  const auto times = star == std::string::npos ? std::optional(1) : count_of(all.substr(star + 1));
  if (!columns || !rows || !times) return std::nullopt;
  return TileRun{{*columns, *rows}, *times};
}

/// As many tiles as groups, the last one of the list as often as it takes.
std::vector<Tile> tiles_of(const std::vector<std::string>& texts, std::size_t groups) {
  std::vector<Tile> tiles;
  for (const std::string& text : texts) {
    const std::optional<TileRun> run = run_of(text);
    if (!run) {
      throw InputError(fmt::format(
          "\"{}\", allowed: columns x rows such as \"2x2\", and how many of them such as \"2x2 * 12\"", text));
    }
    const auto times = static_cast<std::size_t>(run->times);
    tiles.insert(tiles.end(), std::min(times, groups - tiles.size()), run->tile);
  }
  if (tiles.empty()) throw InputError("no tile, allowed: a list such as [\"2x2\"]");
  tiles.resize(groups, tiles.back());
  return tiles;
}

std::string placement_text(const Placement& placement, const std::vector<Tile>& tiles) {
  std::string text = fmt::format(
      "{}, {}, {}", fmt::join(placement.tiles, ", "), placement.order == machine::TileOrder::rows ? "rows" : "cycle",
      placement.path == machine::TilePath::serpentine_rows ? "serpentine along rows" : "serpentine down columns");
  std::vector<std::string> snakes;
  for (const Tile& tile : tiles) {
    if (placement.order == machine::TileOrder::rows || tile.devices() == 1 || has_cycle(tile)) continue;
    if (std::ranges::find(snakes, name_of(tile)) == snakes.end()) snakes.push_back(name_of(tile));
  }
  if (!snakes.empty()) text += fmt::format("; {} has no cycle: a snake", fmt::join(snakes, ", "));
  return text;
}

/// By rank, from tiles: groups in the order of stages, of a stage in that of replicas.
std::vector<program::DeviceId> tiled(const Job& job, Cut& cut) {
  const Options& options = cut.options;
  const machine::Grid& grid = job.machine.grid;
  if (grid.columns == 0)
    throw InputError(
        fmt::format("machine {} is no mesh or torus: stages.devices says where stages stand", job.machine.name));
  const std::vector<Tile> tiles =
      tiles_of(options.placement.tiles, static_cast<std::size_t>(options.pipeline * options.copies()));
  for (const Tile& tile : tiles) {
    if (tile.devices() != options.tensor)
      throw InputError(fmt::format("tile {} has {} devices, and a group has tensor = {}", name_of(tile), tile.devices(),
                                   options.tensor));
  }
  std::vector<program::DeviceId> devices;
  for (const machine::Rectangle& at : lay_out(grid, tiles, options.placement.path)) {
    const auto some = devices_of(grid, at, options.placement.order);
    devices.insert(devices.end(), some.begin(), some.end());
  }
  cut.placement = placement_text(options.placement, tiles);
  return devices;
}

std::vector<program::DeviceId> listed(const Job& job, Cut& cut) {
  const Options& options = cut.options;
  const auto wanted = static_cast<std::size_t>(options.tensor * options.copies());
  std::vector<program::DeviceId> devices;
  if (options.stages.size() != static_cast<std::size_t>(options.pipeline))
    throw InputError(fmt::format("{} stages, allowed: pipeline = {}", options.stages.size(), options.pipeline));
  for (std::size_t stage = 0; stage < options.stages.size(); ++stage) {
    const std::vector<std::int64_t>& some = options.stages[stage].devices;
    if (some.size() != wanted) {
      throw InputError(fmt::format("stage {} has {} devices, allowed: tensor {} x {} = {}", stage, some.size(),
                                   options.tensor, copies_text(options), wanted));
    }
    for (const std::int64_t device : some) {
      if (device >= job.machine.accelerators())
        throw InputError(fmt::format("stage {}: there is no device {}{}, allowed: 0 to {}", stage, device,
                                     device < job.machine.devices() ? " that computes" : "",
                                     job.machine.accelerators() - 1));
      devices.push_back(static_cast<program::DeviceId>(device));
    }
  }
  cut.placement = "device by device";
  return devices;
}

void refuse_dead_and_twice(const std::vector<program::DeviceId>& devices, const machine::Machine& machine,
                           std::size_t of_a_stage) {
  std::vector<std::size_t> stage_of(machine.devices(), devices.size());
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    const program::DeviceId device = devices[rank];
    const std::size_t stage = rank / of_a_stage;
    const std::string name = fmt::format("{} (device {})", machine.node_name(device), device);
    if (!machine.alive(device)) throw InputError(fmt::format("{} of stage {} is dead", name, stage));
    if (stage_of[device] < devices.size())
      throw InputError(fmt::format("{} is in stage {} and in stage {}", name, stage_of[device], stage));
    stage_of[device] = stage;
  }
}

}  // namespace

bool has_places(const Options& options) {
  return !options.placement.tiles.empty() ||
         std::ranges::any_of(options.stages, [](const StageOptions& stage) { return !stage.devices.empty(); });
}

void place_stages(const Table& table, const Job& job, Cut& cut, Diagnostics& diagnostics) {
  const bool is_tiled = !cut.options.placement.tiles.empty();
  const char* key = is_tiled ? "placement" : "stages";
  try {
    std::vector<program::DeviceId> devices = is_tiled ? tiled(job, cut) : listed(job, cut);
    if (is_tiled && std::ranges::any_of(cut.options.stages, [](const auto& stage) { return !stage.devices.empty(); }))
      throw InputError("placement has tiles, and stages have devices: allowed is one of them");
    refuse_dead_and_twice(devices, job.machine, static_cast<std::size_t>(cut.options.tensor * cut.options.copies()));
    std::vector<bool> is_taken(job.machine.devices());
    for (const program::DeviceId device : devices) is_taken[device] = true;
    for (program::DeviceId device = 0; device < job.machine.accelerators(); ++device)
      if (!is_taken[device] && job.machine.alive(device)) cut.spare.push_back(device);
    cut.devices = std::move(devices);
  } catch (const InputError& error) {
    diagnostics.error(where_of(table, key), std::string(key) + ": " + error.what());
  }
}

void warn_of_wrapped_groups(const Table& table, const Job& job, const Cut& cut, Diagnostics& diagnostics) {
  const auto size = static_cast<std::ptrdiff_t>(cut.options.tensor);
  if (job.machine.grid.columns == 0 || size == 1) return;
  for (auto first = cut.devices.begin(); first != cut.devices.end(); first += size) {
    const std::vector<program::DeviceId> members(first, first + size);
    if (on_one_grid(job.machine, members) && around(job.machine, members).tile.devices() == size) continue;
    diagnostics.warn(
        table.where(),
        fmt::format("the tensor-parallel group of {} to {} is no rectangle of the mesh, and its collectives "
                    "go round corners; [strategy.placement] puts groups into rectangles",
                    job.machine.node_name(members.front()), job.machine.node_name(members.back())));
    return;
  }
}

}  // namespace tessera::strategy::megatron
