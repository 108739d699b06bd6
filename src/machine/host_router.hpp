// Routes of a machine with hosts: memory that hangs on devices or switches.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "way_search.hpp"

namespace tessera::machine {

/// A topology's network with hosts linked to it. Nodes of `network` are numbered as in the topology's own, but for the
/// switches, which follow the hosts, and the hosts' bridges behind these; the links of a node are those of the topology
/// in their order, then those to hosts and bridges.
///
/// Between accelerators ways are the topology's. A host and a node that it is linked to have their link, or the two
/// over its bridge. A host sends to others over the link from which their way is shortest in time (the lowest node on a
/// tie), and a host is reached by the way that is shortest in time, as WaySearch finds it; so is what the topology's
/// router does not know: from a switch on which a host hangs to devices that no way through it leads to. Such answers
/// are found, for one destination at a time, when the first one of them is asked for.
class HostRouter final : public Router {
 public:
  /// `network` is complete and healthy, but its router is that of the topology, for the network of `first_link` before
  /// the hosts came.
  HostRouter(const Network& network, const std::vector<LinkId>& first_link);
  ~HostRouter() override;
  [[nodiscard]] LinkId next(NodeId at, NodeId to) const override;

 private:
  class Known;
  /// What all nodes do with messages to one destination, once somebody has asked.
  struct Searched {
    std::once_flag once;
    ChoiceRuns runs;
  };

  Network network_;  // whose router is known_
  std::shared_ptr<const Known> known_;
  bool hangs_on_switches_ = false;        // a host, by itself or by its bridge
  std::unique_ptr<Searched[]> searched_;  // by destination
};

}  // namespace tessera::machine
