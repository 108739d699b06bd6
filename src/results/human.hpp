// Numbers for people, in the summary.
#pragma once

#include <cstdint>
#include <string>

#include "tessera/base/time.hpp"

namespace tessera::results {

/// "13.75 s", "287.0 us": four significant digits, for the figure that is quoted.
[[nodiscard]] std::string precise_time(Time time);
/// "4.12 s", "1.20 TB": three significant digits.
[[nodiscard]] std::string short_time(Time time);
[[nodiscard]] std::string short_bytes(std::int64_t bytes);
[[nodiscard]] std::string short_bytes(double bytes);  ///< of a sum, beyond 2^63 as well
/// "131,072" below a million, "12.3 M" above.
[[nodiscard]] std::string short_count(double count);
/// "51.2 %"; "-" when there is nothing to compare with.
[[nodiscard]] std::string percent(double part, double whole);
/// "78.1", "1,234": a rate a second.
[[nodiscard]] std::string rate_text(double rate);
/// A line of the summary with two figures and their names.
[[nodiscard]] std::string pair_line(const std::string& left, const std::string& left_value, const std::string& right,
                                    const std::string& right_value);

}  // namespace tessera::results
