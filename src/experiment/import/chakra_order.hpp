// Nodes of a trace in an order in which streams can carry them out.
#pragma once

#include <vector>

#include "chakra_trace.hpp"

namespace tessera::experiment::importing {

/// What is done on a device, and what it waits for.
struct OrderedNode {
  const ChakraNode* node = nullptr;
  std::vector<std::size_t> after;  ///< places in the order of those that it waits for, all before it
};

/// Nodes for which `is_done_at_once` holds take no time: who waits for them waits for what they wait for. The others
/// stand in an order in which each is behind what it waits for, and otherwise by number. A node that waits for one that
/// is not there, a number that is there twice and nodes that wait for each other are errors.
[[nodiscard]] std::vector<OrderedNode> in_order(const ChakraTrace& trace, bool (*is_done_at_once)(const ChakraNode&),
                                                config::Diagnostics& diagnostics);

}  // namespace tessera::experiment::importing
