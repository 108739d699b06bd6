#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>

#include "../memory_walk.hpp"
#include "problems.hpp"

namespace tessera::program {

Problems check_memory(const Program& program) {
  Problems problems;
  std::map<BlockId, MemoryWalk> walks;  // by entry block
  for (DeviceId id = 0; id < program.devices.size(); ++id) {
    const std::vector<BlockId>& streams = program.devices[id].streams;
    if (streams.empty()) continue;
    auto found = walks.find(streams[0]);
    if (found == walks.end()) {
      found = walks.emplace(streams[0], memory_walks(program, streams[0])[streams[0]]).first;
    }
    for (std::size_t category = 0; category < categories_of(program); ++category) {
      const Int128 lowest = found->second.low[category];
      if (lowest >= 0) continue;
      const auto low = static_cast<std::int64_t>(std::max<Int128>(lowest, -std::numeric_limits<std::int64_t>::max()));
      problems.add(fmt::format("device {} releases {} of {} more than it has allocated", id, bytes_text(-low),
                               name_of(program, static_cast<MemoryCategory>(category))));
    }
  }
  return problems;
}

}  // namespace tessera::program
