// The speed of a link as an exact fraction, so that no division of a time is ever rounded twice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "tessera/base/time.hpp"

namespace tessera::sim {

/// Division by a number that stays the same, as a multiplication: exact for all 0 <= n < 2^63 (Granlund and Montgomery,
/// "Division by invariant integers using multiplication", PLDI 1994, theorem 4.2).
class Divisor {
 public:
  Divisor() = default;
  /// `by` > 0.
  explicit Divisor(std::int64_t by) {
    const auto value = static_cast<std::uint64_t>(by);
    const int bits = by == 1 ? 0 : 64 - __builtin_clzll(value - 1);  // 2^bits >= by
    shift_ = 63 + bits;
    factor_ = static_cast<std::uint64_t>((static_cast<Wide>(1) << shift_) / value) + 1;
  }
  [[nodiscard]] std::int64_t quotient(std::int64_t n) const {
    return static_cast<std::int64_t>(static_cast<Wide>(factor_) * static_cast<std::uint64_t>(n) >> shift_);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  std::uint64_t factor_ = (std::uint64_t{1} << 63U) + 1;
  int shift_ = 63;
};

/// Picoseconds per byte of a link, reduced; bytes are not negative.
class Rate {
 public:
  Rate() = default;
  /// `bandwidth` in B/s, more than 0.
  explicit Rate(std::int64_t bandwidth) {
    const std::int64_t common = std::gcd(second, bandwidth);
    time_ = second / common;
    bytes_ = bandwidth / common;
    by_time_ = Divisor(time_);
    by_bytes_ = Divisor(bytes_);
  }

  /// Time that `bytes` take, rounded up to a whole picosecond. BeyondTimeError where that is longer than can be
  /// simulated.
  [[nodiscard]] Time up(std::int64_t bytes) const {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(bytes, time_, &product) && product <= never - bytes_) [[likely]] {
      return by_bytes_.quotient(product + bytes_ - 1);
    }
    const Wide up = (static_cast<Wide>(bytes) * time_ + (bytes_ - 1)) / bytes_;
    if (up > latest) throw_beyond_time();
    return static_cast<Time>(up);
  }

  /// The same, rounded down, and at most `never`.
  [[nodiscard]] Time down(std::int64_t bytes) const {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(bytes, time_, &product)) [[likely]]
      return by_bytes_.quotient(product);
    return static_cast<Time>(std::min<Wide>(static_cast<Wide>(bytes) * time_ / bytes_, never));
  }

  /// The most bytes that take no longer than `span` >= 0; 2^63 - 1 where it is more.
  [[nodiscard]] std::int64_t within(Time span) const {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(span, bytes_, &product)) [[likely]]
      return by_time_.quotient(product);
    const Wide bytes = static_cast<Wide>(span) * bytes_ / time_;
    return static_cast<std::int64_t>(std::min<Wide>(bytes, std::numeric_limits<std::int64_t>::max()));
  }

  /// The same for a span that may be negative: then how many bytes have to be taken off.
  [[nodiscard]] std::int64_t within_either(Time span) const {
    if (span >= 0) [[likely]]
      return within(span);
    return static_cast<std::int64_t>((static_cast<Wide>(span) * bytes_ - (time_ - 1)) / time_);
  }
  /// Time that `bytes` take, which may be negative, rounded up.
  [[nodiscard]] Time up_either(std::int64_t bytes) const { return bytes >= 0 ? up(bytes) : -down(-bytes); }

  /// `time` picoseconds for `bytes`, reduced.
  struct Fraction {
    std::int64_t time = 1;
    std::int64_t bytes = 1;
  };
  [[nodiscard]] Fraction fraction() const { return {time_, bytes_}; }

  [[nodiscard]] bool exact(std::int64_t bytes) const { return static_cast<Wide>(bytes) * time_ % bytes_ == 0; }
  [[nodiscard]] bool operator==(const Rate& other) const { return time_ == other.time_ && bytes_ == other.bytes_; }
  /// Whether `bytes` take longer than `other_bytes` at another rate, as exact numbers.
  [[nodiscard]] bool longer(std::int64_t bytes, const Rate& other, std::int64_t other_bytes) const {
    const Wide mine = static_cast<Wide>(bytes) * time_;  // below 2^103
    const Wide others = static_cast<Wide>(other_bytes) * other.time_;
    if (mine >> 64U == 0 && others >> 64U == 0) [[likely]]
      return mine * other.bytes_ > others * bytes_;
    const Wide whole = mine / bytes_;
    const Wide others_whole = others / other.bytes_;
    if (whole != others_whole) return whole > others_whole;
    return mine % bytes_ * other.bytes_ > others % other.bytes_ * bytes_;
  }

  /// Of `bytes`, the most that take a whole number of picoseconds: how many, and how long.
  struct Whole {
    std::int64_t bytes = 0;
    Time time = 0;
  };
  [[nodiscard]] Whole whole(std::int64_t bytes) const {
    const std::int64_t parts = bytes / bytes_;
    return {parts * bytes_, repeated(parts, time_)};
  }

  /// Whether `a` + time of `bytes_a` <= `b` + time of `bytes_b`, as exact numbers, not rounded.
  [[nodiscard]] bool no_later(Time a, std::int64_t bytes_a, Time b, std::int64_t bytes_b) const {
    return static_cast<Wide>(a - b) * bytes_ <= static_cast<Wide>(bytes_b - bytes_a) * time_;
  }

  /// The same with the bytes of `b` at another rate.
  [[nodiscard]] bool no_later(Time a, std::int64_t bytes_a, const Rate& other, Time b, std::int64_t bytes_b) const {
    if (*this == other) return no_later(a, bytes_a, b, bytes_b);
    const Wide mine = static_cast<Wide>(bytes_a) * time_;
    const Wide others = static_cast<Wide>(bytes_b) * other.time_;
    const Wide whole = mine / bytes_ + a;
    const Wide others_whole = others / other.bytes_ + b;
    if (whole != others_whole) return whole < others_whole;
    return mine % bytes_ * other.bytes_ <= others % other.bytes_ * bytes_;
  }

  /// The time from `a` + time of `bytes_a` to `b` + time of `bytes_b`, rounded down and up.
  struct Gap {
    Time down = 0;
    Time up = 0;
  };
  [[nodiscard]] Gap gap(Time a, std::int64_t bytes_a, Time b, std::int64_t bytes_b) const {
    const Wide product = static_cast<Wide>(bytes_b - bytes_a) * time_;
    const Wide rest = (product % bytes_ + bytes_) % bytes_;
    const auto down = static_cast<Time>((product - rest) / bytes_) + (b - a);
    return {down, down + (rest > 0 ? 1 : 0)};
  }

 private:
  __extension__ using Wide = __int128;
  std::int64_t time_ = 1;   // picoseconds that ...
  std::int64_t bytes_ = 1;  // ... this many bytes take
  Divisor by_time_;
  Divisor by_bytes_;
};

}  // namespace tessera::sim
