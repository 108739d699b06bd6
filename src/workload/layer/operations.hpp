// What a stack runs besides, and the words for it.
#pragma once

#include <string>
#include <vector>

namespace tessera::workload {

struct OperatorSet;

namespace layer {

struct Context;

/// Puts those of that section behind its forward operators and before those of its input gradient.
void add_operations(const Context& context, const std::string& section, OperatorSet& set);

/// Choices of the keys `width`, `with` and `without`, `replaces`.
[[nodiscard]] std::vector<std::string> operation_widths();
[[nodiscard]] std::vector<std::string> operation_conditions();
[[nodiscard]] std::vector<std::string> replaceable_operators();

}  // namespace layer
}  // namespace tessera::workload
