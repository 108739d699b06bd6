// Programs of other cases whose devices share their memories' bandwidth between operators and messages.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "program_case.hpp"
#include "tessera/base/random.hpp"

namespace tessera::test {

/// Case `index`: memories that are slower than a link, as fast, or faster, in packets of some size.
[[nodiscard]] inline ProgramCase sharing_memory(std::uint64_t index, ProgramCase made) {
  const KeyedRandom random(index, random_stream("shared memory"));
  constexpr std::array<std::int64_t, 5> percent{30, 100, 170, 200, 900};
  constexpr std::array<std::int64_t, 4> packets{32, 64, 100, 1000};
  const auto& links = made.machine.network.links;  // of one device, none
  const std::int64_t link = links.empty() ? second / byte_time : links.front().bandwidth.value();
  made.machine.device.memory_bandwidth = BytesPerSecond{1 + link / 100 * percent[random.below(0, percent.size())]};
  made.program.memory_packet = packets[random.below(1, packets.size())];
  made.program.channels = 0;
  return made;
}

}  // namespace tessera::test
