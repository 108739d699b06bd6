#include <fmt/core.h>

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
    for (int category = 0; category < memory_category_count; ++category) {
      const std::int64_t low = found->second.low[static_cast<std::size_t>(category)];
      if (low >= 0) continue;
      problems.add(fmt::format("device {} releases {} of {} more than it has allocated", id, bytes_text(-low),
                               name_of(static_cast<MemoryCategory>(category))));
    }
  }
  return problems;
}

}  // namespace tessera::program
