// The plain server of a link: every packet by itself, an event or two each. All that laws make fast is judged by it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "sim/network/busy_period.hpp"
#include "sim/network/port.hpp"
#include "tessera/sim/network/arbitration.hpp"

namespace tessera::sim {

/// A packet that has come, or the one of its device's own that is offered.
struct QueuedPacket {
  PortTurn turn;
  MessageName name;
  machine::NodeId destination = 0;
  Time waited_until = 0;
  std::int64_t message_bytes = 0;  ///< of the whole message
  std::uint32_t bytes = 0;         ///< at most 1 GiB, as machine files say
  bool final = false;              ///< the last one of its message
  bool own = false;
  bool own_ends = false;  ///< of the device's own: the last one of what was posted
};
static_assert(sizeof(QueuedPacket) <= 64, "queues move many of them");

/// A packet that has begun in this picosecond: as long as that lasts, another one may still go before it.
struct BegunPacket {
  QueuedPacket packet;
  Time begun = 0;
  Time leaves = 0;
  BusyPeriod before;  ///< the server before it
  machine::LinkId latest_before = machine::no_link;
};

struct PacketPortState final : PortState {
  Injector own;
  std::deque<QueuedPacket> waiting;  ///< in the order of their turns
  std::int64_t waiting_bytes = 0;
  Time changed_at = 0;                        ///< when the queue changed last
  std::uint32_t next_ordinal = 0;             ///< of what comes
  BusyPeriod busy;                            ///< behind the last packet that has begun
  machine::LinkId latest = machine::no_link;  ///< the input that was served last
  std::optional<BegunPacket> begun;
  bool offered = false;     ///< a packet of the device's own waits, or is on its way out,
  Time own_leaves = never;  ///< and then it leaves the device at this time
  bool own_ends = false;    ///< with it, its message
  std::uint32_t token = 0;
  Time call_at = 0;
  bool call_pending = false;
  LinkCounts counts;
};

class PacketPort final : public Port {
 public:
  PacketPort(const NetworkTables& tables, machine::LinkId link, pdes::ComponentId self, PacketTrace* trace,
             std::shared_ptr<const PortArbitration> arbitration)
      : Port(tables, link, self, trace), arbitration_(std::move(arbitration)) {}

  [[nodiscard]] const LinkCounts& counts() const override { return state_.counts; }
  Injector::Ticket post(Time now, const OwnMessage& message, Injector::Ticket before, PortSink& sink) override;
  void flush(Time now, pdes::ComponentId source, PortSink& sink) override;
  bool arrive(Time now, pdes::ComponentId source, const Segment& segment, PortSink& sink) override;
  void wake(Time now, std::uint32_t token, PortSink& sink) override;
  [[nodiscard]] Time departure(std::uint32_t stream, std::uint32_t batch) const override;
  [[nodiscard]] Time next_announcement() const override;
  void finish(PortSink& sink) override;
  [[nodiscard]] std::unique_ptr<PortState> save() const override { return std::make_unique<PacketPortState>(state_); }
  void restore(const PortState& state) override { state_ = static_cast<const PacketPortState&>(state); }

  // What leaves is told when it is certain: nothing is taken back, nothing told together, and nobody has it for others.
  std::uint32_t arrive(Time now, pdes::ComponentId source, const Segments& segments, std::uint32_t taken_back,
                       PortSink& sink) override;
  bool amend(Time now, pdes::ComponentId source, const Amend& amend, PortSink& sink) override;
  void withhold_last(Time now, Injector::Ticket place, PortSink& sink) override;
  [[nodiscard]] bool may_amend(Time) const override { return false; }
  [[nodiscard]] bool reserved() const override { return false; }

 private:
  [[nodiscard]] Time free_at() const { return state_.busy.end(rate()); }
  void pass_moments_before(Time now, PortSink& sink);
  void offer();
  void queue(const QueuedPacket& packet);
  void serve(Time now, PortSink& sink);
  void begin_next(Time now);
  void put_back();
  void tell(PortSink& sink);
  void own_packet_left(Time now, PortSink& sink);
  void call_back(PortSink& sink);

  std::shared_ptr<const PortArbitration> arbitration_;
  PacketPortState state_;
};

/// Ports that serve packet by packet. An arbitration that there is not: InputError.
[[nodiscard]] MakePort packet_ports(const std::string& arbitration);

}  // namespace tessera::sim
