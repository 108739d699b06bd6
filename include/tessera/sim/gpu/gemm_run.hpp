// A GEMM whose output address space may communicate (T3, sections 4.1 to 4.4):
// work-groups compute tiles; stores go to the L2, to memory as updates, or to a
// neighbour; the Tracker counts what has come and triggers DMAs.
#pragma once

#include <vector>

#include "tessera/program/kernel.hpp"
#include "tessera/sim/gpu/work_groups.hpp"
#include "tessera/sim/memory/dma_table.hpp"
#include "tessera/sim/memory/tracker.hpp"

namespace tessera::sim {

class GemmRun final : public KernelRun, private TileSink {
 public:
  GemmRun(const KernelContext& context, const program::GemmKernel& kernel);

  void begin(Time now) override;
  void arrived(std::uint32_t owner, Time at, Time now) override;
  void stored(const MemoryRequest& request, Time now) override;
  void room_made(std::uint32_t slot, Time now) override { work_groups_.store_taken(slot, now); }
  void wake(const GpuWake& wake, Time now) override;
  void received(std::uint32_t wavefront, Time now) override;
  [[nodiscard]] TrafficClass output_class() const override { return TrafficClass::gemm_write; }
  [[nodiscard]] Time computed() const override { return computed_; }
  [[nodiscard]] std::int64_t bytes_received() const override { return bytes_received_; }
  [[nodiscard]] std::string waits_for() const override;
  [[nodiscard]] std::int64_t held_back() const override { return held_back_; }

 private:
  static constexpr std::uint32_t dma_owner = 0x8000'0000U;
  /// Uncached stores name their wavefront, and above it the slot that waits for them.
  static constexpr std::uint32_t slot_shift = 8;
  static constexpr std::uint32_t no_slot = ~std::uint32_t{0} >> slot_shift;
  /// An update that found its Tracker set full.
  struct Held {
    std::uint32_t tile = 0;
    std::uint32_t wavefront = 0;
    std::uint32_t bytes = 0;
  };

  /// A wavefront's tile on its way out.
  struct Wavefront {
    std::uint32_t command = 0;
    std::uint32_t reading = 0;  // blocks
    Time there = 0;             // when the last one that came so far is
  };

  [[nodiscard]] Time store_tile(std::int64_t tile, std::uint32_t slot, Time now) override;
  void first_stage_ended(Time now) override;
  void work_groups_ended(Time now) override;
  void count(std::uint32_t tile, std::uint32_t wavefront, std::uint32_t bytes, Time now);
  void completed(std::uint32_t tile, std::uint32_t wavefront, Time now);
  void expect(const program::Region& region);
  void expect_from(const program::AddressMap& other);
  void carry_out(std::uint32_t command, Time now);
  void read_out(std::uint32_t tile, std::uint32_t wavefront, Time now);
  void send(std::uint32_t tile, std::uint32_t wavefront);
  void end_if_done();
  [[nodiscard]] const program::Region& region_of(std::int64_t tile) const {
    return map_.regions[region_of_[static_cast<std::size_t>(tile)]];
  }
  [[nodiscard]] std::uint32_t block_bytes(std::uint32_t tile, std::uint32_t block) const;
  [[nodiscard]] std::uint32_t wavefronts() const { return static_cast<std::uint32_t>(shape_.wavefronts); }

  KernelContext context_;
  const program::GemmKernel& kernel_;
  const program::GemmShape& shape_;
  program::AddressMap map_;
  GemmLayout layout_;
  WorkGroups work_groups_;
  Tracker tracker_;
  DmaTable commands_;
  std::vector<std::uint16_t> region_of_;  // by tile
  std::vector<Wavefront> wavefronts_;     // by tile and wavefront
  std::vector<Held> held_;
  std::int64_t incomplete_ = 0;  // wavefront tiles that updates are awaited for
  std::int64_t reading_ = 0;     // wavefront tiles that DMAs read
  std::int64_t awaited_ = 0;     // messages for other buffers
  std::int64_t bytes_received_ = 0;
  bool ended_ = false;
  Time computed_ = 0;
  std::int64_t held_back_ = 0;  // updates, by a full Tracker
};

}  // namespace tessera::sim
