#include "human.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "tessera/base/config.hpp"
#include "tessera/results/results.hpp"

namespace tessera::results {

std::string text_of(const std::vector<LawUse>& uses) {
  std::string used, others;
  const LawUse* before = nullptr;
  for (const LawUse& use : uses) {
    if (use.is_used) used += (used.empty() ? "" : ", ") + use.name;
    if (use.is_used) continue;
    const bool is_alike = before != nullptr && before->because == use.because;
    if (before != nullptr && !is_alike) others += ": " + before->because;
    others += (is_alike ? ", " : "; not ") + use.name;
    before = &use;
  }
  if (before != nullptr) others += ": " + before->because;
  return (used.empty() ? "none" : used) + others;
}

std::string precise_time(Time time) {
  struct Scale {
    Time unit;
    const char* name;
  };
  constexpr std::array scales{Scale{second, "s"}, Scale{millisecond, "ms"}, Scale{microsecond, "us"},
                              Scale{nanosecond, "ns"}};
  for (const Scale& scale : scales) {
    const double value = static_cast<double>(time) / static_cast<double>(scale.unit);
    if (value < 0.99995) continue;
    const int digits = value < 9.9995 ? 3 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}", value, digits, scale.name);
  }
  return fmt::format("{} ps", time);
}

std::string short_time(Time time) { return config::format_rounded(time, config::Unit::time); }

std::string short_bytes(std::int64_t bytes) { return config::format_rounded(bytes, config::Unit::bytes); }

std::string short_bytes(double bytes) {
  if (bytes < 9e18) return short_bytes(static_cast<std::int64_t>(bytes));
  return fmt::format("{:.3g} EB", bytes / 1e18);
}

std::string short_count(double count) {
  if (std::abs(count) < 1e6) {
    std::string digits = fmt::format("{:.0f}", count);
    for (int at = static_cast<int>(digits.size()) - 3; at > 0 && digits[static_cast<std::size_t>(at) - 1] != '-';
         at -= 3) {
      digits.insert(static_cast<std::size_t>(at), 1, ',');
    }
    return digits;
  }
  constexpr std::array names{" M", " G", " T", " P", " E", " Z"};
  double scaled = count / 1e6;
  std::size_t i = 0;
  for (; std::abs(scaled) >= 999.5 && i + 1 < names.size(); ++i) scaled /= 1e3;
  const double size = std::abs(scaled);
  return fmt::format("{:.{}f}{}", scaled, size < 9.995 ? 2 : size < 99.95 ? 1 : 0, names[i]);
}

std::string percent(double part, double whole) {
  if (!(whole > 0)) return "-";
  return fmt::format("{:.1f} %", 100.0 * part / whole);
}

std::string rate_text(double rate) { return rate < 999.95 ? fmt::format("{:.1f}", rate) : short_count(rate); }

std::string pair_line(const std::string& left, const std::string& left_value, const std::string& right,
                      const std::string& right_value) {
  return fmt::format("  {:<20}{:>14}    {:<22}{:>14}\n", left, left_value, right, right_value);
}

}  // namespace tessera::results
