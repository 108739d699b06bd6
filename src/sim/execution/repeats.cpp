#include "sim/execution/repeats.hpp"

#include <algorithm>

#include "tessera/base/messages.hpp"

namespace tessera::sim {
namespace {

void make_later(std::vector<Time>& ends, const std::vector<Time>& others) {
  ends.resize(std::max(ends.size(), others.size()), 0);
  for (std::size_t i = 0; i < others.size(); ++i) ends[i] = std::max(ends[i], others[i]);
}

}  // namespace

std::vector<Time> ends_of_repeats(const std::deque<DeviceRecord>& records, Communicator& comm) {
  std::vector<Time> own;
  for (const DeviceRecord& record : records) make_later(own, record.marks);
  if (comm.size() == 1) return own;
  std::vector<Time> ends;
  for (const std::vector<Time>& part : all_gather(comm, own)) make_later(ends, part);
  return ends;
}

}  // namespace tessera::sim
