// How far a run is, on standard error: a line that is rewritten on a terminal, plain lines in a batch job.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include "command.hpp"
#include "tessera/experiment/estimate.hpp"
#include "tessera/program/search/evaluations.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::app {

/// "43 s", "12 min 05 s", "3 h 20 min".
[[nodiscard]] std::string span(double seconds);

/// A line on `out` that says how far something is: redrawn, or line by line.
class ProgressLine {
 public:
  /// `mode` is auto, bar, plain or off; auto redraws when `out` is a terminal.
  ProgressLine(const std::string& mode, std::FILE* out);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Whether it is time for another one, so many seconds after the beginning; then that counts as shown.
  [[nodiscard]] bool is_due(double seconds);
  [[nodiscard]] bool is_bar() const { return style_ == Style::bar; }
  [[nodiscard]] bool is_on() const { return style_ != Style::off; }
  void show(const std::string& text);
  /// Something else is about to be written.
  void clear();

  static constexpr double plain_interval = 10;  ///< seconds between plain lines
  static constexpr double bar_interval = 0.2;   ///< seconds between redrawings

 private:
  enum class Style { off, plain, bar };
  Style style_ = Style::off;
  std::FILE* out_;
  double last_ = 0;
  bool drawn_ = false;
};

/// Of a simulation.
class ProgressDisplay {
 public:
  /// `mode` as for ProgressLine. `whole` is the work that there is.
  ProgressDisplay(const std::string& mode, std::FILE* out, const experiment::Estimate& whole)
      : line_(mode, out), whole_(whole) {}
  void report(const pdes::ProgressReport& report, const sim::WorkDone& done);
  void clear() { line_.clear(); }

 private:
  static constexpr double early = 4, is_long = 600;  ///< seconds: when it is said that a simulation takes so many
  void tell_if_long(double wall, double share);
  [[nodiscard]] std::string text(const pdes::ProgressReport& report, double share) const;
  [[nodiscard]] double share_of(const sim::WorkDone& done) const;

  ProgressLine line_;
  experiment::Estimate whole_;
  bool is_told_ = false;
};

/// Of a search, on all ranks together.
class SearchDisplay {
 public:
  SearchDisplay(const std::string& mode, std::FILE* out) : line_(mode, out) {}
  void report(const program::search::Progress& progress);

 private:
  [[nodiscard]] std::string text() const;

  ProgressLine line_;
  program::search::Progress now_;
  std::size_t before_ = 0;  // evaluated in phases that have ended
  Time best_ = 0;           // of all
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// The option --progress.
void add_progress(CLI::App& command, std::string& mode);

}  // namespace tessera::app
