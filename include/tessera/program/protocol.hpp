// How a communication library moves the data of a collective's steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/base/quantities.hpp"
#include "tessera/base/time.hpp"

namespace tessera::program {

/// NCCL's LL, LL128 and Simple, and the like: the less a step waits, the more of the wire is flags instead of data.
struct Protocol {
  std::string name;
  std::string algorithm;  ///< of which it is one; empty: of all those that have none of their own
  double payload = 1;     ///< of the bytes on the wire, the share that is data
  /// Data that a device moves in a second, at most, in a group within a node, and over several; 0: as much as links
  /// carry.
  BytesPerSecond most{}, most_across{};
  Time start = 0;  ///< ps, before the first step
  /// ps from one member to the next within a node, and across nodes, without the time of the data. What the links' own
  /// latencies lack of it is a pause of the receiver.
  Time step = 0, step_across = 0;

  bool operator==(const Protocol&) const = default;
};
/// Those of a library. Of an algorithm's own ones, or else of those of all, each collective takes the fastest.
using Protocols = std::vector<Protocol>;

/// A table of [[collectives.protocols]].
[[nodiscard]] const config::Schema<Protocol>& protocol_schema();

}  // namespace tessera::program
