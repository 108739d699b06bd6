// A batch of requests that was served: its columns in /summary, /phases, and its lines in the summary.
#pragma once

#include <string>

#include "h5/reader.hpp"
#include "tables.hpp"

namespace tessera::results {

/// Behind those of all runs, where RunResults::served has a value.
void add_served(Table<SummaryRow>& table, const RunResults& results);

/// Lines of the summary from the row of /summary; empty where no batch was served.
[[nodiscard]] std::string served_text(const h5::Rows& summary);

}  // namespace tessera::results
