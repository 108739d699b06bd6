// Ranges and literals that several kinds of fields share.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tessera/base/config.hpp"

namespace tessera::config {

// Words about units, kept beside the parser of quantities (quantity.cpp).
[[nodiscard]] std::string quantity_name(Unit unit);     ///< "bandwidth"
[[nodiscard]] std::string quantity_unit(Unit unit);     ///< "B/s"
[[nodiscard]] std::string quantity_example(Unit unit);  ///< "a bandwidth such as \"150 GB/s\""

namespace detail {

/// A closed range, either end of which may be open.
template <class V>
struct Bounds {
  std::optional<V> minimum, maximum;

  [[nodiscard]] bool contain(const V& value) const {
    return (!minimum || value >= *minimum) && (!maximum || value <= *maximum);
  }

  template <class Print>
  [[nodiscard]] std::string describe(const Print& print) const {
    if (minimum && maximum) return print(*minimum) + " to " + print(*maximum);
    if (minimum) return "at least " + print(*minimum);
    return maximum ? "at most " + print(*maximum) : "";
  }

  template <class Print>
  [[nodiscard]] std::string complain(const std::string& value, const Print& print) const {
    return value + " is out of range, allowed: " + describe(print);
  }
};

[[nodiscard]] std::string print_integer(std::int64_t value);
[[nodiscard]] std::optional<std::int64_t> decode_integer(const Value& value, const Bounds<std::int64_t>& bounds,
                                                         std::string& problem);
/// A value written in a declaration, as TOML ("8", "[1, 2]", "{}"); throws InternalError when it is none.
[[nodiscard]] Value parse_literal(const std::string& key, const std::string& text);

}  // namespace detail
}  // namespace tessera::config
