// Routes of a machine with dead parts.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "way_search.hpp"

namespace tessera::machine {

/// Keeps the healthy network's own route wherever all of it is alive, and leads around what is dead elsewhere, as
/// WaySearch finds it. Building looks at every pair once, and only machines with dead parts build one.
class DetourRouter final : public Router {
 public:
  /// `network` has its healthy router, its dead links marked; `dead` by node.
  DetourRouter(const Network& network, std::vector<bool> dead);

  [[nodiscard]] LinkId next(NodeId at, NodeId to) const override;
  /// A pair of live devices without a way between them, if there is one: lowest destination, then lowest source.
  [[nodiscard]] std::optional<std::pair<NodeId, NodeId>> disconnected() const { return disconnected_; }

 private:
  std::shared_ptr<const Router> healthy_;
  std::vector<bool> dead_;
  std::vector<LinkId> first_link_;
  std::vector<ChoiceRuns> choices_;  // by destination
  std::optional<std::pair<NodeId, NodeId>> disconnected_;
};

}  // namespace tessera::machine
