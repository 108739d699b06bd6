// Where the members of a group stand whose nodes have as many each.
#pragma once

#include <string>

#include "tessera/program/collective.hpp"

namespace tessera::program {

/// Where a member stands: the group is `nodes` runs of `locals` members each.
struct Standing {
  std::uint32_t nodes, locals, node, local;

  explicit Standing(const CollectiveCall& call);
  [[nodiscard]] std::uint32_t rank_of(std::uint32_t at_node, std::uint32_t at_local) const {
    return at_node * locals + at_local;
  }
};

/// Why a group is no such runs, as CollectiveAlgorithm::check() says it of the algorithm of that name; empty: it is.
[[nodiscard]] std::string standing_problem(const std::string& algorithm, const Group& group,
                                           const machine::Machine& machine);

}  // namespace tessera::program
