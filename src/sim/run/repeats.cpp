#include "sim/run/repeats.hpp"

#include <algorithm>

#include "tessera/program/steady.hpp"

namespace tessera::sim {

Time interval_of(const std::deque<OwnRecord>& records, Communicator& comm) {
  Time slowest = 0;
  for (const OwnRecord& record : records) slowest = std::max(slowest, program::steady_interval(record.get().marks));
  return comm.max(slowest);
}

}  // namespace tessera::sim
