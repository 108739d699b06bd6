// What devices and switch outputs send to each other.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sim/network/packet_times.hpp"
#include "tessera/machine/routes.hpp"
#include "tessera/pdes/protocol.hpp"

namespace tessera::sim {

struct NetworkProtocol;

/// Which message: `sequence` counts those of one sender to one destination on one channel.
struct MessageName {
  machine::NodeId sender = 0;
  std::uint32_t channel = 0;
  std::uint32_t sequence = 0;
  bool operator==(const MessageName&) const = default;
};
/// Whose way a message takes.
[[nodiscard]] inline machine::Connection connection_of(const MessageName& name, machine::NodeId destination) {
  return {name.sender, destination, name.channel};
}

// Messages carry `waited_until`: a receiver that is there earlier waits for others until then, what follows is
// communication. Of a send it is when it was posted; in collectives and kernels, when the latest of those members
// joined on whom the sender's data depends.

/// Of a segment, only the first `packets` arrive as told.
struct Shortened {
  std::uint32_t generation = 0;
  std::uint32_t packets = 0;
};

/// Packets of one message that follow each other on a link: sent to arrive with the first one, at a node that forwards
/// them; or earlier, where it takes back part of what has been told of the message.
struct Segment {
  using protocol = NetworkProtocol;
  MessageName name;
  std::uint32_t generation = 0;  ///< with name and destination: unique on this link, so that an Amend can name it
  machine::NodeId destination = 0;
  machine::LinkId link = 0;  ///< they arrive over
  Time waited_until = 0;
  PacketTimes times;      ///< of the arrivals
  bool final = false;     ///< ends with the last packet of the message
  bool shortens = false;  ///< an earlier segment of the message, in place of an Amend:
  Shortened earlier;
  std::int64_t bytes = 0;  ///< of the whole message, for a destination whose memory writes what comes
};

/// Segments that go the same way from a link that several messages share, to the same component and output: each as if
/// it came by itself. They arrive with the first packet of any, or as early as what they take back of what has been
/// told.
struct Segments {
  using protocol = NetworkProtocol;
  static constexpr std::uint32_t most = 8;
  std::uint32_t count = 0;
  std::array<Segment, most> all;

  [[nodiscard]] std::span<Segment> span() { return {all.data(), count}; }
  [[nodiscard]] std::span<const Segment> span() const { return {all.data(), count}; }
};

/// Of deliveries that a ring tells of ahead (laws/rings): nothing is on its way for them in ports.
inline constexpr std::uint32_t told_by_takeover = 0x8000'0000U;

/// The last packet of a message is at its destination. Sent ahead, so an Amend may come before it.
struct Delivered {
  using protocol = NetworkProtocol;
  MessageName name;
  std::uint32_t generation = 0;
  Time waited_until = 0;
};

/// Takes back what was sent ahead: of that segment, only the first `packets` arrive as told, the others come as a later
/// segment. Overtakes the first packet that is taken back.
struct Amend {
  using protocol = NetworkProtocol;
  MessageName name;
  std::uint32_t generation = 0;
  machine::NodeId destination = 0;
  std::uint32_t packets = 0;
};

/// Whose way it takes; of several segments that of the first one, where all go the same way for the next hop.
[[nodiscard]] inline machine::Connection connection_of(const Segment& segment) {
  return connection_of(segment.name, segment.destination);
}
[[nodiscard]] inline machine::Connection connection_of(const Segments& segments) {
  return connection_of(segments.all[0]);
}
[[nodiscard]] inline machine::Connection connection_of(const Amend& amend) {
  return connection_of(amend.name, amend.destination);
}

/// An Amend that has yet to be sent.
struct TimedAmend {
  Time at = 0;      ///< from then on it may come
  Time before = 0;  ///< when the first packet would come that it takes back
  Amend amend;
};

/// A device or switch output to itself: the output `port` has sent what it had planned.
struct PortWake {
  using protocol = NetworkProtocol;
  std::uint32_t port = 0;
  std::uint32_t token = 0;  ///< only the latest one counts
};

/// A device to itself: a stream goes on.
struct StreamWake {
  using protocol = NetworkProtocol;
  std::uint32_t stream = 0;
  std::uint32_t token = 0;
};

/// A device to itself: its memory has moved something that others wait for (execution/shared_memory.hpp).
struct MemoryWake {
  using protocol = NetworkProtocol;
  std::uint32_t token = 0;  ///< only the latest one counts
};

/// A device to itself: one of its GPUs goes on (sim/gpu/kernel_run.hpp).
struct GpuCall {
  using protocol = NetworkProtocol;
  std::uint32_t memory = 0;
  std::uint32_t what = 0;
  std::uint32_t index = 0;
};

struct NetworkProtocol
    : pdes::Protocol<Segment, Delivered, Amend, PortWake, StreamWake, GpuCall, Segments, MemoryWake> {};

/// Of events that tell ahead of packets, when they will come or that they will not.
[[nodiscard]] constexpr bool tells_of_packets(std::uint16_t kind) {
  return kind == NetworkProtocol::kind_of<Segment> || kind == NetworkProtocol::kind_of<Segments> ||
         kind == NetworkProtocol::kind_of<Amend>;
}

/// How many events of each kind have been handled.
using EventCounts = std::array<std::int64_t, 8>;
static_assert(NetworkProtocol::kind_of<MemoryWake> + 1 == std::tuple_size_v<EventCounts>);

static_assert(pdes::fits_in_event<Delivered> && pdes::fits_in_event<Amend>);

}  // namespace tessera::sim
