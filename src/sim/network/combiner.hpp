// In-switch reduction (T3, section 7.4; NVLink's SHARP): messages that several devices send to one are added where they
// meet, in the switch in front of it, and go on as one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "sim/network/messages.hpp"

namespace tessera::sim {

/// Which messages are added, for the whole run.
class Combinations {
 public:
  virtual ~Combinations() = default;
  /// How many messages of this channel, sequence and destination become one; 1: each goes on as it is.
  [[nodiscard]] virtual std::uint32_t messages(const MessageName& name) const = 0;
};

/// What one output of a switch holds: sums that are not complete. Adding takes no time, and there is room for all.
class Combiner {
 public:
  /// One of `messages` has come; true with the last one, which goes on for all of them with what depends on any.
  [[nodiscard]] bool complete(const MessageName& name, std::uint32_t messages, Time& waited_until) {
    Sum& sum = sums_[std::uint64_t{name.channel} << 32U | name.sequence];
    waited_until = sum.waited_until = std::max(sum.waited_until, waited_until);
    if (++sum.came < messages) return false;
    sums_.erase(std::uint64_t{name.channel} << 32U | name.sequence);
    return true;
  }

 private:
  struct Sum {
    std::uint32_t came = 0;
    Time waited_until = 0;
  };
  std::unordered_map<std::uint64_t, Sum> sums_;  // by channel and sequence
};

}  // namespace tessera::sim
