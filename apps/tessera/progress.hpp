// How far a run is, on standard error: a line that is rewritten on a terminal, plain lines in a batch job.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "estimate.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::app {

class ProgressDisplay {
 public:
  /// `mode` is auto, bar, plain or off; auto draws a bar when `out` is a terminal. `whole` is the work that there is.
  ProgressDisplay(const std::string& mode, std::FILE* out, const Estimate& whole);
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void report(const pdes::ProgressReport& report, const sim::WorkDone& done);

  static constexpr double plain_interval = 10;  ///< seconds between plain lines
  static constexpr double bar_interval = 0.2;   ///< seconds between redrawings

 private:
  enum class Style { off, plain, bar };
  [[nodiscard]] std::string text(const pdes::ProgressReport& report, double share) const;
  [[nodiscard]] double share_of(const sim::WorkDone& done) const;

  Style style_ = Style::off;
  std::FILE* out_;
  Estimate whole_;
  double last_ = 0;
  bool drawn_ = false;
};

}  // namespace tessera::app
