// How well a wafer is: dies and links measured by programs that the evaluator runs, as a test on real silicon would.
// WATOS, section VI-D.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/base/data_table.hpp"
#include "tessera/strategy/job.hpp"

namespace tessera::strategy::watos {

enum class Condition : std::uint8_t {
  dead,  ///< no program that uses it runs
  slow,  ///< below 95 % of what the fastest of its kind does
  sound,
};
[[nodiscard]] const char* name_of(Condition state);

/// A link between two neighbours, in one direction.
struct ProbedLink {
  machine::NodeId from = 0, to = 0;
  double share = 1;  ///< of the fastest link's bandwidth; 0: dead
};

struct Health {
  std::vector<double> dies;       ///< by device that computes: share of the fastest one's speed; 0: dead
  std::vector<ProbedLink> links;  ///< in order of `from`

  [[nodiscard]] bool alive(machine::NodeId die) const { return dies[die] > 0; }
  [[nodiscard]] std::int64_t alive() const;
  /// Of the link from one die to a neighbour; 0 where there is none.
  [[nodiscard]] double share_of(machine::NodeId from, machine::NodeId to) const;
  [[nodiscard]] bool is_sound() const;
};
[[nodiscard]] Condition condition_of(double share);

/// Shares, to a tenth and the largest first, at which dies are slow: what may be left out.
[[nodiscard]] std::vector<double> slow_shares(const Health& health);
/// The same wafer with dies of that share or less counted as dead. Messages still pass through them.
[[nodiscard]] Health without_slow(const Health& health, double share);

/// On this rank alone. Dies run a product, and neighbours on the grid send each other a message over the link between
/// them, in one direction after another.
[[nodiscard]] Health probed(const Job& job);

/// What is not sound: "health", a die or a link a row.
[[nodiscard]] DataTable health_table(const Health& health, const machine::Machine& machine);

}  // namespace tessera::strategy::watos
