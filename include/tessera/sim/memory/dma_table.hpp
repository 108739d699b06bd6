// The DMA commands that are programmed from an address map before the producer
// starts (T3, section 4.2.2).
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/program/address_map.hpp"
#include "tessera/sim/memory/request.hpp"

namespace tessera::sim {

/// Sends consecutive WF tiles of one chunk as soon as all of them are complete.
struct DmaCommand {
  std::uint32_t destination = 0;  ///< rank in the group
  program::StoreOperation operation = program::StoreOperation::update;
  BlockId first_source = 0;
  BlockId first_destination = 0;
  std::uint32_t blocks = 0;
  /// Named to the destination's Tracker: number of the first WF tile (WG x WFs
  /// a WG + WF); the others follow it.
  std::uint32_t first_tile = 0;
  std::uint32_t tiles = 0;  ///< that have bytes
};

/// The commands of one producer, by number.
class DmaTable {
 public:
  void clear() { entries_.clear(), fired_ = 0; }
  void reserve(std::size_t commands) { entries_.reserve(commands); }
  /// Returns its number. Throws InternalError for one without blocks or tiles.
  std::uint32_t add(const DmaCommand& command);
  /// One more of its tiles is complete; true with the last one: it is ready.
  /// Throws InternalError beyond that.
  [[nodiscard]] bool tile_complete(std::uint32_t command);
  /// The command is carried out: once, and not before it is ready;
  /// InternalError otherwise.
  const DmaCommand& fire(std::uint32_t command);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::size_t fired() const { return fired_; }
  [[nodiscard]] const DmaCommand& command(std::uint32_t command) const { return entries_[command].command; }
  /// Tiles that it waits for.
  [[nodiscard]] std::uint32_t missing(std::uint32_t command) const { return entries_[command].missing; }

 private:
  struct Entry {
    DmaCommand command;
    std::uint32_t missing = 0;
    bool has_fired = false;
  };
  [[nodiscard]] Entry& at(std::uint32_t command);

  std::vector<Entry> entries_;
  std::size_t fired_ = 0;
};

}  // namespace tessera::sim
