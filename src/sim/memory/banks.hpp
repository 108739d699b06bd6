// The banks of a channel: open rows, and when their bursts can be on the bus.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sim/memory/dram_timing.hpp"

namespace tessera::sim {

/// Rows stay open until another one of their bank is needed. The bursts of a
/// request follow each other as their bank group allows; those of two groups
/// share the bus, which is counted as a whole: a request has it for
/// bursts x CCDS, from its first burst on.
class Banks {
 public:
  explicit Banks(const ChannelSpec& spec);

  [[nodiscard]] bool is_open(DramPlace place) const {
    return banks_[place.bank].used && banks_[place.bank].row == place.row;
  }
  /// Closes the bank's row, if it has one, and opens this one, as soon as both
  /// are allowed, not before `now`.
  void open(DramPlace place, Time now);
  /// When the first burst of a request to the bank's row can start.
  [[nodiscard]] Time earliest(std::uint32_t number, MemoryOp op) const {
    const Bank& bank = banks_[number];
    return std::max(
        {bank.ready[only_writes(op) ? 1 : 0], group_free_[bank.group], bus_free_, may_start_[direction(op)]});
  }
  struct Served {
    Time bus_free = 0;    ///< another request may start
    Time data = 0;        ///< its last data have been moved
    bool turned = false;  ///< the bus changed its direction for it
  };
  /// All bursts of a request to the bank's row, the first at `start`, which is
  /// not before earliest().
  Served serve(std::uint32_t bank, MemoryOp op, std::uint32_t bursts, Time start);

  [[nodiscard]] std::int64_t activations() const { return activations_; }

 private:
  struct Bank {
    bool used = false;
    std::uint32_t group = 0;
    std::uint32_t row = 0;
    Time activated = 0;
    Time activated_before = 0;       // may be as late, where nobody used that row
    std::array<Time, 2> ready = {};  // its row is open: for what reads it, for what only writes
    Time closeable = 0;              // it may be precharged
  };
  static constexpr std::size_t direction(MemoryOp op) { return op == MemoryOp::read ? 0 : 1; }
  /// An update reads its row in the bank before it writes.
  static constexpr bool only_writes(MemoryOp op) { return op == MemoryOp::write || op == MemoryOp::atomic; }
  [[nodiscard]] Time clocks(std::uint32_t count) const { return count * period_; }
  [[nodiscard]] Time activation(const Bank& bank, Time earliest) const;

  ChannelSpec spec_;
  Time period_;
  Time write_to_read_;
  std::vector<Bank> banks_;
  std::vector<Time> group_free_;
  Time bus_free_ = 0;
  std::array<Time, 2> may_start_ = {};  // reads, writes: as far as bursts of the other direction are concerned
  bool directed_ = false;
  bool reading_ = false;
  Time latest_activation_ = 0;  // of all banks
  std::int64_t activations_ = 0;
};

}  // namespace tessera::sim
