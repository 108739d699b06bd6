// What the texts of a sweep's folder say, whatever file they come from.
#pragma once

#include <optional>
#include <string>

#include "tessera/results/sweep_folder.hpp"

namespace tessera::results {

/// A line of rows/*.jsonl; nothing where it is none.
[[nodiscard]] std::optional<SweepRow> parse_row(const std::string& line);

/// The text of sweep.json; `path` names it in messages. InputError when it is no such thing.
[[nodiscard]] SweepHead parse_head(const std::string& text, const std::string& path);

}  // namespace tessera::results
