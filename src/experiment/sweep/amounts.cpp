#include "amounts.hpp"

#include <array>
#include <cmath>

#include "tessera/base/time.hpp"

namespace tessera::experiment::sweep {
namespace {

constexpr std::array all_units{config::Unit::time,    config::Unit::bytes,     config::Unit::bandwidth,
                               config::Unit::compute, config::Unit::frequency, config::Unit::length,
                               config::Unit::power};

/// A value as it would stand behind its key.
std::string toml_of(const config::Value& value) {
  config::Table one;
  one.set("v", value);
  std::string text = config::to_toml(one);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.starts_with("v = ") ? text.substr(4) : text;
}

}  // namespace

double counts_in(const std::optional<config::Unit>& unit) {
  constexpr double millimetre = 1000;
  if (unit == config::Unit::time) return static_cast<double>(second);
  constexpr double watt = 1000;
  if (unit == config::Unit::power) return watt;
  return unit == config::Unit::length ? millimetre : 1.0;
}

double BaseUnits::scale(const std::optional<config::Unit>& unit) const {
  if (!unit) return 1;
  switch (*unit) {
    case config::Unit::time:
      return second;
    case config::Unit::bytes:
      return byte;
    case config::Unit::bandwidth:
      return byte / second;
    case config::Unit::compute:
      return flop / second;
    case config::Unit::length:
      return millimetre;
    case config::Unit::power:
      return watt;
    default:
      return 1 / second;
  }
}

std::optional<CountOf> count_of(const std::string& text) {
  std::string ignored;
  for (const config::Unit unit : all_units) {
    if (const auto count = config::parse_quantity(text, unit, ignored)) return CountOf{unit, *count};
  }
  return std::nullopt;
}

std::optional<Amount> amount_of(const config::Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.content())) return Amount{static_cast<double>(*whole)};
  if (const auto* real = std::get_if<double>(&value.content())) return Amount{*real};
  if (const auto* flag = std::get_if<bool>(&value.content())) return Amount{*flag ? 1.0 : 0.0};
  const std::string* text = value.string();
  const auto found = text == nullptr ? std::nullopt : count_of(*text);
  if (!found) return std::nullopt;
  return Amount{static_cast<double>(found->count) / counts_in(found->unit), found->unit};
}

std::string name_of(config::Unit unit) { return config::unit_suffixes(unit).front(); }

std::optional<std::int64_t> to_count(double value, const std::optional<config::Unit>& unit) {
  const double count = std::round(value * counts_in(unit));
  if (!std::isfinite(count) || std::abs(count) >= 9.2e18) return std::nullopt;
  return static_cast<std::int64_t>(count);
}

Cell cell_of(const config::Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.content())) return *whole;
  if (const auto* real = std::get_if<double>(&value.content())) return *real;
  const std::string* text = value.string();
  const auto found = text == nullptr ? std::nullopt : count_of(*text);
  if (found) return found->count;
  return text_of(value);
}

std::string text_of(const config::Value& value) { return value.string() == nullptr ? toml_of(value) : *value.string(); }

}  // namespace tessera::experiment::sweep
