#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "../memory_walk.hpp"
#include "problems.hpp"

namespace tessera::program {

namespace {

/// B that the streams release of a category for certain beyond what they have allocated, however they meet: the
/// greatest of a stream while all others hold what they hold at most, and of all together when they have ended.
Int128 missing(const std::vector<MemoryWalk>& walks, std::size_t category) {
  Int128 high = 0, net = 0;
  for (const MemoryWalk& walk : walks) {
    high += walk.high[category];
    net += walk.net[category];
  }
  Int128 lowest = net;
  for (const MemoryWalk& walk : walks) lowest = std::min(lowest, walk.low[category] + high - walk.high[category]);
  return std::max<Int128>(-lowest, 0);
}

}  // namespace

Problems check_memory(const Program& program) {
  Problems problems;
  std::map<std::vector<BlockId>, std::vector<MemoryWalk>> known;  // of devices that do the same
  for (DeviceId id = 0; id < program.devices.size(); ++id) {
    const DeviceProgram& device = program.devices[id];
    auto found = known.find(device.streams);
    if (found == known.end()) found = known.emplace(device.streams, stream_walks(program, device)).first;
    for (std::size_t category = 0; category < categories_of(program); ++category) {
      const Int128 bytes = missing(found->second, category);
      if (bytes == 0) continue;
      const auto shown = static_cast<std::int64_t>(std::min<Int128>(bytes, std::numeric_limits<std::int64_t>::max()));
      problems.add(fmt::format("device {} releases {} of {} more than it has allocated", id, bytes_text(shown),
                               name_of(program, static_cast<MemoryCategory>(category))));
    }
  }
  return problems;
}

}  // namespace tessera::program
