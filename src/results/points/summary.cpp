// What a table of points says at a glance: the best points, those that are not done, and what each axis does.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../human.hpp"
#include "measure.hpp"
#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/results/points.hpp"

namespace tessera::results {
namespace {

constexpr std::size_t most_points = 10;  ///< that are shown as the best
constexpr std::size_t most_values = 16;  ///< of an axis
constexpr std::size_t least_name_width = 50, most_name_width = 76;

std::string cut(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : fmt::format("{:.{}}...", text, width - 3);
}

/// "12: what it is", or the number alone.
std::string named(std::int64_t point, const std::string& text) {
  return text.empty() ? std::to_string(point) : fmt::format("{}: {}", point, text);
}

std::string count_of(std::size_t count) { return short_count(static_cast<double>(count)); }

std::string heading(const View& view, std::size_t done) {
  return fmt::format("{}\n{} points, {} of them with a time\n", view.table.title, count_of(view.table.rows.size()),
                     count_of(done));
}

std::string meaning(std::int64_t code) {
  switch (code) {
    case 0:
      return "not simulated";
    case 2:
      return "refused";
    case 3:
      return "cannot be carried out";
    case 4:
      return "this computer failed";
    default:
      return "Tessera failed";
  }
}

/// What a message is about: behind the place that it begins with, the words before its first colon, such as the
/// constraint that forbids a machine. Empty where these are no name, but figures of one point.
std::string subject_of(const std::string& message) {
  constexpr std::size_t longest = 60;
  std::size_t begin = 0;
  for (std::size_t colon = message.find(": "); colon != std::string::npos; colon = message.find(": ", begin)) {
    const std::string words = message.substr(begin, colon - begin);
    if (words.size() <= longest && words.find_first_of("0123456789") == std::string::npos) return words;
    if (begin > 0) break;
    begin = colon + 2;
  }
  return {};
}

/// A message that begins with a place, without the folders of the file: points of a sweep share them.
std::string without_folders(const std::string& message) {
  const std::size_t end = message.find(": ");
  if (end == std::string::npos || message.find(' ') < end) return message;
  const std::size_t slash = message.rfind('/', end);
  return slash == std::string::npos ? message : message.substr(slash + 1);
}

/// Points that are not done for one reason.
struct Reason {
  std::int64_t code = 0;
  std::string subject;
  std::vector<std::size_t> rows;
};

/// By code; of one code those of most points first, of equals the first.
std::vector<Reason> reasons(const View& view) {
  std::vector<Reason> all;
  for (std::size_t i = 0; i < view.table.rows.size(); ++i) {
    if (view.time(i) > 0) continue;
    const std::int64_t code = view.integer(i, "code");
    const std::string subject = subject_of(view.text(i, "message"));
    auto known =
        std::ranges::find_if(all, [&](const Reason& one) { return one.code == code && one.subject == subject; });
    if (known == all.end()) known = all.insert(all.end(), {code, subject, {}});
    known->rows.push_back(i);
  }
  std::ranges::stable_sort(all, [](const Reason& a, const Reason& b) {
    return a.code != b.code ? a.code < b.code : a.rows.size() > b.rows.size();
  });
  return all;
}

/// The points without a time by code and reason, each with the first that has it.
std::string not_done(const View& view) {
  constexpr std::size_t most_reasons = 12;
  const std::vector<Reason> all = reasons(view);
  if (all.empty()) return {};
  std::string text = fmt::format("{:<34}{:>8}  {}\n", "not done, by code", "points", "such as");
  for (std::size_t i = 0; i < std::min(all.size(), most_reasons); ++i) {
    const auto& [code, subject, rows] = all[i];
    const std::string message = view.text(rows.front(), "message");
    text += fmt::format("  {:<32}{:>8}  {}\n", fmt::format("{}, {}", code, meaning(code)), count_of(rows.size()),
                        cut(named(view.point(rows.front()), escaped(without_folders(message))), 120));
  }
  if (all.size() > most_reasons)
    text += fmt::format("  and {} more reasons in /points\n", count_of(all.size() - most_reasons));
  return text;
}

std::string value_text(const PointCell& cell, const std::string& units) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  const auto* whole = std::get_if<std::int64_t>(&cell);
  const double value = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(cell);
  constexpr double largest = 9e18;
  const auto rounded = [&](config::Unit unit) {
    return config::format_rounded(whole != nullptr ? *whole : static_cast<std::int64_t>(value), unit);
  };
  if (value >= 0 && value < largest) {
    if (units == "ps") return rounded(config::Unit::time);
    if (units == "B") return rounded(config::Unit::bytes);
    if (units == "B/s") return rounded(config::Unit::bandwidth);
    if (units == "FLOP/s") return rounded(config::Unit::compute);
    if (units == "Hz") return rounded(config::Unit::frequency);
    if (units == "um") return fmt::format("{:.6g} mm", value / 1000);
  }
  return whole != nullptr ? std::to_string(*whole) : fmt::format("{:.6g}", value);
}

/// Of a column: without what tells an axis from a result of the same name.
std::string shown_name(const std::string& column) {
  constexpr std::string_view front = "axis_";
  return column.starts_with(front) ? column.substr(front.size()) : column;
}

/// The axes whose values differ among the rows that are shown, and those that are the same for all of them.
class ShownAxes {
 public:
  ShownAxes(const View& view, const std::vector<std::size_t>& rows) : view_(view) {
    for (const PointAxis& axis : view.table.axes) {
      const auto at = view.column(axis.column);
      if (!at || axis.follows) continue;
      const auto is_same = [&](std::size_t row) { return view.table.rows[row][*at] == view.table.rows[rows[0]][*at]; };
      (rows.size() > 1 && std::ranges::all_of(rows, is_same) ? common_ : differing_).push_back(*at);
    }
  }
  /// The point's own name, or what it has that not all have.
  [[nodiscard]] std::string name(std::size_t row) const {
    return common_.empty() || differing_.empty() ? view_.text(row, "name") : values(row, differing_);
  }
  /// Empty where names say all.
  [[nodiscard]] std::string common_line(std::size_t row) const {
    return common_.empty() || differing_.empty() ? "" : "  all of them: " + values(row, common_) + "\n";
  }

