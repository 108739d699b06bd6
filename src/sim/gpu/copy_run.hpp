// Collectives, messages and additions as kernels of their own, which copy (T3, figures 3, 10 and 13): the baseline.
#pragma once

#include <vector>

#include "sim/gpu/kernel_run.hpp"
#include "tessera/program/copy_steps.hpp"

namespace tessera::sim {

/// Does its steps in order, a unit of some blocks at a time. The stores of a step begin when all that it waits for has
/// come; loads run ahead as units come. So many bytes may be under way, from load to departure, as the CUs have
/// requests for.
class CopyRun final : public KernelRun {
 public:
  /// Blocks: chunk by chunk what this GPU holds; behind them the same number for what it receives, or adds.
  CopyRun(const KernelContext& context, const program::CopyKernel& kernel);

  void begin(Time now) override;
  void arrived(std::uint32_t owner, Time at, Time now) override;
  void stored(const MemoryRequest& request, Time now) override;
  void wake(const GpuWake& wake, Time now) override;
  void received(std::uint32_t unit, Time now) override;
  void left(std::uint32_t unit, Time now) override;
  [[nodiscard]] TrafficClass output_class() const override;
  [[nodiscard]] std::int64_t bytes_received() const override { return state_.bytes_received; }
  [[nodiscard]] std::string waits_for() const override;
  [[nodiscard]] Time computed() const override { return state_.began; }
  [[nodiscard]] KernelState state() const override { return state_; }
  void restore(KernelState state) override { state_ = std::get<CopyState>(std::move(state)); }

 private:
  using Work = CopyState::Work;
  using Cursor = CopyState::Cursor;

  [[nodiscard]] bool at_end(const Cursor& at) const { return at.step == plan_.steps.size(); }
  [[nodiscard]] bool exists(const Cursor& at) const;
  [[nodiscard]] Cursor next(Cursor at) const;
  /// B of the chunk that a step reads.
  [[nodiscard]] std::int64_t read_bytes(const program::CopyStep& step) const;
  [[nodiscard]] std::uint32_t units_of(std::int64_t bytes) const;
  /// B of one of the units of so many bytes.
  [[nodiscard]] std::uint32_t unit_bytes(std::int64_t bytes, std::uint32_t unit) const;
  [[nodiscard]] BlockId first_block(std::uint32_t chunk, std::uint32_t unit) const {
    return (BlockId{chunk} * chunk_units_ + unit) * unit_blocks_;
  }
  [[nodiscard]] BlockId blocks() const { return BlockId{context_.size} * chunk_units_ * unit_blocks_; }
  /// The memory adds: what comes, or what is read here.
  [[nodiscard]] bool updates() const;
  /// visit(block, bytes) for the blocks of a unit from `first` on.
  template <class Visit>
  void for_each_block(BlockId first, std::uint32_t bytes, Visit&& visit) const;
  void go_on(Time now);
  [[nodiscard]] bool issue(Time now);
  void load(BlockId first, std::uint32_t bytes, std::uint32_t owner, Time now);
  void finish_ready(Time now);
  void put(const program::CopyStep& step, std::uint32_t unit, Time now);
  void store_uncached(BlockId first, std::uint32_t bytes, std::uint32_t slot, Time now);
  void end_if_done();

  KernelContext context_;
  program::CopyKernel kernel_;
  program::CopySteps plan_;
  std::int64_t limit_;  // B under way
  std::uint32_t unit_blocks_;
  std::uint32_t chunk_units_;                // of the largest chunk
  std::vector<std::uint32_t> step_of_slot_;  // that sends to it
  CopyState state_;
};

}  // namespace tessera::sim
