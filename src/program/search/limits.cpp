// How far a search goes, as people write it.
#include <charconv>
#include <cmath>

#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/program/search/limits.hpp"

namespace tessera::program::search {
namespace {

/// The whole of the text.
template <class T>
bool read(std::string_view text, T& value) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size();
}

double parse_within(std::string_view text) {
  std::string_view number = text;
  if (number.ends_with('%')) number.remove_suffix(1);
  while (number.ends_with(' ')) number.remove_suffix(1);
  double percent = 0;
  if (!text.ends_with('%') || !read(number, percent) || !std::isfinite(percent) || percent < 0 || percent >= 100)
    throw InputError("--within " + one_line(text) + ": allowed is a part of the time, such as 2%");
  return percent / 100;
}

}  // namespace

Limits parse_limits(const std::string& within, const std::string& budget) {
  Limits limits;
  if (!within.empty()) limits.within = parse_within(within);
  if (budget.empty() || (read(budget, limits.evaluations) && limits.evaluations > 0)) return limits;
  limits.evaluations = 0;
  std::string problem;
  const auto time = config::parse_quantity(budget, config::Unit::time, problem);
  if (!time || *time <= 0)
    throw InputError("--budget " + one_line(budget) +
                     ": allowed is a number of simulations, such as 200, or a time, such as \"10 min\"");
  limits.seconds = static_cast<double>(*time) / static_cast<double>(second);
  return limits;
}

}  // namespace tessera::program::search
