#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "problems.hpp"

namespace tessera::program {
namespace {

using Kind = TrafficKey::Kind;

/// One end of a channel: what a stream sends to, or receives from, one device there.
struct End {
  DeviceId from, to;
  std::uint32_t channel;
  const Sequence* sequence;

  [[nodiscard]] bool receives() const { return sequence->key.kind == Kind::receive; }
  [[nodiscard]] auto way() const { return std::tie(from, to, channel); }
};

std::vector<End> ends_of(const Program& program, const std::vector<Sequence>& sequences) {
  std::vector<End> ends;
  for (const Sequence& sequence : sequences) {
    const DeviceId peer = program.devices[sequence.device].peers[sequence.key.slot];
    const bool sends = sequence.key.kind == Kind::send;
    ends.push_back({sends ? sequence.device : peer, sends ? peer : sequence.device, sequence.key.channel, &sequence});
  }
  std::stable_sort(ends.begin(), ends.end(), [](const End& a, const End& b) {
    return std::tuple(a.from, a.to, a.channel, a.receives()) < std::tuple(b.from, b.to, b.channel, b.receives());
  });
  return ends;
}

std::string lonely(const End& end) {
  const std::int64_t count = end.sequence->digest.length;
  const std::string size =
      bytes_text(end.sequence->at(0).bytes) + (count > 1 ? fmt::format(" ({})", times_text(count)) : "");
  if (end.receives()) {
    return fmt::format("device {} receives {} from device {} on channel {}, but device {} sends nothing to it there",
                       end.to, size, end.from, end.channel, end.from);
  }
  return fmt::format("device {} sends {} to device {} on channel {}, but device {} receives nothing from it there",
                     end.from, size, end.to, end.channel, end.to);
}

std::string unlike(const End& sender, const End& receiver) {
  const Sequence& sent = *sender.sequence;
  const Sequence& received = *receiver.sequence;
  const std::int64_t at = first_difference(sent, received);
  const std::string way = fmt::format("device {} to device {} on channel {}", sender.from, sender.to, sender.channel);
  if (at < sent.digest.length && at < received.digest.length) {
    return fmt::format("{}: message {} is sent with {}, but received with {}", way, at + 1,
                       bytes_text(sent.at(at).bytes), bytes_text(received.at(at).bytes));
  }
  return fmt::format("{}: sent {}, received {}", way, times_text(sent.digest.length),
                     times_text(received.digest.length));
}

void check_way(const std::vector<End>& ends, std::size_t begin, std::size_t end, Problems& problems) {
  std::size_t receiver = begin;
  while (receiver < end && !ends[receiver].receives()) ++receiver;
  const auto several = [&](std::size_t first, std::size_t last, const char* verb, DeviceId device) {
    if (last - first < 2) return false;
    problems.add(
        fmt::format("device {} {} on channel {} in streams {} and {}: the order would depend on time, "
                    "give each stream its own channel",
                    device, verb, ends[first].channel, ends[first].sequence->stream, ends[first + 1].sequence->stream));
    return true;
  };
  const std::string sends = fmt::format("sends to device {}", ends[begin].to);
  const std::string receives = fmt::format("receives from device {}", ends[begin].from);
  if (several(begin, receiver, sends.c_str(), ends[begin].from)) return;
  if (several(receiver, end, receives.c_str(), ends[begin].to)) return;
  if (end - begin == 1) return problems.add(lonely(ends[begin]));
  if (ends[begin].sequence->digest == ends[receiver].sequence->digest) return;
  problems.add(unlike(ends[begin], ends[receiver]));
}

}  // namespace

Problems check_channels(const Program& program, ProgramTraffic& traffic) {
  Problems problems;
  const std::vector<Sequence> sequences = sequences_of(program, traffic, {Kind::send, Kind::receive});
  const std::vector<End> ends = ends_of(program, sequences);
  for (std::size_t begin = 0, end = 0; begin < ends.size(); begin = end) {
    while (end < ends.size() && ends[end].way() == ends[begin].way()) ++end;
    check_way(ends, begin, end, problems);
  }
  return problems;
}

}  // namespace tessera::program
