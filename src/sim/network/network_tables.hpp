// What all network components of a rank share: speeds and numbering, computed once from the machine.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/rate.hpp"
#include "tessera/machine/routes.hpp"
#include "tessera/pdes/event.hpp"

namespace tessera::sim {

/// Components: the devices, then the output links of the switches in order of link.
class NetworkTables {
 public:
  /// `ways`: what the program binds on the network, which outlives the tables.
  explicit NetworkTables(const machine::Network& network, machine::BoundWays ways = {});

  /// Destinations are told of packets that come as those are that pass them on, not of whole messages alone.
  void tell_destinations_of_packets() { tells_packets_ = true; }
  [[nodiscard]] bool tells_packets() const { return tells_packets_; }
  /// Whether a message to `destination` ends behind the link, and only that it is there is told there.
  [[nodiscard]] bool ends_behind(machine::LinkId link, machine::NodeId destination) const {
    return !tells_packets_ && network_->links[link].to == destination;
  }

  static constexpr std::int64_t most_packets = 0x7FFF'FFFF;  ///< of a message

  [[nodiscard]] const machine::Network& network() const { return *network_; }
  [[nodiscard]] machine::Routes routes() const { return {*network_, ways_}; }
  [[nodiscard]] const machine::BoundWays& bound_ways() const { return ways_; }
  [[nodiscard]] std::int64_t packet() const { return network_->packet.value(); }
  /// Packets of a message; one without bytes is one packet without bytes. More than 2^31 - 1: InputError.
  [[nodiscard]] std::uint32_t packets(std::int64_t bytes) const {
    const std::int64_t count = bytes == 0 ? 1 : by_packet_.quotient(bytes - 1) + 1;
    if (count > most_packets) [[unlikely]]
      refuse_packets(bytes);
    return static_cast<std::uint32_t>(count);
  }
  [[nodiscard]] const Rate& rate(machine::LinkId link) const { return rates_[rate_of_link_[link]]; }
  [[nodiscard]] const machine::Link& link(machine::LinkId link) const { return network_->links[link]; }

  [[nodiscard]] pdes::ComponentId components() const { return components_; }
  [[nodiscard]] bool is_device(machine::NodeId node) const { return node < network_->devices; }
  /// The component that serves a link: the device that it starts at, or the switch output itself.
  [[nodiscard]] pdes::ComponentId server(machine::LinkId link) const {
    return link < first_switch_link_ ? network_->links[link].from : network_->devices + (link - first_switch_link_);
  }
  /// The link that a component >= devices serves.
  [[nodiscard]] machine::LinkId switch_link(pdes::ComponentId component) const {
    return first_switch_link_ + (component - network_->devices);
  }
  /// The component at which a message that was sent over `link` arrives. Throws InternalError when there is no way.
  [[nodiscard]] pdes::ComponentId behind(machine::LinkId link, const machine::Connection& connection) const;

 private:
  [[noreturn]] void refuse_packets(std::int64_t bytes) const;

  const machine::Network* network_;
  machine::BoundWays ways_;
  Divisor by_packet_;
  std::vector<Rate> rates_;  // each once, so that they stay in the cache
  std::vector<std::uint32_t> rate_of_link_;
  machine::LinkId first_switch_link_ = 0;
  bool tells_packets_ = false;
  pdes::ComponentId components_ = 0;
};

}  // namespace tessera::sim
