// The one walk of a way: over which links a message goes. Whatever asks how it gets from one device to another asks
// here.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/machine/machine.hpp"

namespace tessera::machine {

/// The channel of messages that nobody binds to a way: those of collectives and kernels.
inline constexpr std::uint32_t unbound_channel = ~std::uint32_t{0};

/// Messages of one sender to one receiver on one channel. All of them take the same way.
struct Connection {
  NodeId from = 0;  ///< device
  NodeId to = 0;    ///< device
  std::uint32_t channel = unbound_channel;
  auto operator<=>(const Connection&) const = default;
};

/// A connection that takes these links instead of the machine's own way: the first one begins at its sender, each other
/// one where the one before ends, the last one ends at its receiver. No node is passed twice.
struct BoundWay {
  Connection connection;
  std::vector<LinkId> links;

  bool operator==(const BoundWay&) const = default;
};

/// The bound ways of a program as a table; without any it takes no memory, and routes do not look at it.
class BoundWays {
 public:
  BoundWays() = default;
  /// No two of one connection.
  explicit BoundWays(std::vector<BoundWay> ways);

  [[nodiscard]] bool empty() const { return ways_.empty(); }
  /// In order of their connections.
  [[nodiscard]] const std::vector<BoundWay>& all() const { return ways_; }
  /// The links of a connection; null where it is not bound.
  [[nodiscard]] const std::vector<LinkId>* of(const Connection& connection) const;
  /// Calls act(way) for all ways from one device to another, whatever their channels.
  template <class Act>
  void for_each_between(NodeId from, NodeId to, Act&& act) const {
    for (std::size_t i = first_of(from); i < first_of(from + 1); ++i)
      if (ways_[i].connection.to == to) act(ways_[i]);
  }

 private:
  [[nodiscard]] std::size_t first_of(NodeId sender) const {
    return sender < first_.size() ? first_[sender] : ways_.size();
  }

  std::vector<BoundWay> ways_;      // by connection
  std::vector<std::size_t> first_;  // of a sender, in ways_
};

/// A view of a network and of what a program binds on it, which both outlive it: as cheap to make and to copy as two
/// pointers.
class Routes {
 public:
  /// The machine's own ways, and of what is bound those instead.
  explicit Routes(const Network& network) : network_(&network) {}
  Routes(const Network& network, const BoundWays& ways) : network_(&network), ways_(ways.empty() ? nullptr : &ways) {}

  [[nodiscard]] const Network& network() const { return *network_; }

  /// The link over which what is at `node` leaves, of a message of this connection; no_link where it is there, where
  /// there is no way, and at nodes that are not on its way (of one that is not bound: at switches that are on no
  /// device's way to the receiver).
  [[nodiscard]] LinkId first(NodeId node, const Connection& connection) const {
    if (ways_ != nullptr) [[unlikely]] {
      if (const std::vector<LinkId>* links = ways_->of(connection)) return link_from(node, *links);
    }
    return network_->router->next(node, connection.to);
  }
  /// The same at its sender.
  [[nodiscard]] LinkId first(const Connection& connection) const { return first(connection.from, connection); }

  /// The link that follows another one on a connection's way; no_link behind the last one.
  [[nodiscard]] LinkId next(LinkId link, const Connection& connection) const {
    return first(network_->links[link].to, connection);
  }

  /// Calls act(link) for all links of a way, in order; for none when there is no way, and when the receiver is the
  /// sender.
  template <class Act>
  void for_each_link(const Connection& connection, Act&& act) const {
    for (LinkId link = first(connection); link != no_link; link = next(link, connection)) act(link);
  }

  /// The last link of a way; no_link when there is no way, and when the receiver is the sender.
  [[nodiscard]] LinkId last(const Connection& connection) const {
    LinkId found = no_link;
    for_each_link(connection, [&](LinkId link) { found = link; });
    return found;
  }

  /// All links of a way, in order; none as above. Throws InternalError when the router runs in circles.
  [[nodiscard]] std::vector<LinkId> links(const Connection& connection) const;
  /// Of the machine's own way.
  [[nodiscard]] std::vector<LinkId> links(NodeId from, NodeId to) const { return links({from, to, unbound_channel}); }

 private:
  [[nodiscard]] LinkId link_from(NodeId node, const std::vector<LinkId>& links) const {
    for (const LinkId link : links)
      if (network_->links[link].from == node) return link;
    return no_link;
  }

  const Network* network_;
  const BoundWays* ways_ = nullptr;  // null: there are none
};

}  // namespace tessera::machine
