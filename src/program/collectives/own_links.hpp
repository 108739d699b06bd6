// The links that the members of a group have to each other: what algorithms go by that fit themselves to a machine.
#pragma once

#include <string>
#include <vector>

#include "tessera/program/collective.hpp"

namespace tessera::program {

/// A live link from a member to another one that messages between the two take, and nobody else's.
struct OwnLink {
  std::uint32_t to = 0;  ///< rank
  BytesPerSecond bandwidth;
};

/// By rank, those of a member in order of the ranks that they lead to: one for each.
using OwnLinks = std::vector<std::vector<OwnLink>>;
[[nodiscard]] OwnLinks own_links_of(const Group& group, const machine::Machine& machine);
/// The same links, each led the other way.
[[nodiscard]] OwnLinks turned_round(const OwnLinks& links);

/// The ranks that each member is linked to both ways.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> neighbours_of(const OwnLinks& links);

/// A problem with a group whose members do not all reach each other over own links: "multitree needs ..."; empty when
/// they do.
[[nodiscard]] std::string check_own_links(const std::string& algorithm, const Group& group,
                                          const machine::Machine& machine);

}  // namespace tessera::program
