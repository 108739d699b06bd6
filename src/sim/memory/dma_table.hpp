// The DMA commands that are programmed from an address map before the producer starts (T3, section 4.2.2).
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::sim {

/// Sends consecutive WF tiles of one chunk as soon as all of them are complete. Where to, and whether as a store or an
/// update, stands in the region of the address map that they are in.
struct DmaCommand {
  std::uint32_t first_tile = 0;  ///< number of the first WF tile (WG x WFs a WG + WF); the others follow it
  std::uint32_t wavefronts = 0;  ///< WF tiles
  std::uint32_t tiles = 0;       ///< of these, that have bytes
};

/// The commands of one producer, by number.
class DmaTable {
 public:
  /// Returns its number. Throws InternalError for one without tiles.
  std::uint32_t add(const DmaCommand& command);
  /// One more of its tiles is complete; true with the last one: it is ready. Throws InternalError beyond that.
  [[nodiscard]] bool tile_complete(std::uint32_t command);
  /// The command is carried out: once, and not before it is ready; InternalError otherwise.
  const DmaCommand& fire(std::uint32_t command);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    DmaCommand command;
    std::uint32_t missing = 0;
    bool has_fired = false;
  };
  [[nodiscard]] Entry& at(std::uint32_t command);

  std::vector<Entry> entries_;
};

}  // namespace tessera::sim
