// The speed of a link as an exact fraction, so that no division of a time is ever rounded twice.
#pragma once

#include <cstdint>
#include <numeric>

#include "tessera/base/time.hpp"

namespace tessera::sim {

/// Picoseconds per byte of a link, reduced; bytes are not negative.
class Rate {
 public:
  Rate() = default;
  /// `bandwidth` in B/s, more than 0.
  explicit Rate(std::int64_t bandwidth) {
    const std::int64_t common = std::gcd(second, bandwidth);
    time_ = second / common;
    bytes_ = bandwidth / common;
  }

  /// Time that `bytes` take, rounded up to a whole picosecond.
  [[nodiscard]] Time up(std::int64_t bytes) const {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(bytes, time_, &product) && product <= never - bytes_) [[likely]] {
      return (product + bytes_ - 1) / bytes_;
    }
    return static_cast<Time>((static_cast<Wide>(bytes) * time_ + (bytes_ - 1)) / bytes_);
  }

  /// The same, rounded down.
  [[nodiscard]] Time down(std::int64_t bytes) const {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(bytes, time_, &product)) [[likely]]
      return product / bytes_;
    return static_cast<Time>(static_cast<Wide>(bytes) * time_ / bytes_);
  }

  /// The most bytes that take no longer than `span` >= 0.
  [[nodiscard]] std::int64_t within(Time span) const {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(span, bytes_, &product)) [[likely]]
      return product / time_;
    return static_cast<std::int64_t>(static_cast<Wide>(span) * bytes_ / time_);
  }

  [[nodiscard]] bool exact(std::int64_t bytes) const { return static_cast<Wide>(bytes) * time_ % bytes_ == 0; }
  [[nodiscard]] bool operator==(const Rate&) const = default;
  /// Whether `bytes` take longer than `other_bytes` at another rate, as exact numbers; neither is more than a few
  /// packets.
  [[nodiscard]] bool longer(std::int64_t bytes, const Rate& other, std::int64_t other_bytes) const {
    return static_cast<Wide>(bytes) * time_ * other.bytes_ > static_cast<Wide>(other_bytes) * other.time_ * bytes_;
  }

  /// Whether `a` + time of `bytes_a` <= `b` + time of `bytes_b`, as exact numbers, not rounded.
  [[nodiscard]] bool no_later(Time a, std::int64_t bytes_a, Time b, std::int64_t bytes_b) const {
    return static_cast<Wide>(a - b) * bytes_ <= static_cast<Wide>(bytes_b - bytes_a) * time_;
  }

 private:
  __extension__ using Wide = __int128;
  std::int64_t time_ = 1;   // picoseconds that ...
  std::int64_t bytes_ = 1;  // ... this many bytes take
};

}  // namespace tessera::sim
