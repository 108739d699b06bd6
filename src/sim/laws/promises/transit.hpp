// Components that pass messages on which may cross ranks afterwards, and when such messages come to them.
#pragma once

#include <vector>

#include "sim/network/network_tables.hpp"
#include "sim/network/node.hpp"
#include "sim/network/wiring.hpp"
#include "tessera/pdes/partition.hpp"

namespace tessera::sim {

/// By component: whether it passes messages of others on, and one that comes to it may cross ranks, here or further on.
[[nodiscard]] std::vector<bool> find_transits(const NetworkTables& tables, const Wiring& wiring,
                                              const pdes::Partition& partition);

/// When segments and amendments come to such components of this rank.
class TransitTimes final : public ForwardedTimes {
 public:
  /// `transits`, by component, and `partition` outlive it.
  TransitTimes(const std::vector<bool>& transits, const pdes::Partition& partition, int rank)
      : transits_(&transits), partition_(&partition), rank_(rank) {}
  void comes(pdes::ComponentId to, Time at) override;
  /// The earliest from `from` on, which never decreases; `never`: nothing is on its way to any of them.
  [[nodiscard]] Time first(Time from);

 private:
  const std::vector<bool>* transits_;
  const pdes::Partition* partition_;
  int rank_;
  std::vector<Time> times_;  // heap, the earliest first
};

}  // namespace tessera::sim
