// In which order blocks can be worked off so that nothing is walked twice.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/program/program.hpp"

namespace tessera::program {

/// The blocks that `entry` reaches, callers before callees, each once. InternalError when they recurse or call a block
/// that is not there.
[[nodiscard]] std::vector<BlockId> callers_first(const Program& program, BlockId entry);

/// A cycle of calls among all blocks, "a calls b calls a"; nothing when there is none. All callees must exist.
[[nodiscard]] std::optional<std::string> find_recursion(const Program& program);

/// "block 3 (\"layer forward\")".
[[nodiscard]] std::string block_text(const Program& program, BlockId block);

}  // namespace tessera::program
