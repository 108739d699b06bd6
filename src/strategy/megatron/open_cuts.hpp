// Cuts of which something is left open: all combinations, and the fastest of them.
#pragma once

#include <string>
#include <vector>

#include "cut.hpp"

namespace tessera::strategy::megatron {

/// What may be put for the open keys.
struct OpenCuts {
  std::vector<std::string> keys;    ///< that are open
  std::vector<Options> candidates;  ///< all that this machine, model and batch accept, data and schedule resolved,
                                    ///< in the order of their keys' values, of a list in the list's; each program once
  bool is_cut_off = false;          ///< time for the search was over before all were listed
};

/// Expects a table that leaves something open. Problems go to `diagnostics`, and then the result is of no use.
[[nodiscard]] OpenCuts open_cuts(const config::Table& table, const Job& job, config::Diagnostics& diagnostics);

/// What is wrong with a list that is too long, in which candidates are missing; empty: nothing.
[[nodiscard]] std::string too_many(const OpenCuts& cuts);

/// StrategyKind::check of such a table: "10092 candidates for tensor, pipeline"
[[nodiscard]] std::string open_text(const config::Table& table, const Job& job, config::Diagnostics& diagnostics);

/// StrategyKind::search
[[nodiscard]] Searched search(const config::Table& table, const Job& job);

/// B: what the fullest device of a cut holds for certain, without writing its program. Never above what it needs.
[[nodiscard]] std::int64_t certain_bytes(const Cut& cut);

}  // namespace tessera::strategy::megatron
