// What becomes of each tile of a device's output address space: the regions of its address map (T3, section 4.4) that
// the tile is in, put together.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/program/address_map.hpp"

namespace tessera::sim {

struct TilePlace {
  bool here = true;                      ///< it has a place in this device's memory
  std::uint32_t updates = 0;             ///< of each element, that are counted here; 0: nobody waits for it
  std::uint32_t writes = 1;              ///< the producer's own
  bool adds = false;                     ///< what comes is added to what is there
  bool counted_there = true;             ///< by the Trackers of those that it goes to
  bool combined = false;                 ///< on its way there, with what the others store
  std::vector<std::uint32_t> stored_to;  ///< remote_map: members
  std::vector<std::uint32_t> sent_to;    ///< dma_map: members, once it is complete

  /// A store that the caches may keep: nobody waits for it, and nobody adds to it.
  [[nodiscard]] bool cached() const { return here && updates == 0; }
  [[nodiscard]] bool tracked() const { return here && updates > 0; }
};

class TilePlaces {
 public:
  /// Consecutive tiles that fare alike.
  struct Run {
    std::uint32_t first = 0;
    std::uint32_t tiles = 0;
    TilePlace place;
  };
  explicit TilePlaces(const program::AddressMap& map);
  /// Counts those of another map on behind these.
  void append(const TilePlaces& others);

  [[nodiscard]] const TilePlace& of(std::uint32_t tile) const { return runs_[run_of_[tile]].place; }
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  [[nodiscard]] std::uint32_t tiles() const { return static_cast<std::uint32_t>(run_of_.size()); }

 private:
  std::vector<Run> runs_;
  std::vector<std::uint16_t> run_of_;  // by tile
};

/// The tiles that the device's producer makes, in order of dispatch: that of the regions (staggered, T3 section 4.4),
/// and last those without one. Counted from the producer's first.
[[nodiscard]] std::vector<std::uint32_t> dispatch_order(const program::AddressMap& map, std::uint32_t own_tiles);

}  // namespace tessera::sim
