// Keyed random numbers, one after another.
#pragma once

#include <cstdint>

#include "sim/network/rate.hpp"
#include "tessera/base/random.hpp"

namespace tessera::test {

class Draw {
 public:
  Draw(std::uint64_t index, const char* stream) : random_(index, random_stream(stream)) {}
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(random_.below(draws_++, static_cast<std::uint64_t>(count)));
  }
  /// Even and odd ones.
  sim::Rate rate() {
    static constexpr std::int64_t bandwidths[] = {1'000'000'000, 3'000'000'000, 2'999'999'999,
                                                  7'000'000'001, 999'999'937,   12'345'678'901};
    return sim::Rate(bandwidths[below(6)]);
  }

 private:
  KeyedRandom random_;
  std::uint64_t draws_ = 0;
};

}  // namespace tessera::test
