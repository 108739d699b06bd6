// Tiles that devices share (T3, sections 4.2 and 4.4): what is stored here is counted by the Tracker; what is complete
// is sent on by DMA, where the map says so. Whose tiles they are and what they are for, it does not know.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/gpu/gemm_layout.hpp"
#include "sim/gpu/kernel_run.hpp"
#include "sim/gpu/kernel_state.hpp"
#include "sim/gpu/tile_places.hpp"

namespace tessera::sim {

class TileWatcher {
 public:
  virtual ~TileWatcher() = default;
  /// All that was awaited of a row of tiles of A has come.
  virtual void row_complete(std::uint32_t row, Time now) = 0;
  /// One thing less is under way: all may be done().
  virtual void went_on() = 0;
};

/// Tiles are counted and sent by the parts that a wavefront writes: WF tiles, whose numbers are WG tile x wavefronts +
/// wavefront. Behind those of the result stand the rows of tiles of A, where they come from other devices
/// (section 7.2), cut along k into as many parts.
class TrackedTiles {
 public:
  struct Maps {
    const program::AddressMap& output;
    const program::AddressMap* input = nullptr;  ///< null: all of A is here
  };
  /// `layout` and `watcher` outlive it.
  TrackedTiles(const KernelContext& context, const Maps& maps, const GemmLayout& layout, std::int64_t dma_tiles,
               TileWatcher& watcher);
  /// This device's own rows of A are complete: they leave for where the map sends them.
  void begin(Time now);
  /// What the map of another member stores here for another buffer: nothing counts it, but it is waited for.
  void expect_from(const program::AddressMap& other);

  [[nodiscard]] const TilePlace& place(std::uint32_t tile) const { return places_.of(tile); }
  /// visit(block, bytes) for the blocks of a WF tile; none for one beyond the edge of the matrix.
  template <class Visit>
  void for_each_block(std::uint32_t number, Visit&& visit) const {
    if (is_input(number)) return for_each_input_block(number, visit);
    const std::int64_t bytes = bytes_of(number);
    const BlockId first = layout_->c_block(tile_of(number)) + wavefront_of(number) * layout_->wavefront_blocks();
    for (std::uint32_t block = 0; block < layout_->wavefront_blocks(); ++block) {
      const std::uint32_t size = layout_->block_bytes(bytes, block);
      if (size == 0) return;
      visit(first + block, size);
    }
  }
  /// One message to each of these members; none for a WF tile without bytes.
  void send(std::uint32_t number, const std::vector<std::uint32_t>& members);

  /// From a neighbour.
  void received(std::uint32_t number, Time now);
  /// An uncached store of the WF tile MemoryRequest::owner, whoever's it is, has entered its DRAM queue.
  void stored(const MemoryRequest& request, Time now);
  /// `detail` of stores that come from a neighbour.
  static constexpr std::uint32_t from_neighbour = 0x00FF'FFFFU;

  /// Whether a read of this owner is a DMA's.
  [[nodiscard]] static bool is_dma(std::uint32_t owner) { return (owner & dma_owner) != 0; }
  void arrived(std::uint32_t owner, Time at, Time now);
  /// All of a WF tile that a DMA reads is here (GpuWake::What::block_read).
  void read(std::uint32_t number);

  [[nodiscard]] bool done() const { return state_.incomplete == 0 && state_.reading == 0 && state_.awaited == 0; }
  [[nodiscard]] std::int64_t bytes_received() const { return state_.bytes_received; }
  /// Updates that found their Tracker set full, and were counted beside it, at the memory controller.
  [[nodiscard]] std::int64_t held_back() const { return state_.held_back; }
  [[nodiscard]] std::string waits_for() const;

  [[nodiscard]] const TilesState& state() const { return state_; }
  void restore(TilesState state) { state_ = std::move(state); }

 private:
  using Outgoing = TilesState::Outgoing;
  static constexpr std::uint32_t dma_owner = 0x8000'0000U;
  [[nodiscard]] std::uint32_t tile_of(std::uint32_t number) const { return number / wavefronts_; }
  [[nodiscard]] std::uint32_t wavefront_of(std::uint32_t number) const { return number % wavefronts_; }
  [[nodiscard]] const TilePlace& place_of(std::uint32_t number) const { return places_.of(tile_of(number)); }
  [[nodiscard]] bool is_input(std::uint32_t number) const { return tile_of(number) >= output_tiles_; }
  [[nodiscard]] std::uint32_t row_of(std::uint32_t number) const { return tile_of(number) - output_tiles_; }
  [[nodiscard]] std::int64_t bytes_of(std::uint32_t number) const {
    return is_input(number) ? layout_->row_part_bytes(row_of(number), wavefront_of(number))
                            : layout_->wavefront_bytes(tile_of(number), wavefront_of(number));
  }
  template <class Visit>
  void for_each_input_block(std::uint32_t number, Visit&& visit) const {
    const std::int64_t row = row_of(number);
    const std::int64_t end = layout_->row_part(wavefront_of(number) + 1);
    for (std::int64_t chunk = layout_->row_part(wavefront_of(number)); chunk < end; ++chunk) {
      const std::int64_t bytes = layout_->row_bytes(row, chunk);
      const BlockId first = layout_->row_block(row, chunk);
      for (std::uint32_t block = 0; layout_->block_bytes(bytes, block) > 0; ++block)
        visit(first + block, layout_->block_bytes(bytes, block));
    }
  }
  void expect(const TilePlaces::Run& run, std::int64_t dma_tiles);
  void count(std::uint32_t number, std::uint32_t bytes, Time now);
  void count_beside(std::uint32_t number, std::uint32_t bytes, std::uint32_t threshold, Time now);
  void completed(std::uint32_t number, Time now);
  void carry_out(std::uint32_t command, Time now);
  void read_out(std::uint32_t number, Time now);

  KernelContext context_;
  const GemmLayout* layout_;
  TileWatcher* watcher_;
  std::uint32_t wavefronts_;
  std::uint32_t output_tiles_;
  TilePlaces places_;
  TilesState state_;
};

}  // namespace tessera::sim
