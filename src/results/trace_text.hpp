// How names and times of a result file stand in a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "h5/reader.hpp"
#include "tessera/base/time.hpp"

namespace tessera::results {

[[nodiscard]] std::string json_text(const std::string& text);

/// The names of a table of /names, by index.
[[nodiscard]] std::vector<std::string> names(const h5::Reader& file, const std::string& table);

/// IoError where a row of a table names what is not there.
[[nodiscard]] const std::string& name_of(const h5::Rows& rows, std::int64_t index,
                                         const std::vector<std::string>& names);

/// Trace time is in microseconds; six decimals keep every picosecond.
[[nodiscard]] std::string microseconds(Time time);

/// Process 0 means the idle process to some viewers.
[[nodiscard]] inline std::int64_t process_of(std::int64_t device) { return device + 1; }

}  // namespace tessera::results
