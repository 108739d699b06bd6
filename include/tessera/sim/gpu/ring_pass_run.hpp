// Reduce-scatter and all-gather as kernels of their own (T3, figures 3, 10 and 13): the baseline.
#pragma once

#include <vector>

#include "tessera/program/kernel.hpp"
#include "tessera/sim/gpu/kernel_run.hpp"

namespace tessera::sim {

/// Step s of size-1 stores chunk rank+s to member rank-1, a unit of some blocks at a time. Its stores begin when all of
/// the chunk that the step sends has come; loads run ahead as units come. So many bytes may be under way, from load to
/// departure, as the CUs have requests for.
class RingPassRun final : public KernelRun {
 public:
  /// Blocks: chunk by chunk what this GPU holds; behind them the same number for what it receives.
  RingPassRun(const KernelContext& context, const program::RingPass& pass);

  void begin(Time now) override;
  void arrived(std::uint32_t owner, Time at, Time now) override;
  void stored(const MemoryRequest& request, Time now) override;
  void wake(const GpuWake& wake, Time now) override;
  void received(std::uint32_t unit, Time now) override;
  void left(std::uint32_t unit, Time now) override;
  [[nodiscard]] TrafficClass output_class() const override;
  [[nodiscard]] std::int64_t bytes_received() const override { return bytes_received_; }
  [[nodiscard]] std::string waits_for() const override;
  [[nodiscard]] Time computed() const override { return began_; }

 private:
  /// A unit between its first load and its departure.
  struct Work {
    std::uint32_t unit = 0;     // of the chunk
    std::uint32_t missing = 0;  // blocks that are read
    Time there = 0;             // when the last of those that were read is
    bool ready = false;
  };

  [[nodiscard]] std::uint32_t chunk_of(std::uint32_t step) const { return (context_.rank + step) % context_.size; }
  [[nodiscard]] std::int64_t chunk_bytes(std::uint32_t chunk) const;
  [[nodiscard]] std::uint32_t unit_bytes(std::uint32_t chunk, std::uint32_t unit) const;
  [[nodiscard]] std::uint32_t units_of(std::uint32_t chunk) const;
  [[nodiscard]] std::uint32_t copies(std::uint32_t step) const;
  /// Behind the steps that send comes the last reduction, if CUs do it.
  [[nodiscard]] std::uint32_t last_step() const { return steps_ + (pass_.reduces && !pass_.near_memory ? 1 : 0); }
  [[nodiscard]] BlockId first_block(std::uint32_t chunk, std::uint32_t unit) const {
    return (BlockId{chunk} * chunk_units_ + unit) * unit_blocks_;
  }
  [[nodiscard]] BlockId blocks() const { return BlockId{context_.size} * chunk_units_ * unit_blocks_; }
  /// visit(block, bytes) for the blocks of a unit from `first` on.
  template <class Visit>
  void for_each_block(BlockId first, std::uint32_t bytes, Visit&& visit) const;
  void go_on(Time now);
  [[nodiscard]] bool issue(Time now);
  void load(BlockId first, std::uint32_t bytes, std::uint32_t owner, Time now);
  void finish_ready(Time now);
  void skip_empty();
  void end_if_done();

  KernelContext context_;
  program::RingPass pass_;
  std::int64_t limit_;  // B under way
  std::int64_t under_way_ = 0;
  std::uint32_t unit_blocks_;
  std::uint32_t chunk_units_;           // of the largest chunk
  std::uint32_t steps_;                 // that send; one more for the last reduction
  std::uint32_t step_ = 0;              // that issues loads
  std::uint32_t issued_ = 0;            // units of it
  std::uint32_t sending_ = 0;           // step that sends
  std::uint32_t sent_ = 0;              // units of it
  std::vector<std::int64_t> received_;  // B, by chunk
  std::vector<Work> work_;              // ring buffer by serial number
  std::uint32_t first_work_ = 0;
  std::uint32_t next_work_ = 0;
  std::uint32_t departing_ = 0;
  Time began_ = 0;
  std::int64_t bytes_received_ = 0;
  bool ended_ = false;
  bool going_on_ = false;
  bool again_ = false;
};

}  // namespace tessera::sim
