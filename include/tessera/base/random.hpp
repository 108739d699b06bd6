// Counter-based random numbers (Random123's Philox2x64-10; Salmon et al., SC 2011): a draw is a function of (seed,
// stream, index), so nothing depends on who draws first, on how many ranks, or in what order.
//
//   const KeyedRandom imbalance(seed, random_stream("moe imbalance"));
//   double share = imbalance.real(layer);
#pragma once

#include <Random123/philox.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/hash.hpp"
#include "tessera/base/time.hpp"

namespace tessera {

/// A stream's number from its name: users of different names never share draws.
[[nodiscard]] constexpr std::uint64_t random_stream(std::string_view name) { return hash_of(name); }

/// All draws of one (seed, stream); a small value without state.
class KeyedRandom {
 public:
  constexpr KeyedRandom(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

  /// 128 random bits.
  [[nodiscard]] std::array<std::uint64_t, 2> pair(std::uint64_t index) const {
    const r123::Philox2x64::ctr_type counter{{index, stream_}};
    const r123::Philox2x64::key_type key{{seed_}};
    const auto drawn = r123::Philox2x64{}(counter, key);
    return {drawn[0], drawn[1]};
  }
  [[nodiscard]] std::uint64_t bits(std::uint64_t index) const { return pair(index)[0]; }

  /// Uniform in [0, 1), a multiple of 2^-53.
  [[nodiscard]] double real(std::uint64_t index) const { return to_real(bits(index)); }

  /// Uniform in 0 .. count-1; count > 0. The bias is below count / 2^64.
  [[nodiscard]] std::uint64_t below(std::uint64_t index, std::uint64_t count) const {
    return to_below(bits(index), count);
  }

  /// Exponential with this mean, 0 included.
  [[nodiscard]] double exponential(std::uint64_t index, double mean) const { return to_exponential(bits(index), mean); }

  // The same from bits at hand, for users that take several numbers out of one pair().
  [[nodiscard]] static double to_real(std::uint64_t bits) { return static_cast<double>(bits >> 11U) * 0x1.0p-53; }
  [[nodiscard]] static std::uint64_t to_below(std::uint64_t bits, std::uint64_t count) {
    return static_cast<std::uint64_t>((static_cast<Uint128>(bits) * count) >> 64U);
  }
  [[nodiscard]] static double to_exponential(std::uint64_t bits, double mean) {
    return -mean * std::log(1.0 - to_real(bits));
  }

 private:
  std::uint64_t seed_, stream_;
};

/// A uniform permutation of `items` (Fisher and Yates), a function of the source's seed and stream alone.
template <class T>
void shuffle(std::vector<T>& items, const KeyedRandom& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i, i)]);
}

}  // namespace tessera
