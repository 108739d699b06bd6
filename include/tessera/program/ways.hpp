// Rules that choose the ways of messages, for Program::ways.
#pragma once

#include <vector>

#include "tessera/base/quantities.hpp"
#include "tessera/machine/machine.hpp"
#include "tessera/machine/routes.hpp"

namespace tessera::program {

/// What is sent on a connection. Several of one connection count as one, of all their bytes: it has one way.
struct ConnectionLoad {
  machine::Connection connection;
  Bytes bytes{};
};

/// "unused-first": one connection after another, those of most bytes first (of equals the one named first), takes that
/// of its shortest ways, by links, which has the least use by those before it. Ways go over live links, through live
/// devices and switches. A link in use costs `factor`, another one 1; of ways that cost the same it is the one whose
/// links have the lower numbers, from the sender on. All shortest ways have as many links, so that any factor above 1
/// chooses the way with the fewest links in use, and 1 the one with the lowest numbers: links are counted, and no cost
/// is rounded.
///
/// WATOS (Wang et al.), section IV-E-2: "The shortest paths between corresponding stages are then determined.
/// Subsequently, we allocate these communication tasks to links in order of size. In the allocation process, we
/// prioritize unused links by giving a punishment factor to occupied links, and consequently avoid contention."
///
/// Returns the ways in the order in which their connections are named; none for what a device sends to itself. Throws
/// InputError for a factor below 1, a device that is not there, and where there is no way.
[[nodiscard]] std::vector<machine::BoundWay> unused_first(const machine::Machine& machine,
                                                          const std::vector<ConnectionLoad>& loads, double factor);

}  // namespace tessera::program