 private:
  [[nodiscard]] std::string values(std::size_t row, const std::vector<std::size_t>& columns) const {
    std::string text;
    for (const std::size_t at : columns)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", shown_name(view_.table.columns[at].name),
                          value_text(view_.table.rows[row][at], view_.table.columns[at].units));
    return text;
  }

  const View& view_;
  std::vector<std::size_t> differing_, common_;  // columns
};

/// What is told of a point beside its name and what it is ranked by.
struct Told {
  const char* name;
  std::size_t width;
  std::string (*text)(const View& view, std::size_t row);
};

std::string devices_text(const View& view, std::size_t row) {
  const std::int64_t devices = view.integer(row, "devices");
  return devices > 0 ? short_count(static_cast<double>(devices)) : "-";
}
std::string memory_text(const View& view, std::size_t row) {
  const std::int64_t memory = view.integer(row, "peak_memory");
  return memory > 0 ? short_bytes(memory) : "-";
}
std::string use_text(const View& view, std::size_t row) {
  const double use = view.number(row, "model_flops_utilisation");
  return use > 0 ? percent(use, 1) : "-";
}
std::string user_text(const View& view, std::size_t row) {
  const double rate = view.number(row, "tokens_per_second_per_user");
  return rate > 0 ? rate_text(rate) : "-";
}
std::string first_token_text(const View& view, std::size_t row) {
  const Time time = view.integer(row, "time_to_first_token_ps");
  return time > 0 ? short_time(time) : "-";
}

std::string calibrated_text(const View& view, std::size_t row) {
  if (view.text(row, "calibration").empty()) return "-";
  return view.is_uncalibrated(row) ? "no" : "yes";
}

/// How many of the rows are simulated with rates of data sheets alone.
enum class Uncalibrated { none, some, all };

Uncalibrated uncalibrated(const View& view, const std::vector<std::size_t>& rows) {
  const auto count = std::ranges::count_if(rows, [&](std::size_t row) { return view.is_uncalibrated(row); });
  if (count == 0) return Uncalibrated::none;
  return static_cast<std::size_t>(count) == rows.size() ? Uncalibrated::all : Uncalibrated::some;
}

/// What times are worth where machines have not been compared with measured ones.
std::string uncalibrated_line(Uncalibrated which) {
  switch (which) {
    case Uncalibrated::none:
      return {};
    case Uncalibrated::some:
      return "  not calibrated: with the peak rates of data sheets, bounds that do not rank beside the others\n";
    case Uncalibrated::all:
      return "  none is calibrated: all are with the peak rates of data sheets, so bounds\n";
  }
  throw InternalError("unknown share of uncalibrated points");
}

/// Of points that make tokens, how they serve users; of others, how busy devices are. Where machines differ in that,
/// whether they are calibrated.
std::vector<Told> told_of(const Measure& measure, Uncalibrated which) {
  const Told devices{"devices", 9, devices_text}, memory{"peak memory", 14, memory_text};
  const Told use{"model FLOPs", 12, use_text}, user{"of a user", 12, user_text},
      first_token{"first token", 13, first_token_text};
  std::vector<Told> told =
      measure.is_rate ? std::vector{user, first_token, devices, memory} : std::vector{devices, use, memory};
  if (which == Uncalibrated::some) told.push_back({"calibrated", 12, calibrated_text});
  return told;
}

