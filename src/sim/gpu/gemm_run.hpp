// A GEMM whose output address space may communicate (T3, sections 4.1 to 4.4):
// work-groups compute tiles; stores go to the L2, to memory as updates, or to a
// neighbour; the Tracker counts what has come and triggers DMAs. Its input may
// come from others too (section 7.2): the Tracker counts it and makes the
// work-groups of complete rows eligible.
#pragma once

#include "sim/gpu/tracked_tiles.hpp"
#include "sim/gpu/work_groups.hpp"
#include "tessera/program/kernel.hpp"

namespace tessera::sim {

class GemmRun final : public KernelRun, private TileSink, private TileWatcher {
 public:
  GemmRun(const KernelContext& context, const program::GemmKernel& kernel);

  void begin(Time now) override;
  void arrived(std::uint32_t owner, Time at, Time now) override;
  void stored(const MemoryRequest& request, Time now) override;
  void room_made(std::uint32_t slot, Time now) override { work_groups_.store_taken(slot, now); }
  void wake(const GpuWake& wake, Time now) override;
  void received(std::uint32_t wavefront, Time now) override { tiles_.received(wavefront, now); }
  [[nodiscard]] TrafficClass output_class() const override { return TrafficClass::gemm_write; }
  [[nodiscard]] Time computed() const override { return computed_; }
  [[nodiscard]] std::int64_t bytes_received() const override { return tiles_.bytes_received(); }
  [[nodiscard]] std::string waits_for() const override;
  [[nodiscard]] std::int64_t held_back() const override { return tiles_.held_back(); }
  [[nodiscard]] KernelState state() const override {
    return GemmState{work_groups_.state(), tiles_.state(), ended_, computed_};
  }
  void restore(KernelState state) override;

 private:
  [[nodiscard]] Time store_tile(std::int64_t tile, std::uint32_t slot, Time now) override;
  [[nodiscard]] Time store_cached(std::uint32_t tile, std::uint32_t slot, Time now);
  void store_uncached(std::uint32_t tile, std::uint32_t slot, Time now);
  void first_stage_ended(Time now) override;
  void work_groups_ended(Time now) override;
  void row_complete(std::uint32_t row, Time now) override;
  void went_on() override;
  /// visit(number) for the wavefronts' parts of a tile.
  template <class Visit>
  void for_each_wavefront(std::uint32_t tile, Visit&& visit) const {
    for (std::uint32_t i = 0; i < layout_.wavefronts(); ++i) visit(tile * layout_.wavefronts() + i);
  }

  KernelContext context_;
  const program::GemmShape& shape_;
  program::AddressMap map_;
  program::AddressMap input_;
  bool gathers_input_;
  GemmLayout layout_;
  std::vector<std::uint32_t> order_;                // work-groups, by tile
  std::vector<std::vector<std::uint32_t>> of_row_;  // with a gathered input: work-groups, by row of tiles
  WorkGroups work_groups_;
  TrackedTiles tiles_;
  bool ended_ = false;
  Time computed_ = 0;
};

}  // namespace tessera::sim
