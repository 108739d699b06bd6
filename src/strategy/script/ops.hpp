// The ops that a step can have, and which keys belong to each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/program/program.hpp"

namespace tessera::strategy::script {

[[nodiscard]] std::vector<std::string> op_names();

/// The kind of a collective op.
[[nodiscard]] std::optional<program::CollectiveKind> collective_kind(const std::string& op);

/// True when the op's time counts as communication unless the step says otherwise.
[[nodiscard]] bool communicates(const std::string& op);

/// Reports keys of a step that its op does not take, and those that it lacks.
void check_keys(const config::Table& step, const std::string& op, config::Diagnostics& diagnostics);

}  // namespace tessera::strategy::script
