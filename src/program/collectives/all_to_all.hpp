// What each pair of members exchanges in an all-to-all, shared by the algorithms that have one. In the receive buffer
// the parts lie in order of their senders, all of one size.
#pragma once

#include "chunks.hpp"

namespace tessera::program {

/// The exchange with the member `distance` places further and the one `distance` places back.
void all_to_all_exchange(const CollectiveCall& call, std::uint32_t distance, Step& step);

/// The exchange with all other members at once, the next member first.
void all_to_all_at_once(const CollectiveCall& call, Step& step);

}  // namespace tessera::program
