#include "sim/execution/repeats.hpp"

#include <algorithm>

#include "tessera/program/steady.hpp"

namespace tessera::sim {

Time interval_of(const std::deque<DeviceRecord>& records, Communicator& comm) {
  Time slowest = 0;
  for (const DeviceRecord& record : records) slowest = std::max(slowest, program::steady_interval(record.marks));
  return comm.max(slowest);
}

}  // namespace tessera::sim
