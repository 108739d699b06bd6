// Quantities with units: exact decimal text to integers and back.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>

#include "bounds.hpp"
#include "tessera/base/config.hpp"
#include "tessera/base/time.hpp"
#include "unit_spelling.hpp"

namespace tessera::config {
namespace {

using Wide = Uint128;

/// One accepted suffix: a value in it is numerator/denominator of the stored integer.
struct Suffix {
  std::string_view text;
  std::int64_t numerator = 1;
  std::int64_t denominator = 1;
  bool printed = true;  ///< candidates of format_quantity; the others are only read
};

constexpr std::int64_t kilo = 1'000, mega = 1'000'000, giga = 1'000'000'000, tera = 1'000'000'000'000,
                       peta = 1'000'000'000'000'000, exa = 1'000'000'000'000'000'000;
constexpr std::int64_t kibi = 1LL << 10, mebi = 1LL << 20, gibi = 1LL << 30, tebi = 1LL << 40, pebi = 1LL << 50;

// Each list starts with the stored unit and grows; format_quantity and format_rounded rely on it.
constexpr std::array time_suffixes{Suffix{"ps"},
                                   Suffix{"ns", kilo},
                                   Suffix{"us", mega},
                                   Suffix{"ms", giga},
                                   Suffix{"s", tera},
                                   Suffix{"min", 60 * tera, 1, false},
                                   Suffix{"h", 3600 * tera, 1, false}};
constexpr std::array bytes_suffixes{Suffix{"B"},         Suffix{"kB", kilo},  Suffix{"MB", mega},  Suffix{"GB", giga},
                                    Suffix{"TB", tera},  Suffix{"PB", peta},  Suffix{"KiB", kibi}, Suffix{"MiB", mebi},
                                    Suffix{"GiB", gibi}, Suffix{"TiB", tebi}, Suffix{"PiB", pebi}};
constexpr std::array bandwidth_suffixes{Suffix{"B/s"},
                                        Suffix{"kB/s", kilo},
                                        Suffix{"MB/s", mega},
                                        Suffix{"GB/s", giga},
                                        Suffix{"TB/s", tera},
                                        Suffix{"PB/s", peta},
                                        Suffix{"KiB/s", kibi},
                                        Suffix{"MiB/s", mebi},
                                        Suffix{"GiB/s", gibi},
                                        Suffix{"TiB/s", tebi},
                                        Suffix{"b/s", 1, 8, false},
                                        Suffix{"kb/s", kilo, 8, false},
                                        Suffix{"Mb/s", mega, 8, false},
                                        Suffix{"Gb/s", giga, 8, false},
                                        Suffix{"Tb/s", tera, 8, false},
                                        Suffix{"Pb/s", peta, 8, false},
                                        Suffix{"PiB/s", pebi, 1, false},
                                        Suffix{"Kib/s", kibi, 8, false},
                                        Suffix{"Mib/s", mebi, 8, false},
                                        Suffix{"Gib/s", gibi, 8, false},
                                        Suffix{"Tib/s", tebi, 8, false},
                                        Suffix{"Pib/s", pebi, 8, false}};
/// Sizes in bits, which are refused with what they are in bytes.
constexpr std::array bits_suffixes{Suffix{"b", 1, 8},      Suffix{"kb", kilo, 8},  Suffix{"Mb", mega, 8},
                                   Suffix{"Gb", giga, 8},  Suffix{"Tb", tera, 8},  Suffix{"Pb", peta, 8},
                                   Suffix{"Kib", kibi, 8}, Suffix{"Mib", mebi, 8}, Suffix{"Gib", gibi, 8},
                                   Suffix{"Tib", tebi, 8}, Suffix{"Pib", pebi, 8}};
constexpr std::array compute_suffixes{Suffix{"FLOP/s"},        Suffix{"kFLOP/s", kilo}, Suffix{"MFLOP/s", mega},
                                      Suffix{"GFLOP/s", giga}, Suffix{"TFLOP/s", tera}, Suffix{"PFLOP/s", peta},
                                      Suffix{"EFLOP/s", exa}};
constexpr std::array frequency_suffixes{Suffix{"Hz"}, Suffix{"kHz", kilo}, Suffix{"MHz", mega}, Suffix{"GHz", giga},
                                        Suffix{"THz", tera}};

struct Dimension {
  Unit unit;
  const char* noun;
  const char* example;
  const char* stored;  ///< what the integer counts, in words
  std::span<const Suffix> suffixes;
};
constexpr std::array length_suffixes{Suffix{"um"}, Suffix{"mm", kilo}, Suffix{"cm", 10 * kilo, 1, false}};
constexpr std::array power_suffixes{Suffix{"mW"}, Suffix{"W", kilo}, Suffix{"kW", mega}, Suffix{"MW", giga}};
constexpr std::array dimensions{
    Dimension{Unit::time, "time", "500 ns", "picoseconds", time_suffixes},
    Dimension{Unit::bytes, "size", "96 GiB", "bytes", bytes_suffixes},
    Dimension{Unit::bandwidth, "bandwidth", "150 GB/s", "bytes per second", bandwidth_suffixes},
    Dimension{Unit::compute, "compute rate", "312 TFLOP/s", "FLOP per second", compute_suffixes},
    Dimension{Unit::frequency, "frequency", "1410 MHz", "Hz", frequency_suffixes},
    Dimension{Unit::length, "length", "25.5 mm", "micrometres", length_suffixes},
    Dimension{Unit::power, "power", "700 W", "milliwatts", power_suffixes}};

const Dimension& dimension_of(Unit unit) { return dimensions[static_cast<std::size_t>(unit)]; }

const Suffix* find_suffix(std::span<const Suffix> suffixes, std::string_view text) {
  const std::string unit = respelled(text);
  for (const Suffix& suffix : suffixes) {
    if (suffix.text == unit) return &suffix;
  }
  return nullptr;
}

std::string expected(Unit unit) { return "expected " + quantity_example(unit); }

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// A decimal number as digits x 10^exponent, without trailing zeros in the digits.
struct Decimal {
  bool negative = false;
  Wide digits = 0;
  int significant = 0;
  int exponent = 0;
};

constexpr int max_digits = 19;     // 10^19 x the largest numerator stays inside 128 bits
constexpr int max_exponent = 100;  // far beyond any unit; keeps the arithmetic below from overflowing

/// Consumes a number from the front of `text`; false when there is none.
bool take_decimal(std::string_view& text, Decimal& decimal) {
  std::size_t i = 0;
  int zeros = 0, point_shift = 0, count = 0;
  bool point = false;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) decimal.negative = text[i++] == '-';
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && !point && count > 0 && i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9') {
      point = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    ++count;
    if (point) --point_shift;
    if (c == '0') {
      ++zeros;
      continue;
    }
    for (; zeros > 0; --zeros) {
      if (decimal.significant > 0 && decimal.significant++ < max_digits) decimal.digits *= 10;
    }
    if (decimal.significant++ < max_digits) decimal.digits = decimal.digits * 10 + static_cast<Wide>(c - '0');
  }
  if (count == 0) return false;
  decimal.exponent = point_shift + zeros;
  // "1e3" only when digits follow the e: no unit starts with one.
  std::size_t j = i;
  if (j < text.size() && (text[j] == 'e' || text[j] == 'E')) {
    ++j;
    const bool negative = j < text.size() && text[j] == '-';
    if (j < text.size() && (text[j] == '-' || text[j] == '+')) ++j;
    int exponent = 0;
    const std::size_t first = j;
    for (; j < text.size() && text[j] >= '0' && text[j] <= '9'; ++j)
      exponent = std::min(exponent * 10 + (text[j] - '0'), 1000);
    if (j > first) {
      decimal.exponent += negative ? -exponent : exponent;
      i = j;
    }
  }
  text.remove_prefix(i);
  return true;
}

