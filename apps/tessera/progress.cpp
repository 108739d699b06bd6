#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "tessera/base/config.hpp"

namespace tessera::app {

using program::search::Phase;

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

}  // namespace

std::string span(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole < 100) return fmt::format("{} s", whole);
  return whole < 6000 ? fmt::format("{} min {:02} s", whole / 60, whole % 60)
                      : fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

ProgressLine::ProgressLine(const std::string& mode, std::FILE* out) : out_(out) {
  const bool terminal = isatty(fileno(out)) != 0;
  if (mode == "bar" || (mode == "auto" && terminal)) style_ = Style::bar;
  if (mode == "plain" || (mode == "auto" && !terminal)) style_ = Style::plain;
}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::clear() {
  if (drawn_) std::fputs("\r\033[K", out_);
  drawn_ = false;
}

bool ProgressLine::is_due(double seconds) {
  if (seconds < last_) last_ = 0;  // a simulation begins anew
  const double interval = style_ == Style::bar ? bar_interval : plain_interval;
  if (style_ == Style::off || seconds < last_ + interval) return false;
  last_ = seconds;
  return true;
}

void ProgressLine::show(const std::string& text) {
  if (style_ == Style::bar) {
    std::fprintf(out_, "\r%s\033[K", text.c_str());
    drawn_ = true;
  } else {
    std::fprintf(out_, "%s\n", text.c_str());
  }
  std::fflush(out_);
}

/// Of this rank's devices, as if every device had the same to do: computation and communication advance together.
double ProgressDisplay::share_of(const sim::WorkDone& done) const {
  const double part =
      static_cast<double>(done.devices) / static_cast<double>(std::max<std::int64_t>(whole_.devices, 1));
  double sum = 0;
  int kinds = 0;
  for (const auto& [now, all] :
       {std::pair{done.flops, whole_.executed_flops}, std::pair{done.bytes_sent, whole_.bytes_sent}}) {
    if (all * part <= 0) continue;
    sum += now / (all * part);
    ++kinds;
  }
  return kinds == 0 ? 0 : std::clamp(sum / kinds, 0.0, 1.0);
}

// Before the first of the plain lines, so that whoever has begun something hopeless need not wait for it.
void ProgressDisplay::tell_if_long(double wall, double share) {
  if (is_told_ || wall < early) return;
  is_told_ = true;
  if (share <= 0 || wall / share < is_long) return;
  line_.show(fmt::format("at this rate {} are left; tessera check says what goes step by step{}",
                         span(wall / share - wall), line_.is_bar() ? "\n" : ""));
}

void ProgressDisplay::report(const pdes::ProgressReport& report, const sim::WorkDone& done) {
  if (line_.is_on()) tell_if_long(report.wall_seconds, share_of(done));
  if (line_.is_due(report.wall_seconds)) line_.show(text(report, share_of(done)));
}

std::string ProgressDisplay::text(const pdes::ProgressReport& report, double share) const {
  const auto events = static_cast<double>(report.events);
  const double wall = std::max(report.wall_seconds, 1e-9);
  std::string line = fmt::format("{:.0f} %, simulated {}, {} events on rank 0, {} events/s, efficiency {:.0f} %",
                                 100 * share, config::format_rounded(report.now, config::Unit::time), count(events),
                                 count(events / wall), 100.0 * (1.0 - report.waiting_seconds / wall));
  if (share > 0.005) line += fmt::format(", {} left", span(wall / share - wall));
  return line_.is_bar() ? bar(share) + ' ' + line : line;
}

void SearchDisplay::report(const program::search::Progress& progress) {
  const bool is_next = progress.phase != now_.phase || progress.done < now_.done;
  if (is_next && now_.phase == Phase::evaluating) before_ += now_.done;
  now_ = progress;
  if (now_.best > 0 && (best_ == 0 || now_.best < best_)) best_ = now_.best;
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin_;
  if (line_.is_due(since.count())) line_.show(fmt::format("search: {}, {}", span(since.count()), text()));
}

std::string SearchDisplay::text() const {
  const auto time = [](Time t) { return config::format_rounded(t, config::Unit::time); };
  const std::size_t evaluated = before_ + (now_.phase == Phase::evaluating ? now_.done : 0);
  std::string text;
  switch (now_.phase) {
    case Phase::listing:
      return fmt::format("{} candidates listed so far", now_.done);
    case Phase::judging:
      return fmt::format("{} of {} candidates looked at", now_.done, now_.of);
    case Phase::writing:
      text = fmt::format("{} programs evaluated, writing {} more", evaluated, now_.of);
      break;
    case Phase::evaluating:
      text = fmt::format("{} programs evaluated, {} under way", evaluated, now_.of - now_.done);
      break;
  }
  if (best_ > 0) text += ", the fastest " + time(best_);
  if (now_.reached > 0) text += ", rank 0 has simulated " + time(now_.reached);
  return text;
}

void add_progress(CLI::App& command, std::string& mode) {
  command.add_option("--progress", mode, "what is shown on the way: a bar on a terminal, lines elsewhere")
      ->check(CLI::IsMember({"auto", "bar", "plain", "off"}))
      ->capture_default_str();
}

}  // namespace tessera::app
