// The DRAM queue of a channel: first ready, first come, first served.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/memory/banks.hpp"

namespace tessera::sim {

/// Each bank works off the requests to its open row, oldest first, whether they
/// read or write, then opens the row of its oldest one. Of the banks that whose
/// burst can start first has the bus; of several the one of the oldest request.
/// A request that `max_bypass` bursts of younger ones have overtaken goes next:
/// its bank turns to it, and all others wait.
class DramQueue {
 public:
  explicit DramQueue(const ChannelSpec& spec);

  [[nodiscard]] bool empty() const { return occupancy_ == 0; }
  [[nodiscard]] std::uint32_t occupancy() const { return occupancy_; }  ///< bursts
  void push(const MemoryRequest& request, Time now, Banks& banks);

  struct Next {
    std::uint32_t bank = 0;
    Time start = never;  ///< of its first burst, may be in the past
  };
  /// What is served next, if nothing comes before that. Must not be empty.
  [[nodiscard]] Next next(Time now, Banks& banks) {
    if (plan_.start == never) plan_ = plan(now, banks);
    return plan_;
  }
  struct Taken {
    MemoryRequest request;
    Banks::Served served;
  };
  /// Serves what next() has named; its bank turns to what it serves then.
  [[nodiscard]] Taken take(const Next& next, Time now, Banks& banks);
  [[nodiscard]] std::int64_t row_hits() const { return row_hits_; }

 private:
  struct Entry {
    MemoryRequest request;
    std::uint64_t age = 0;  // requests that entered before it
    std::uint64_t due = 0;  // bursts that will have been taken when all older ones have, if it is not overtaken
    std::uint32_t row = 0;
  };
  struct Bank {
    std::vector<Entry> waiting;  // oldest first
    std::size_t chosen = 0;      // whose row is open, or being opened
    bool opened = false;         // for it
  };
  [[nodiscard]] Next plan(Time now, Banks& banks);
  void choose(std::uint32_t number, Time now, Banks& banks);
  void open_oldest(std::uint32_t number, Time now, Banks& banks);
  [[nodiscard]] std::uint32_t oldest() const;

  ChannelSpec spec_;
  std::vector<Bank> banks_;
  Next plan_;               // holds until one goes, or one comes to a bank without any
  std::uint64_t used_ = 0;  // bits: banks with requests
  std::uint32_t occupancy_ = 0;
  std::uint64_t entered_ = 0;  // requests
  std::uint64_t taken_ = 0;    // bursts
  std::int64_t row_hits_ = 0;
};

}  // namespace tessera::sim
