#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/integers.hpp"
#include "tessera/program/ways.hpp"

namespace tessera::program {
namespace {

using machine::BoundWay;
using machine::Connection;
using machine::LinkId;
using machine::NodeId;

/// The shortest ways to one device after another, and which links are in use.
class ShortestWays {
 public:
  explicit ShortestWays(const machine::Machine& machine)
      : machine_(machine),
        network_(machine.network),
        is_used_(network_.links.size(), false),
        hops_(network_.nodes()),
        used_(network_.nodes()) {
    by_end_.resize(network_.nodes());
    for (LinkId link = 0; link < network_.links.size(); ++link)
      if (!network_.links[link].dead) by_end_[network_.links[link].to].push_back(link);
  }

  /// Of those from one device to another the one with the fewest links in use, or, where that makes no difference, with
  /// the lowest numbers; empty where there is none. Its links are in use afterwards.
  std::vector<LinkId> take(NodeId from, NodeId to, bool prefers_unused) {
    from_ = from;
    to_ = to;
    count(from, to, prefers_unused);
    std::vector<LinkId> way;
    for (NodeId at = from; at != to && hops_[from] != unknown; at = network_.links[way.back()].to)
      way.push_back(best_from(at, prefers_unused));
    for (const LinkId link : way) is_used_[link] = true;
    return way;
  }

 private:
  static constexpr std::uint32_t unknown = ~std::uint32_t{0};

  /// Links to `to`, and how many of them are in use at the least, from all nodes that are no further than `from`.
  void count(NodeId from, NodeId to, bool prefers_unused) {
    std::ranges::fill(hops_, unknown);
    std::ranges::fill(used_, unknown);
    hops_[to] = used_[to] = 0;
    std::vector<NodeId> border{to}, next;
    for (; !border.empty() && hops_[from] == unknown; border = std::exchange(next, {})) {
      for (const NodeId node : border) {
        if (node != to && !passes_on(node)) continue;
        for (const LinkId link : by_end_[node]) reach(link, next, prefers_unused);
      }
    }
  }

  void reach(LinkId id, std::vector<NodeId>& next, bool prefers_unused) {
    const machine::Link& link = network_.links[id];
    if (hops_[link.from] == unknown) {
      hops_[link.from] = hops_[link.to] + 1;
      next.push_back(link.from);
    }
    if (hops_[link.from] == hops_[link.to] + 1)
      used_[link.from] = std::min(used_[link.from], cost(id, prefers_unused) + used_[link.to]);
  }

  [[nodiscard]] LinkId best_from(NodeId node, bool prefers_unused) const {
    for (LinkId link = network_.first_link[node];; ++link) {
      const NodeId to = network_.links[link].to;
      const bool is_on_way = !network_.links[link].dead && hops_[to] != unknown && hops_[to] + 1 == hops_[node] &&
                             (hops_[to] == 0 || passes_on(to));
      if (is_on_way && cost(link, prefers_unused) + used_[to] == used_[node]) return link;
    }
  }

  /// Beyond that of an unused link.
  [[nodiscard]] std::uint32_t cost(LinkId link, bool prefers_unused) const {
    return prefers_unused && is_used_[link] ? 1 : 0;
  }
  [[nodiscard]] bool passes_on(NodeId node) const {
    return network_.passes_on(node, from_, to_) && (node >= network_.devices || machine_.alive(node));
  }

  const machine::Machine& machine_;
  const machine::Network& network_;
  NodeId from_ = 0, to_ = 0;                 // of the way that is looked for
  std::vector<bool> is_used_;                // by link
  std::vector<std::vector<LinkId>> by_end_;  // live links, by the node that they lead to
  std::vector<std::uint32_t> hops_, used_;   // by node
};

/// Each connection once, with all its bytes.
std::vector<ConnectionLoad> summed(const std::vector<ConnectionLoad>& loads) {
  std::vector<ConnectionLoad> sums;
  std::map<Connection, std::size_t> places;
  for (const ConnectionLoad& load : loads) {
    if (load.connection.from == load.connection.to) continue;
    const auto [found, added] = places.try_emplace(load.connection, sums.size());
    if (added) {
      sums.push_back(load);
    } else {
      Bytes& sum = sums[found->second].bytes;
      sum = Bytes{saturating_sum(sum.value(), load.bytes.value())};
    }
  }
  return sums;
}

void refuse(const machine::Machine& machine, const std::vector<ConnectionLoad>& loads, double factor) {
  if (!(factor >= 1))
    throw InputError(fmt::format("a link in use counts {} times an unused one, allowed: at least 1", factor));
  for (const ConnectionLoad& load : loads) {
    const NodeId last = std::max(load.connection.from, load.connection.to);
    if (last >= machine.devices())
      throw InputError(
          fmt::format("a way to choose: device {} does not exist, the machine has {}", last, machine.devices()));
  }
}

}  // namespace

std::vector<BoundWay> unused_first(const machine::Machine& machine, const std::vector<ConnectionLoad>& loads,
                                   double factor) {
  refuse(machine, loads, factor);
  const std::vector<ConnectionLoad> sums = summed(loads);
  std::vector<std::size_t> order(sums.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return sums[i].bytes; });
  ShortestWays shortest(machine);
  std::vector<BoundWay> ways(sums.size());
  for (const std::size_t i : order) {
    const Connection& connection = sums[i].connection;
    ways[i] = {connection, shortest.take(connection.from, connection.to, factor > 1)};
    if (ways[i].links.empty())
      throw InputError(fmt::format("there is no way from {} to {}", machine.node_name(connection.from),
                                   machine.node_name(connection.to)));
  }
  return ways;
}

}  // namespace tessera::program
