// What of a folded simulation might go otherwise in other parts: what comes at one time comes in the order of the
// numbers of those who send it, and numbers are in another order elsewhere.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/laws/fold/fold.hpp"
#include "sim/network/node.hpp"

namespace tessera::sim {

/// Watches what comes to the components that are simulated. As long as no two things come to one of them at one time
/// from senders whose order is another one elsewhere (a critical pair), every part does the same.
class PossibleTies final : public Arrivals {
 public:
  /// Both outlive it. What is simulated is the first block.
  PossibleTies(const Fold& fold, const NetworkTables& tables);

  void comes(pdes::ComponentId at, pdes::ComponentId source, Time now) override;
  void come(pdes::ComponentId at, pdes::ComponentId source, Time now, const Segment& segment,
            pdes::ComponentId meets) override;
  void amended(pdes::ComponentId at, const Amend& amend) override;
  /// Whether there may have been one so far; all events before then are over.
  [[nodiscard]] bool any(Time before);

 private:
  /// What comes to a component that has a critical pair, or packets of it.
  struct Coming {
    pdes::ComponentId source = 0;
    MessageName name;
    std::uint32_t generation = 0;
    PacketTimes times;
  };
  void comes(pdes::ComponentId at, Time now, const Coming& one);
  void retire(pdes::ComponentId at, Time now);
  [[nodiscard]] bool may_tie(const PacketTimes& a, const PacketTimes& b) const;
  [[nodiscard]] bool is_critical(pdes::ComponentId at, pdes::ComponentId a, pdes::ComponentId b);
  [[nodiscard]] const std::vector<std::pair<pdes::ComponentId, pdes::ComponentId>>& pairs_at(
      pdes::ComponentId at) const {
    return fold_->contested()[contested_of_[at]].pairs;
  }
  [[nodiscard]] bool changes_order(pdes::ComponentId a, pdes::ComponentId b) const;
  [[nodiscard]] bool links_change_order(pdes::ComponentId at, pdes::ComponentId source) const;

  const Fold* fold_;
  const NetworkTables* tables_;
  std::vector<std::uint32_t>
      contested_of_;  // by component: of the fold's contested ones; none: it has no critical pair
  std::vector<std::vector<Coming>> coming_;                 // by contested component: now, and later
  std::map<std::array<pdes::ComponentId, 3>, bool> known_;  // a component, and two that send to it: is it critical?
  bool any_ = false;
};

}  // namespace tessera::sim