enum class Scaled { exact, inexact, too_large };

/// decimal x numerator/denominator as an integer.
Scaled scale(const Decimal& decimal, const Suffix& suffix, std::int64_t& result) {
  if (decimal.digits == 0) {
    result = 0;
    return Scaled::exact;
  }
  if (decimal.significant > max_digits) return Scaled::inexact;
  constexpr auto limit = static_cast<Wide>(std::numeric_limits<std::int64_t>::max());
  Wide value = decimal.digits * static_cast<Wide>(suffix.numerator);
  int exponent = decimal.exponent;
  for (; exponent < 0; ++exponent) {
    if (value % 10 != 0) return Scaled::inexact;
    value /= 10;
  }
  for (; exponent > 0; --exponent) {
    if (value > limit)
      return Scaled::too_large;  // at most 8 times too large by the denominator: still out of range below
    value *= 10;
  }
  if (value % static_cast<Wide>(suffix.denominator) != 0) return Scaled::inexact;
  value /= static_cast<Wide>(suffix.denominator);
  if (value > limit) return Scaled::too_large;
  result = decimal.negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  return Scaled::exact;
}

std::string bits_problem(std::string_view text, const Decimal& number, const Suffix& bits, Unit wanted) {
  std::int64_t bytes = 0;
  if (wanted != Unit::bytes || scale(number, bits, bytes) != Scaled::exact)
    return fmt::format("\"{}\" is a size in bits, {}", text, expected(wanted));
  return fmt::format("\"{}\" is a size in bits, expected a size in bytes: \"{}\"", text,
                     format_quantity(bytes, Unit::bytes));
}

