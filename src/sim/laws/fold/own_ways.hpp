// The ways of messages in a fold by ends: each is the sender's own link and the receiver's, or one from the one to the
// other.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "sim/laws/fold/fold.hpp"

namespace tessera::sim {

/// Adds the links that messages take to a fold.
class OwnWays {
 public:
  /// Both outlive it.
  OwnWays(const NetworkTables& tables, Fold& fold) : tables_(&tables), fold_(&fold) {}

  /// From a simulated device, and from those that it is simulated for: to whom they send. False: these ways are not
  /// alike, or not their own.
  [[nodiscard]] bool add(program::DeviceId from, const std::function<program::DeviceId(program::DeviceId)>& to);
  /// Behind all ways: Fold::contested(). False: of some link not all are known that it is simulated for.
  [[nodiscard]] bool finish();

 private:
  struct Ends {
    program::DeviceId from = 0, to = 0;
  };
  /// By shifts of a component from the simulated one: who sends to it.
  using Senders = std::vector<pdes::ComponentId>;

  [[nodiscard]] bool is_like(const Ends& first, const Ends& other);
  [[nodiscard]] bool add_senders(const std::vector<Ends>& ways);
  [[nodiscard]] Fold::Contested contested_at(pdes::ComponentId at, const std::set<Senders>& all) const;

  const NetworkTables* tables_;
  Fold* fold_;
  std::vector<std::vector<Ends>> ways_;                  // what is alike, each by shifts of the sender
  std::map<pdes::ComponentId, std::set<Senders>> come_;  // to simulated components
};

}  // namespace tessera::sim
