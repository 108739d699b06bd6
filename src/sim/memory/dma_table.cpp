#include "sim/memory/dma_table.hpp"

#include <fmt/format.h>

#include "tessera/base/error.hpp"

namespace tessera::sim {

std::uint32_t DmaTable::add(const DmaCommand& command) {
  if (command.tiles == 0) throw InternalError("a DMA command without WF tiles");
  entries_.push_back({command, command.tiles, false});
  return static_cast<std::uint32_t>(entries_.size() - 1);
}

bool DmaTable::tile_complete(std::uint32_t command) {
  Entry& entry = at(command);
  if (entry.missing == 0)
    throw InternalError(
        fmt::format("DMA command {}: more than its {} WF tiles are complete", command, entry.command.tiles));
  return --entry.missing == 0;
}

const DmaCommand& DmaTable::fire(std::uint32_t command) {
  Entry& entry = at(command);
  if (entry.missing > 0)
    throw InternalError(fmt::format("DMA command {} is early: {} WF tiles are missing", command, entry.missing));
  if (entry.has_fired) throw InternalError(fmt::format("DMA command {} comes a second time", command));
  entry.has_fired = true;
  return entry.command;
}

DmaTable::Entry& DmaTable::at(std::uint32_t command) {
  if (command >= entries_.size()) throw InternalError(fmt::format("DMA command {} of {}", command, entries_.size()));
  return entries_[command];
}

}  // namespace tessera::sim