std::string best_points(const View& view, const Measure& measure, const std::vector<std::size_t>& rows) {
  if (rows.empty()) return {};
  const ShownAxes axes(view,
                       {rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), most_points))});
  std::size_t name_width = least_name_width;
  for (std::size_t i = 0; i < std::min(rows.size(), most_points); ++i)
    name_width = std::clamp(named(view.point(rows[i]), axes.name(rows[i])).size(), name_width, most_name_width);
  const Uncalibrated which = uncalibrated(view, rows);
  const std::vector<Told> told = told_of(measure, which);
  std::string text = fmt::format("{:<{}}{:>12}{:>9}", "best points", name_width + 2, measure.name, "to best");
  for (const Told& one : told) text += fmt::format("{:>{}}", one.name, one.width);
  text += '\n';
  const double best = measure.of(view, rows[0]);
  for (std::size_t i = 0; i < std::min(rows.size(), most_points); ++i) {
    const std::size_t row = rows[i];
    const double value = measure.of(view, row);
    text += fmt::format("  {:<{}}{:>12}{:>9}", cut(named(view.point(row), axes.name(row)), name_width), name_width,
                        measure.text(value), fmt::format("{:.2f}", measure.to_best(value, best)));
    for (const Told& one : told) text += fmt::format("{:>{}}", one.text(view, row), one.width);
    text += '\n';
  }
  text += axes.common_line(rows.front());
  text += uncalibrated_line(which);
  if (rows.size() > most_points) text += fmt::format("  and {} more in /points\n", count_of(rows.size() - most_points));
  return text;
}

struct OfValue {
  std::size_t points = 0;
  std::vector<double> values;    ///< of those that are done, by what points are ranked by
  std::size_t uncalibrated = 0;  ///< of those that are done
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : values[half - 1] + (values[half] - values[half - 1]) / 2;
}

/// Best and median of each value of an axis, in order of values; nothing of one that has a single value.
/// `marks_uncalibrated`: values all of whose points are uncalibrated say so, since others' are calibrated.
std::string axis_section(const View& view, const Measure& measure, const PointAxis& axis, bool marks_uncalibrated) {
  const auto at = view.column(axis.column);
  if (!at || axis.follows) return {};
  std::map<PointCell, OfValue> values;
  for (std::size_t i = 0; i < view.table.rows.size(); ++i) {
    OfValue& of_value = values[view.table.rows[i][*at]];
    ++of_value.points;
    if (view.time(i) == 0) continue;
    of_value.values.push_back(measure.of(view, i));
    if (view.is_uncalibrated(i)) ++of_value.uncalibrated;
  }
  if (values.size() < 2) return {};
  std::string text = fmt::format("{:<34}{:>16}{:>12}{:>12}\n", measure.name + " by " + shown_name(axis.column), "done",
                                 "best", "median");
  std::size_t shown = 0;
  for (const auto& [value, of_value] : values) {
    if (shown++ == most_values) break;
    const bool any = !of_value.values.empty();
    const auto is_better = [&](double a, double b) { return measure.is_better(a, b); };
    const bool is_marked = marks_uncalibrated && any && of_value.uncalibrated == of_value.values.size();
    text += fmt::format("  {:<32}{:>16}{:>12}{:>12}{}\n", cut(value_text(value, view.table.columns[*at].units), 32),
                        fmt::format("{} of {}", count_of(of_value.values.size()), count_of(of_value.points)),
                        any ? measure.text(*std::ranges::min_element(of_value.values, is_better)) : "-",
                        any ? measure.text(median(of_value.values)) : "-", is_marked ? "  not calibrated" : "");
  }
  if (values.size() > most_values) text += fmt::format("  and {} more values\n", count_of(values.size() - most_values));
  return text;
}

}  // namespace

std::string points_summary(const std::string& path, Checking checking) {
  const PointsTable table = read_points(path, checking);
  const View view{table};
  const Measure measure = measure_of(view);
  const std::vector<std::size_t> rows = ranked(view, measure);
  std::vector<std::string> sections{heading(view, rows.size()), best_points(view, measure, rows), not_done(view)};
  const bool marks_uncalibrated = uncalibrated(view, rows) == Uncalibrated::some;
  for (const PointAxis& axis : table.axes) sections.push_back(axis_section(view, measure, axis, marks_uncalibrated));
  std::string text;
  for (const std::string& section : sections) {
    if (section.empty()) continue;
    if (!text.empty()) text.push_back('\n');
    text.append(printable(section));  // names in a file are whatever somebody wrote
  }
  return text;
}

}  // namespace tessera::results
