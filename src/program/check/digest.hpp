// Fingerprints of sequences that are never written out: a repeat of a block costs as much as the block (polynomial
// hashing modulo the prime 2^61-1). Sequences of equal length and fingerprint are equal but for a chance of about
// length / 2^61.
#pragma once

#include <cstdint>
#include <limits>

#include "tessera/base/time.hpp"

namespace tessera::program {

struct Digest {
  std::uint64_t hash = 0;
  std::uint64_t power = 1;  ///< base^length
  std::int64_t length = 0;  ///< stays at its largest value instead of overflowing

  [[nodiscard]] bool operator==(const Digest&) const = default;
};

namespace detail {

inline constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;
inline constexpr std::uint64_t base = 0x0F3D'9A1B'52C7'E46DULL % prime;

constexpr std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(static_cast<Uint128>(a) * b % prime);
}

/// Spreads a value over the field (the finaliser of SplitMix64).
constexpr std::uint64_t spread(std::uint64_t value) {
  value += 0x9E37'79B9'7F4A'7C15ULL;
  value = (value ^ (value >> 30)) * 0xBF58'476D'1CE4'E5B9ULL;
  value = (value ^ (value >> 27)) * 0x94D0'49BB'1331'11EBULL;
  return (value ^ (value >> 31)) % prime;
}

}  // namespace detail

/// A sequence of one element.
constexpr Digest digest_of(std::uint64_t value) { return {detail::spread(value), detail::base, 1}; }

/// `first`, then `second`.
constexpr Digest joined(const Digest& first, const Digest& second) {
  Digest both;
  both.hash = (detail::multiply(first.hash, second.power) + second.hash) % detail::prime;
  both.power = detail::multiply(first.power, second.power);
  both.length = saturating_add(first.length, second.length);
  return both;
}

/// `part`, `times` times.
constexpr Digest repeated(Digest part, std::uint64_t times) {
  Digest result;
  for (; times > 0; times /= 2) {
    if (times % 2 == 1) result = joined(result, part);
    part = joined(part, part);
  }
  return result;
}

}  // namespace tessera::program
