// The random draws of PHOLD, the same in bench/phold and bench/hold: counter-based, so they depend on the LP and on how
// many it has drawn, and on nothing else.
#pragma once

#include <Random123/philox.h>

#include <cmath>
#include <cstdint>

#include "tessera/base/time.hpp"

namespace tessera::bench {

/// Model time 1.0 is one second, so that distinct draws are distinct times.
inline constexpr double unit_time = 1e12;

struct PholdParameters {
  std::uint32_t lps = 131'072;
  std::uint32_t events_per_lp = 1;  ///< K
  double mean = 1.0;                ///< of the whole delay
  double lookahead = 0.1;           ///< L, the least delay
  double remote = 0.1;              ///< R, probability that an event goes to any LP instead of its own
  std::uint32_t seed = 1;
};

/// What one event draws: its delay L + Exp(mean - L), and where it goes.
class PholdDraws {
 public:
  explicit PholdDraws(const PholdParameters& parameters)
      : lookahead_(static_cast<Time>(std::llround(parameters.lookahead * unit_time))),
        scale_((parameters.mean - parameters.lookahead) * unit_time),
        remote_below_(parameters.remote * 0x1p32),
        lps_per_remote_(parameters.remote > 0 ? parameters.lps / remote_below_ : 0),
        key_{{parameters.seed}} {}

  struct Draw {
    Time delay = 0;
    std::uint32_t to = 0;
  };
  [[nodiscard]] Draw operator()(std::uint32_t lp, std::uint32_t index) const {
    const auto words = r123::Philox2x32{}({{lp, index}}, key_);
    const double uniform = (words[0] + 0.5) * 0x1p-32;
    const double choice = words[1];
    return {lookahead_ + static_cast<Time>(-std::log(uniform) * scale_),
            choice < remote_below_ ? static_cast<std::uint32_t>(choice * lps_per_remote_) : lp};
  }
  [[nodiscard]] Time lookahead() const { return lookahead_; }

 private:
  Time lookahead_;
  double scale_;
  double remote_below_;
  double lps_per_remote_;  // a word below remote_below_ becomes an LP: the same word decides and chooses
  r123::Philox2x32::key_type key_;
};

}  // namespace tessera::bench
