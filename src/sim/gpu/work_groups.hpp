// The work-groups of a GEMM on the compute units: loads of chunks of k run
// ahead of computing, results are handed to whoever stores them. Knows nothing
// of where results go.
#pragma once

#include <utility>
#include <vector>

#include "sim/gpu/gemm_layout.hpp"
#include "sim/gpu/kernel_run.hpp"
#include "sim/gpu/kernel_state.hpp"

namespace tessera::sim {

/// Takes the tiles.
class TileSink {
 public:
  virtual ~TileSink() = default;
  /// The work-group of this slot has computed its tile: stores it. It tells WorkGroups::store_begins() of each store
  /// that has to wait, and store_taken() when it need not any more. Returns when the L2 has taken the others, >= now.
  virtual Time store_tile(std::int64_t tile, std::uint32_t slot, Time now) = 0;
  /// All work-groups of the first stage have stored their tiles.
  virtual void first_stage_ended(Time now) = 0;
  virtual void work_groups_ended(Time now) = 0;
};

class WorkGroups {
 public:
  /// `order`: work-groups in order of dispatch, by tile (split_k of them a
  /// tile, side by side). Until they are eligible none is dispatched.
  WorkGroups(const KernelContext& context, const program::GemmShape& shape, const GemmLayout& layout,
             std::vector<std::uint32_t> order, TileSink& sink);

  void begin(Time now);
  /// These, by their places in the order, have all that they need (T3, section 7.2: a scheduling event): they are
  /// dispatched as soon as there is room, earlier ones of the order first.
  void make_eligible(const std::vector<std::uint32_t>& work_groups, Time now);
  void arrived(std::uint32_t owner, Time at, Time now);
  /// slot_ready or slot_done.
  void wake(const GpuWake& wake, Time now);
  void store_begins(std::uint32_t slot) { ++state_.slots[slot].stores; }
  void store_taken(std::uint32_t slot, Time now) {
    if (--state_.slots[slot].stores == 0) stored(slot, now);
  }
  [[nodiscard]] bool ended() const { return state_.stored == order_.size(); }

  [[nodiscard]] const WorkGroupsState& state() const { return state_; }
  void restore(WorkGroupsState state) { state_ = std::move(state); }

 private:
  using Buffer = WorkGroupsState::Buffer;
  using Slot = WorkGroupsState::Slot;

  void dispatch(std::uint32_t slot, Time now);
  void dispatch_idle(Time now);
  void load(std::uint32_t slot, Time now);
  void load_part(std::uint32_t owner, BlockId first, std::uint32_t blocks, std::int64_t bytes, Buffer& buffer,
                 Time now);
  void try_compute(std::uint32_t slot, Time now);
  void computed(std::uint32_t slot, Time now);
  void store(std::uint32_t slot, Time now);
  void stored(std::uint32_t slot, Time now);
  void release(std::uint32_t slot, Time now);
  [[nodiscard]] Buffer& buffer(std::uint32_t slot, std::int64_t chunk) {
    return state_.buffers[slot * depth_ + static_cast<std::uint32_t>(chunk) % depth_];
  }

  KernelContext context_;
  const program::GemmShape* shape_;
  const GemmLayout* layout_;
  std::vector<std::uint32_t> order_;
  TileSink* sink_;
  std::uint32_t depth_;          // buffers of a slot
  Rate fma_;                     // of a CU
  Time fixed_time_;              // of a work-group
  std::size_t first_stage_ = 0;  // work-groups
  WorkGroupsState state_;
};

}  // namespace tessera::sim