std::string unit_problem(std::string_view text, const Decimal& number, std::string_view unit, Unit wanted) {
  if (unit.empty()) return fmt::format("\"{}\" has no unit, {}", text, expected(wanted));
  for (const Dimension& other : dimensions) {
    if (find_suffix(other.suffixes, unit) != nullptr)
      return fmt::format("\"{}\" is a {}, {}", text, other.noun, expected(wanted));
  }
  if (const Suffix* bits = find_suffix(bits_suffixes, unit)) return bits_problem(text, number, *bits, wanted);
  const std::string meant = units_meant(unit, unit_suffixes(wanted));
  return fmt::format("\"{}\" has the unknown unit \"{}\"{}, {}", text, unit,
                     meant.empty() ? "" : " (did you mean " + meant + "?)", expected(wanted));
}

}  // namespace

std::string quantity_name(Unit unit) { return dimension_of(unit).noun; }

std::string quantity_unit(Unit unit) { return std::string(dimension_of(unit).suffixes.front().text); }

std::vector<std::string> unit_suffixes(Unit unit) {
  std::vector<std::string> texts;
  for (const Suffix& suffix : dimension_of(unit).suffixes) texts.emplace_back(suffix.text);
  return texts;
}

std::string quantity_example(Unit unit) {
  return fmt::format("a {} such as \"{}\"", dimension_of(unit).noun, dimension_of(unit).example);
}

std::optional<std::int64_t> parse_quantity(std::string_view text, Unit unit, std::string& problem) {
  std::string_view rest = trim(text);
  Decimal decimal;
  if (!take_decimal(rest, decimal)) {
    problem = fmt::format("\"{}\" does not start with a number, {}", text, expected(unit));
    return std::nullopt;
  }
  rest = trim(rest);
  const Dimension& dimension = dimension_of(unit);
  const Suffix* suffix = find_suffix(dimension.suffixes, rest);
  if (suffix == nullptr) {
    problem = unit_problem(text, decimal, rest, unit);
    return std::nullopt;
  }
  std::int64_t value = 0;
  const bool absurd = decimal.exponent > max_exponent || decimal.exponent < -max_exponent;
  const Scaled scaled = absurd && decimal.digits != 0 ? (decimal.exponent > 0 ? Scaled::too_large : Scaled::inexact)
                                                      : scale(decimal, *suffix, value);
  if (scaled == Scaled::exact) return value;
  if (scaled == Scaled::inexact) {
    problem = fmt::format("\"{}\" is not a whole number of {}", text, dimension.stored);
  } else {
    problem = fmt::format("\"{}\" is too large, at most {} {}", text, std::numeric_limits<std::int64_t>::max(),
                          dimension.stored);
  }
  return std::nullopt;
}

std::string format_quantity(std::int64_t value, Unit unit) {
  const Dimension& dimension = dimension_of(unit);
  const Suffix* best = &dimension.suffixes.front();
  if (value == 0) return fmt::format("0 {}", best->text);
  // The shortest whole number wins: "80 GB", "96 GiB", "2039 GB/s". Decimal prefixes come first and win a tie.
  for (const Suffix& suffix : dimension.suffixes) {
    if (suffix.printed && value % suffix.numerator == 0 && suffix.numerator > best->numerator) {
      const bool binary = suffix.text.find('i') != std::string_view::npos;
      if (!binary || best->numerator == 1 || best->text.find('i') != std::string_view::npos) best = &suffix;
    }
  }
  return fmt::format("{} {}", value / best->numerator, best->text);
}

std::string format_rounded(std::int64_t value, Unit unit) {
  const Dimension& dimension = dimension_of(unit);
  const auto amount = static_cast<double>(value);
  const Suffix* best = &dimension.suffixes.front();
  for (const Suffix& suffix : dimension.suffixes) {
    const bool decimal = suffix.printed && suffix.text.find('i') == std::string_view::npos;
    // 999.5 of the smaller unit would be printed as 1000: it belongs to the larger one.
    if (decimal && std::abs(amount) >= 0.9995 * static_cast<double>(suffix.numerator) &&
        suffix.numerator > best->numerator)
      best = &suffix;
  }
  if (best->numerator == 1) return fmt::format("{} {}", value, best->text);
  const double scaled = amount / static_cast<double>(best->numerator);
  const double size = std::abs(scaled);
  return fmt::format("{:.{}f} {}", scaled, size < 9.995 ? 2 : size < 99.95 ? 1 : 0, best->text);
}

}  // namespace tessera::config
