// The shortest ways to one destination, for all nodes from which a router knows none.
#pragma once

#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "tessera/machine/machine.hpp"

namespace tessera::machine {

/// What a node does with messages to a destination: index among the node's links, or one of these two.
inline constexpr NodeId as_known = ~NodeId{0};  ///< as the router that was there before
inline constexpr NodeId leads_nowhere = as_known - 1;

/// What all nodes do with messages to one destination, as runs of consecutive nodes that choose alike: on a ring of
/// 4,096 with a dead link 3 runs, not 4,096 entries.
class ChoiceRuns {
 public:
  ChoiceRuns() = default;
  explicit ChoiceRuns(const std::vector<NodeId>& choices);
  /// Without any run all choose `as_known`.
  [[nodiscard]] NodeId choice(NodeId at) const;

 private:
  struct Run {
    NodeId first;  ///< nodes up to the next run all make this choice
    NodeId choice;
  };
  std::vector<Run> runs_;
};

/// For one destination, let G be the nodes from which the network's own router leads there over live links. The rest of
/// such a way is the router's way of the node that it comes to, so nodes in G lead to nodes in G. Every other live node
/// takes the way that is shortest in time (latency and service of one packet, hop by hop), given the ways of G; ties go
/// to the neighbour with the lowest id. The remaining time to the destination shrinks with every hop, so no way can run
/// in circles. No way leads through a host, or through the bridge of a host at which it neither begins nor ends.
///
/// Looks at one destination after the other in the same working memory.
class WaySearch {
 public:
  /// `network` has its router, its dead links marked; `dead` by node. Both outlive it.
  WaySearch(const Network& network, const std::vector<bool>& dead);

  /// The choice of every node towards device `to`. `cut_off` becomes the lowest live device that has no way, if there
  /// is one.
  const std::vector<NodeId>& choices(NodeId to, std::optional<NodeId>& cut_off);

 private:
  void index_links_by_end();
  void follow_known(NodeId from, NodeId to);
  void find_shortest(NodeId to);
  void offer_best(NodeId node, NodeId to);
  [[nodiscard]] LinkId best_link(NodeId node, NodeId to) const;
  [[nodiscard]] std::optional<NodeId> lowest_broken_device() const;
  /// Whether ways to `to` may lead from `before` to `node`. Those that a bridge sees from its host begin there, since a
  /// host passes on nothing: the node before says as much as the first one.
  [[nodiscard]] bool may_come_to(NodeId node, NodeId before, NodeId to) const {
    return node == to || network_.passes_on(node, before, to);
  }

  using Offer = std::pair<Time, NodeId>;

  const Network& network_;
  const std::vector<bool>& dead_;
  std::vector<Time> hop_cost_, cost_;
  std::vector<LinkId> first_in_, in_;  ///< links by the node that they lead to
  std::vector<LinkId> way_;
  std::vector<NodeId> choices_;
  std::priority_queue<Offer, std::vector<Offer>, std::greater<>> queue_;
};

/// What a hop takes a packet on an idle network, 1 ps at least.
[[nodiscard]] Time hop_time(const Network& network, const Link& link);

}  // namespace tessera::machine
