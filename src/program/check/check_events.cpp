#include <fmt/core.h>

#include <map>

#include "problems.hpp"

namespace tessera::program {

Problems check_events(const Program& program, ProgramTraffic& traffic) {
  using Kind = TrafficKey::Kind;
  struct Counts {
    std::int64_t raised = 0, awaited = 0;
  };
  std::map<std::pair<DeviceId, std::uint32_t>, Counts> counts;
  for (const Sequence& sequence : sequences_of(program, traffic, {Kind::signal, Kind::wait})) {
    Counts& event = counts[{sequence.device, sequence.key.slot}];
    std::int64_t& count = sequence.key.kind == Kind::signal ? event.raised : event.awaited;
    count = saturating_add(count, sequence.digest.length);
  }
  Problems problems;
  for (const auto& [event, count] : counts) {
    if (count.awaited <= count.raised) continue;
    problems.add(fmt::format("device {} waits for event {} {}, but raises it {}", event.first, event.second,
                             times_text(count.awaited), count.raised == 0 ? "never" : times_text(count.raised)));
  }
  return problems;
}

}  // namespace tessera::program
