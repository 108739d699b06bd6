// Ranges of an axis, linear, logarithmic, and powers of two.
#include <fmt/format.h>

#include <cmath>

#include "amounts.hpp"
#include "axes.hpp"

namespace tessera::experiment::sweep {
namespace {

using config::Diagnostics;
using config::Value;

enum class Scale { linear, log, log2 };

constexpr double beyond_axes = 1e18;  ///< a number of values that no axis may have, and 64 bits can count

struct Range {
  std::int64_t steps = 0;  ///< 0: not given
  Scale scale = Scale::linear;
};

const config::Schema<Range>& schema() {
  static const config::Schema<Range> declared = [] {
    config::Schema<Range> s("sweep.range", "Values of an axis from one to another, both included.");
    s.also_accept("from", "the first value, as the key wants it: 8, \"75 GB/s\"");
    s.also_accept("to", "the last value");
    s.integer("steps", &Range::steps, "how many values; 0: whole numbers one by one, powers of two")
        .at_least("0")
        .at_most("1000000")
        .otherwise("0");
    s.choice<Scale>("scale", &Range::scale, {{"linear", Scale::linear}, {"log", Scale::log}, {"log2", Scale::log2}},
                    "equal differences, equal ratios, or doubled from value to value")
        .otherwise("linear");
    return s;
  }();
  return declared;
}

/// The ends of a range: both whole numbers, both numbers, or both of one unit.
struct Ends {
  double from = 0, to = 0;  ///< of quantities the count
  std::optional<config::Unit> unit;
  bool whole = false;
};

std::optional<Ends> ends_of(const std::string& key, const Value& range, Diagnostics& diagnostics) {
  std::optional<Amount> ends[2];
  bool whole = true;
  for (int i = 0; i < 2; ++i) {
    const char* name = i == 0 ? "from" : "to";
    const Value* value = range.table()->find(name);
    if (value != nullptr && !std::holds_alternative<bool>(value->content())) ends[i] = amount_of(*value);
    if (!ends[i]) {
      diagnostics.error(value == nullptr ? range.where() : value->where(),
                        fmt::format("axis \"{}\": \"{}\" of a range has to be a number or a quantity", key, name));
      return std::nullopt;
    }
    whole = whole && std::holds_alternative<std::int64_t>(value->content());
  }
  if (ends[0]->unit != ends[1]->unit) {
    diagnostics.error(range.where(), fmt::format("axis \"{}\": a range is from and to values of one unit", key));
    return std::nullopt;
  }
  const double count = counts_in(ends[0]->unit);
  return Ends{ends[0]->value * count, ends[1]->value * count, ends[0]->unit, whole};
}

/// How many values, which is counted before there are any; 0 after an error.
std::int64_t steps_of(const std::string& key, const Value& range, const Range& how, const Ends& ends,
                      Diagnostics& diagnostics) {
  const auto refuse = [&](const std::string& what) {
    diagnostics.error(range.where(), fmt::format("axis \"{}\": {}", key, what));
    return std::int64_t{0};
  };
  if (how.scale != Scale::linear && (ends.from <= 0 || ends.to <= 0)) return refuse("equal ratios need values above 0");
  if (how.scale == Scale::log2) {
    if (how.steps > 0) return refuse("scale = \"log2\" doubles from value to value and takes no steps");
    if (ends.to < ends.from) return refuse("scale = \"log2\" goes up: \"to\" has to be \"from\" or more");
    return 1 + static_cast<std::int64_t>(std::floor(std::log2(ends.to / ends.from) + 1e-9));
  }
  if (how.steps > 0) {
    if (how.steps == 1 && ends.from != ends.to) return refuse("steps = 1 leaves no room for \"to\"");
    return how.steps;
  }
  if (how.scale == Scale::linear && ends.whole) {
    // Between the ends of 64 bits there are more than 64 bits count.
    const double all = 1 + std::abs(ends.to - ends.from);
    return all < beyond_axes ? static_cast<std::int64_t>(all) : static_cast<std::int64_t>(beyond_axes);
  }
  return refuse("a range of this kind needs steps");
}

/// To so many digits: 476 GB/s is what a person would have written, not 476220315590 B/s.
double rounded(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double step = std::pow(10.0, std::floor(std::log10(std::abs(value))) - (digits - 1));
  return std::round(value / step) * step;
}

/// Three, or more where steps are small beside the values.
int digits_for(const Range& how, const Ends& ends, std::int64_t steps) {
  const double whole = how.scale == Scale::log
                           ? std::abs(std::log(ends.to / ends.from))
                           : std::abs(ends.to - ends.from) / std::max(std::abs(ends.from), std::abs(ends.to));
  const double step = whole / static_cast<double>(std::max<std::int64_t>(1, steps - 1));
  return step > 0 ? std::clamp(2 + static_cast<int>(std::ceil(-std::log10(step))), 3, 15) : 15;
}

double at(const Range& how, const Ends& ends, std::int64_t step, std::int64_t steps) {
  if (how.scale == Scale::log2) return std::ldexp(ends.from, static_cast<int>(step));
  if (step == 0) return ends.from;
  if (step == steps - 1) return ends.to;
  const double part = static_cast<double>(step) / static_cast<double>(steps - 1);
  if (how.scale == Scale::log)
    return rounded(ends.from * std::pow(ends.to / ends.from, part), digits_for(how, ends, steps));
  const double value = ends.from + part * (ends.to - ends.from);
  return ends.whole ? value : rounded(value, digits_for(how, ends, steps));
}

}  // namespace

bool is_range(const Value& value) {
  const config::Table* table = value.table();
  return table != nullptr && (table->find("from") != nullptr || table->find("to") != nullptr);
}

std::vector<Value> range_of(const std::string& key, const Value& range, std::int64_t most, Diagnostics& diagnostics) {
  config::Diagnostics own;
  const Range how = schema().read(*range.table(), own);
  const bool readable = own.ok();
  diagnostics.add(own);
  const auto ends = readable ? ends_of(key, range, diagnostics) : std::nullopt;
  const std::int64_t steps = ends ? steps_of(key, range, how, *ends, diagnostics) : 0;
  std::vector<Value> values;
  if (steps > most) {
    diagnostics.error(range.where(), too_many_values(key, steps));
    return values;
  }
  for (std::int64_t step = 0; step < steps; ++step) {
    const double value = at(how, *ends, step, steps);
    const double nearest = std::round(value);
    if (ends->unit) {
      values.push_back({config::format_quantity(static_cast<std::int64_t>(nearest), *ends->unit), range.where()});
    } else if (!ends->whole) {
      values.push_back({value, range.where()});
    } else if (std::abs(value - nearest) > 1e-9 * std::abs(value)) {
      diagnostics.error(range.where(),
                        fmt::format("axis \"{}\": {} steps from {} to {} meet {:.6g}, which is no whole number", key,
                                    steps, ends->from, ends->to, value));
      return {};
    } else {
      values.push_back({static_cast<std::int64_t>(nearest), range.where()});
    }
  }
  return values;
}

const config::SchemaBase& range_schema() { return schema(); }

}  // namespace tessera::experiment::sweep
