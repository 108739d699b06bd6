// The banks of a channel: open rows, and when their bursts can be on the bus.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tessera/sim/memory/dram_timing.hpp"

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
  [[nodiscard]] Time earliest(std::uint32_t bank, bool reads) const;
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
    std::uint32_t row = 0;
    Time activated = 0;
    Time ready = 0;      // its row is open
    Time closeable = 0;  // it may be precharged
  };
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
  std::int64_t activations_ = 0;
};

}  // namespace tessera::sim
