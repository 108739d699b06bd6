// How far a run is, on standard error: a line that is rewritten on a terminal, plain lines in a batch job.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "tessera/pdes/engine.hpp"

namespace tessera::app {

class ProgressDisplay {
 public:
  /// `mode` is auto, bar, plain or off; auto draws a bar when `out` is a terminal. `expected_events` of rank 0, 0 when
  /// nothing is known of them.
  ProgressDisplay(const std::string& mode, std::FILE* out, std::uint64_t expected_events);
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void report(const pdes::ProgressReport& report);

  static constexpr double plain_interval = 10;  ///< seconds between plain lines
  static constexpr double bar_interval = 0.2;   ///< seconds between redrawings

 private:
  enum class Style { off, plain, bar };
  [[nodiscard]] std::string text(const pdes::ProgressReport& report) const;

  Style style_ = Style::off;
  std::FILE* out_;
  std::uint64_t expected_;
  double last_ = 0;
  bool drawn_ = false;
};

}  // namespace tessera::app
