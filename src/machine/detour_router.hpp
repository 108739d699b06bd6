// Routes of a machine with dead parts.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/machine/machine.hpp"

namespace tessera::machine {

/// Keeps the healthy network's own route wherever all of it is alive, and leads around what is dead elsewhere.
///
/// For one destination, let G be the nodes whose healthy route to it is alive. The rest of such a route is the healthy
/// route of the node that it comes to, so nodes in G lead to nodes in G. Every other live node takes the way that is
/// shortest in time (latency and service of one packet, hop by hop), given the routes of G; ties go to the neighbour
/// with the lowest id. The remaining time to the destination shrinks with every hop, so no route can run in circles.
///
/// Kept as runs of consecutive nodes that choose alike: on a ring of 4,096 with a dead link 3 runs a destination, not
/// 4,096 entries. Building looks at every pair once, and only machines with dead parts build one.
class DetourRouter final : public Router {
 public:
  /// `network` has its healthy router, its dead links marked; `dead` by node.
  DetourRouter(const Network& network, std::vector<bool> dead);

  [[nodiscard]] LinkId next(NodeId at, NodeId to) const override;
  /// A pair of live devices without a way between them, if there is one: lowest destination, then lowest source.
  [[nodiscard]] std::optional<std::pair<NodeId, NodeId>> disconnected() const { return disconnected_; }

 private:
  class Search;

  /// Nodes from `first` up to the next run of the destination all make this choice.
  struct Run {
    NodeId first;
    NodeId choice;  ///< index among the node's links, or one of the two below
  };
  static constexpr NodeId as_healthy = ~NodeId{0};
  static constexpr NodeId nowhere = as_healthy - 1;

  void append_runs(const std::vector<NodeId>& choices);

  std::shared_ptr<const Router> healthy_;
  std::vector<bool> dead_;
  std::vector<LinkId> first_link_;
  std::vector<Run> runs_;
  std::vector<std::size_t>
      first_run_;  ///< of destination d: first_run_[d] .. first_run_[d+1]-1, none when all is healthy
  std::optional<std::pair<NodeId, NodeId>> disconnected_;
};

}  // namespace tessera::machine
