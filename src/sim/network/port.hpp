// A link's server, as the node sees it that the link starts at.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <tuple>

#include "sim/network/injector.hpp"
#include "sim/network/network_tables.hpp"

namespace tessera::sim {

/// What a link has carried.
struct LinkCounts {
  Int128 bytes = 0;
  std::int64_t messages = 0;
  Time busy = 0;
  /// The most B of packets that had come and not begun service, at any time, just after all that happened then: what
  /// begins when it comes was never in the queue. Of the device's own messages only the packet that is offered next
  /// counts, from then on.
  std::int64_t peak_queue = 0;
  std::int64_t alone = 0;  ///< packets that were served by themselves although their message has more of them

  void add(const LinkCounts& other) {
    bytes += other.bytes;
    messages += other.messages;
    busy += other.busy;
    alone += other.alone;
    peak_queue = std::max(peak_queue, other.peak_queue);
  }
};

/// Where a packet stands in a queue: the earliest turn is served first. A device's own packets carry its own id.
struct PortTurn {
  Time time = 0;                    ///< when it came
  pdes::ComponentId component = 0;  ///< it came from
  machine::LinkId link = 0;         ///< it came over; of own packets the port's own
  std::uint32_t ordinal = 0;        ///< what came over one link at one time stands in its order
  [[nodiscard]] bool operator<(const PortTurn& other) const {
    if (time != other.time) return time < other.time;
    if (component != other.component) return component < other.component;
    if (link != other.link) return link < other.link;
    return static_cast<std::int32_t>(ordinal - other.ordinal) < 0;
  }
};

class Port;

/// Where a port's announcements go. Times are of arrival behind the link; `wake` is a call back at that time.
class PortSink {
 public:
  virtual ~PortSink() = default;
  virtual void deliver(const Port& port, Time at, machine::NodeId destination, const Delivered& message) = 0;
  virtual void forward(const Port& port, Time at, const Segment& segment) = 0;
  /// Whether segments may be told together.
  [[nodiscard]] virtual bool takes_together() const = 0;
  virtual void forward_together(const Port& port, Time at, const Segments& segments) = 0;
  virtual void amend(const Port& port, Time at, const Amend& amend) = 0;
  virtual void wake(const Port& port, Time at, std::uint32_t token) = 0;
  /// The last packet of one of this device's messages leaves at `at`; that can no longer change.
  virtual void left(const OwnMessage& message, Time at) = 0;
};

/// Who is told what links have done when that can no longer change.
class PacketTrace {
 public:
  virtual ~PacketTrace() = default;
  /// Which packets left when, in order.
  virtual void packets_left(machine::LinkId link, const MessageName& name, machine::NodeId destination,
                            const PacketTimes& times) = 0;
};

/// A message to a device, in packets; its name and when it is posted are the caller's.
[[nodiscard]] OwnMessage message_of(const NetworkTables& tables, std::int64_t bytes, machine::NodeId destination);

/// All that changes in a port, as plain data.
struct PortState {
  PortState() = default;
  PortState(const PortState&) = default;
  PortState(PortState&&) = default;
  PortState& operator=(const PortState&) = default;
  PortState& operator=(PortState&&) = default;
  virtual ~PortState() = default;
};

/// The server of one link, with the queue before it and the line of its device's own messages. It tells what leaves:
/// of a message, each packet to a node that forwards it, and the last one to its destination.
///
/// `now` is the time of the event that is handled, `source` the component that made it: all that becomes known later
/// has a greater (time, component).
class Port {
 public:
  /// `self`: the component that serves the link. `trace` may be null.
  Port(const NetworkTables& tables, machine::LinkId link, pdes::ComponentId self, PacketTrace* trace)
      : tables_(&tables), trace_(trace), link_(link), self_(self) {}
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  Port(Port&&) = default;
  Port& operator=(Port&&) = default;
  virtual ~Port() = default;

  [[nodiscard]] machine::LinkId link() const { return link_; }
  [[nodiscard]] virtual const LinkCounts& counts() const = 0;

  /// Puts a message of this device in line; `before` and what is returned: see Injector::post. It is served from
  /// flush() on, which has to come before anything else happens to the port.
  virtual Injector::Ticket post(Time now, const OwnMessage& message, Injector::Ticket before, PortSink& sink) = 0;
  virtual void flush(Time now, pdes::ComponentId source, PortSink& sink) = 0;
  /// The last packet of a message that was posted is not to be sent: it comes as a message of its own later. Before its
  /// turn, and before flush(), as post.
  virtual void withhold_last(Time now, Injector::Ticket place, PortSink& sink) = 0;
  /// False: the segment shortens another one that has not come.
  virtual bool arrive(Time now, pdes::ComponentId source, const Segment& segment, PortSink& sink) = 0;
  /// All of them but those that have been taken back. What is returned: those of them that shorten another one that has
  /// not come, in the order of bits.
  virtual std::uint32_t arrive(Time now, pdes::ComponentId source, const Segments& segments, std::uint32_t taken_back,
                               PortSink& sink) = 0;
  /// False: nothing that has come is meant.
  virtual bool amend(Time now, pdes::ComponentId source, const Amend& amend, PortSink& sink) = 0;
  virtual void wake(Time now, std::uint32_t token, PortSink& sink) = 0;

  /// When all messages of a stream of this device (of one of its batches, or of `any_batch`) will have left, as far as
  /// known; `never` when that is not known yet. Messages that were reported by PortSink::left are not included.
  [[nodiscard]] virtual Time departure(std::uint32_t stream, std::uint32_t batch) const = 0;
  /// When it announces something next although nothing new comes, or earlier; `never` when it has nothing left.
  [[nodiscard]] virtual Time next_announcement() const = 0;
  /// Whether something new at `now` or later could change what it has announced.
  [[nodiscard]] virtual bool may_amend(Time now) const = 0;
  /// Everything has been sent: completes the counts.
  virtual void finish(PortSink& sink) = 0;

  /// Whether somebody has it for messages that have no events (NetworkEnvironment::reservations).
  [[nodiscard]] virtual bool reserved() const = 0;
  [[nodiscard]] virtual std::unique_ptr<PortState> save() const = 0;
  /// Of a port of the same kind.
  virtual void restore(const PortState& state) = 0;

 protected:
  [[nodiscard]] const Rate& rate() const { return tables_->rate(link_); }
  [[nodiscard]] Time latency() const { return tables_->link(link_).latency.value(); }

  const NetworkTables* tables_;
  PacketTrace* trace_;
  machine::LinkId link_;
  pdes::ComponentId self_;
};

/// Makes the port of a link, which the component serves.
using MakePort = std::function<std::unique_ptr<Port>(const NetworkTables& tables, machine::LinkId link,
                                                     pdes::ComponentId self, PacketTrace* trace)>;

}  // namespace tessera::sim
