// A partition as a person reads it: for each chip a line of runs of nodes by name.
#pragma once

#include <string>
#include <vector>

#include "package.hpp"

namespace tessera::strategy::mcm {

/// What a node of the problem is called in plans and messages: its name, or "#12" by its place in the graph where the
/// name is not its own or would be taken for something else.
class NodeNames {
 public:
  explicit NodeNames(const Package& package);
  [[nodiscard]] const std::string& of(NodeId node) const { return names_[node]; }
  [[nodiscard]] const std::vector<std::string>& all() const { return names_; }

 private:
  std::vector<std::string> names_;
};

/// By chip: "first..last, one, first..last". Runs follow the graph's order; nodes that are replicated are not named.
/// Chips at the end that nothing is on have no line.
[[nodiscard]] std::vector<std::string> partition_text(const Package& package, const Partition& partition);

/// The other way round, exactly. InputError, in a line: a node that the graph does not have, one that is on two chips
/// or on none, more lines than chips, and what find_violation() says.
[[nodiscard]] Partition read_partition(const Package& package, const std::vector<std::string>& lines);

}  // namespace tessera::strategy::mcm
