#include <fmt/core.h>

#include <map>

#include "event_balance.hpp"
#include "problems.hpp"

namespace tessera::program {
namespace {

using Kind = TrafficKey::Kind;

struct Counts {
  std::int64_t raised = 0, awaited = 0;
  std::map<std::uint32_t, std::int64_t> raised_by;  ///< stream
};

/// What of an event is wrong although it is raised often enough: a stream that waits for what it raises itself, later.
void check_order(DeviceId device, std::uint32_t event, const Counts& count, const std::vector<BlockId>& streams,
                 EventBalances& balances, Problems& problems) {
  for (const auto& [stream, own] : count.raised_by) {
    const EventBalances::ByEvent& of_stream = balances.of(streams[stream]);
    const auto found = of_stream.find(event);
    const std::int64_t others = count.raised - own;
    if (found == of_stream.end() || found->second.lowest + others >= 0) continue;
    const std::string rest = others == 0 ? "only it" : fmt::format("others raise {} and only it", times_text(others));
    problems.add(fmt::format("device {}, stream {} waits for event {}, which {} raises later: it would wait for ever",
                             device, stream, event, rest));
  }
}

}  // namespace

Problems check_events(const Program& program, ProgramTraffic& traffic) {
  std::map<std::pair<DeviceId, std::uint32_t>, Counts> counts;
  for (const Sequence& sequence : sequences_of(program, traffic, {Kind::signal, Kind::wait})) {
    Counts& event = counts[{sequence.device, sequence.key.slot}];
    const bool raises = sequence.key.kind == Kind::signal;
    std::int64_t& count = raises ? event.raised : event.awaited;
    count = saturating_add(count, sequence.digest.length);
    if (raises) event.raised_by[sequence.stream] = sequence.digest.length;
  }
  Problems problems;
  EventBalances balances(program);
  for (const auto& [event, count] : counts) {
    if (count.awaited <= count.raised) {
      check_order(event.first, event.second, count, program.devices[event.first].streams, balances, problems);
      continue;
    }
    problems.add(fmt::format("device {} waits for event {} {}, but raises it {}", event.first, event.second,
                             times_text(count.awaited), count.raised == 0 ? "never" : times_text(count.raised)));
  }
  return problems;
}

}  // namespace tessera::program
