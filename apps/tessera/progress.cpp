#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "tessera/base/config.hpp"

namespace tessera::app {
namespace {

constexpr int bar_width = 24;

std::string bar(double share) {
  const int full = static_cast<int>(share * bar_width);
  return '[' + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(bar_width - full), '.') + ']';
}

std::string count(double value) {
  return value >= 1e6   ? fmt::format("{:.1f} M", value / 1e6)
         : value >= 1e4 ? fmt::format("{:.0f} k", value / 1e3)
                        : fmt::format("{:.0f}", value);
}

std::string span(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole < 100) return fmt::format("{} s", whole);
  return whole < 6000 ? fmt::format("{} min {:02} s", whole / 60, whole % 60)
                      : fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace

ProgressDisplay::ProgressDisplay(const std::string& mode, std::FILE* out, std::uint64_t expected_events)
    : out_(out), expected_(expected_events) {
  const bool terminal = isatty(fileno(out)) != 0;
  if (mode == "bar" || (mode == "auto" && terminal)) style_ = Style::bar;
  if (mode == "plain" || (mode == "auto" && !terminal)) style_ = Style::plain;
}

ProgressDisplay::~ProgressDisplay() {
  if (drawn_) std::fputs("\r\033[K", out_);
}

void ProgressDisplay::report(const pdes::ProgressReport& report) {
  const double interval = style_ == Style::bar ? bar_interval : plain_interval;
  if (style_ == Style::off || report.wall_seconds < last_ + interval) return;
  last_ = report.wall_seconds;
  if (style_ == Style::bar) {
    std::fprintf(out_, "\r%s\033[K", text(report).c_str());
    drawn_ = true;
  } else {
    std::fprintf(out_, "%s\n", text(report).c_str());
  }
  std::fflush(out_);
}

std::string ProgressDisplay::text(const pdes::ProgressReport& report) const {
  const auto events = static_cast<double>(report.events);
  const double wall = std::max(report.wall_seconds, 1e-9);
  const double efficiency = 100.0 * (1.0 - report.waiting_seconds / wall);
  std::string line = fmt::format("simulated {}, {} events on rank 0, {} events/s, efficiency {:.0f} %",
                                 config::format_rounded(report.now, config::Unit::time), count(events),
                                 count(events / wall), efficiency);
  if (expected_ == 0) return style_ == Style::bar ? "running: " + line : line;
  // The number of events is an estimate: what lies beyond it is still under way.
  const double share = std::min(0.99, events / static_cast<double>(expected_));
  line += fmt::format(", about {} left", span(wall / std::max(share, 1e-6) - wall));
  return style_ == Style::bar ? fmt::format("{} {:.0f} % {}", bar(share), 100 * share, line)
                              : fmt::format("{:.0f} %: {}", 100 * share, line);
}

}  // namespace tessera::app
