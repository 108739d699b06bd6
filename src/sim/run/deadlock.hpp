// A run that is out of events while devices wait.
#pragma once

#include <string>
#include <vector>

#include "tessera/base/comm.hpp"

namespace tessera::sim {

/// What one device waits for.
struct DeviceWaits {
  std::uint32_t device = 0;
  std::vector<std::string> texts;  ///< one a stream
};

/// Every rank passes what its own devices wait for; throws the same InfeasibleError on all of them when any does.
void refuse_deadlock(const std::vector<DeviceWaits>& waits, Communicator& comm);

}  // namespace tessera::sim
