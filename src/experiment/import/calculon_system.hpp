// A system of Calculon's as a machine.
#pragma once

#include "formats.hpp"

namespace tessera::experiment::importing {

struct CalculonNetworks {
  std::vector<std::int64_t> sizes;  ///< members of each tier, from the inside
};

/// Puts device, links and efficiencies into the draft, as a cluster of `processors` devices: the first network joins
/// those of a node, the second the nodes. What Calculon's model has and ours says otherwise becomes remarks.
[[nodiscard]] CalculonNetworks put_system(const config::Table& system, const std::string& datatype,
                                          std::int64_t processors, Draft& draft, config::Diagnostics& diagnostics);

}  // namespace tessera::experiment::importing
