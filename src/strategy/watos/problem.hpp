// What a candidate's search works on, in numbers alone: stages, the sets of sections that each may run again, places on
// the wafer. A problem is made from a profile (make_problem.hpp), or by hand in tests.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "tessera/base/time.hpp"
#include "tessera/machine/machine.hpp"

namespace tessera::strategy::watos {

inline constexpr std::int64_t mebibyte = std::int64_t{1} << 20;  ///< B

/// Where the tensor-parallel group of a stage may stand.
struct Place {
  std::vector<machine::NodeId> devices;  ///< by tensor rank
  int x = 0, y = 0;           ///< of its centre, in half steps from the wafer's first die: whole numbers for all tiles
  int columns = 1, rows = 1;  ///< of the rectangle around its dies
  std::uint32_t pace = 0;     ///< places of one pace do the same work in the same time
  int grid = 0;               ///< of several wafers side by side that on which its dies are
};

/// One stage, on each of its dies. Sets are indices into Problem::sets.
struct StageProblem {
  std::int64_t in_flight = 1;       ///< micro-batches that it keeps at most, p - s under 1F1B
  std::int64_t at_once = 1;         ///< of what it lends: micro-batches that a helper has room for
  std::int64_t resident = 0;        ///< of what it lends: micro-batches that are with it nevertheless
  std::vector<std::int64_t> kept;   ///< B of a micro-batch, by set
  std::vector<std::int64_t> fixed;  ///< B besides, by set: weights, gradients, optimizer, buffers, what is made again
  Time until_next = 0;              ///< ps from any moment to the next collective, on average
  std::vector<Time> forward;        ///< ps of a micro-batch, by pace
  std::vector<std::vector<Time>> time;  ///< ps of a micro-batch, forward and backward: by pace, then by set
  std::vector<std::size_t> front;       ///< sets that no other one beats in time and memory both, the fastest first
};

class Joints;

/// Sums over the replicas of one stage that cross what joins the grids of a machine.
struct JointSums {
  std::shared_ptr<const Joints> joints;  ///< null: what lives is on one grid, or a stage has one replica
  Time measured = 0;                     ///< ps of a stage by itself
  int rings = 1;                         ///< of that stage, on the busiest link of a joint
};

struct Problem {
  std::vector<StageProblem> stages;
  std::vector<std::uint64_t> sets;   ///< which sections run again, a bit each; without one that is listed twice
  std::vector<Place> places;         ///< at least one for each stage and replica
  std::vector<std::uint16_t> start;  ///< places by stage and replica, before anybody has looked for better ones
  std::uint32_t replicas = 1;
  std::int64_t memory = 0;         ///< B of a die
  std::int64_t part_bytes = 0;     ///< B that a die sends to the next stage, a micro-batch
  std::int64_t micro_batches = 1;  ///< of a replica
  Time per_mebibyte = 0;           ///< ps that a link between two dies takes for 1 MiB; 0: lending takes no time
  Time hop = 0;                    ///< ps that a message to a neighbouring stage takes
  std::vector<Time> update;        ///< ps behind the last micro-batch, by pace
  Time shared = 0;                 ///< ps besides, for all stages alike: sums over replicas that are on one grid;
                                   ///< 0 where no grid has places for all of a stage
  JointSums over_joints;           ///< and over those that are not

  [[nodiscard]] std::size_t count() const { return stages.size(); }
};

inline constexpr std::int64_t impossible = std::numeric_limits<std::int64_t>::max();

/// B that a stage takes from a pool of all dies' memory when it runs that set: what it lends takes up so much on a
/// helper; less than 0: so much is left for others. `impossible`: it cannot lend enough.
[[nodiscard]] std::int64_t demand(const Problem& problem, std::size_t stage, std::size_t set);
/// B of each die and micro-batch that it has to lend then; 0: none, `impossible` as above.
[[nodiscard]] std::int64_t to_lend(const Problem& problem, std::size_t stage, std::size_t set);

/// What one stage lends to another one.
struct Pair {
  std::uint32_t sender = 0, helper = 0;
  auto operator<=>(const Pair&) const = default;
};
struct PairedBytes {
  Pair pair;
  std::int64_t bytes = 0;  ///< B of each die and micro-batch
  friend bool operator==(const PairedBytes&, const PairedBytes&) = default;
};

/// A way to run a problem.
struct Solution {
  std::vector<std::uint16_t> sets;    ///< by stage
  std::vector<std::uint16_t> places;  ///< by stage and replica: the first stage's replicas come first
  std::vector<Pair> pairs;            ///< in this order senders take what their helpers have left; no pair twice
  auto operator<=>(const Solution&) const = default;

  [[nodiscard]] std::size_t place(const Problem& problem, std::size_t stage, std::uint32_t replica = 0) const {
    return places[stage * problem.replicas + replica];
  }
};

/// ps of a micro-batch on the slowest of a stage's replicas, but for what loans hold up.
[[nodiscard]] Time stage_time(const Problem& problem, const Solution& solution, std::size_t stage);

/// What the pairs lend, in their order: a sender gives each as much as it still has to lend and the helper has room
/// for. Pairs that are left with nothing are left out.
struct Lent {
  bool is_enough = false;  ///< every stage fits
  std::vector<PairedBytes> loans;
};
[[nodiscard]] Lent lend(const Problem& problem, const Solution& solution);

}  // namespace tessera::strategy::watos
