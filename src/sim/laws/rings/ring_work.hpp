// What a collective that goes round rings does, from the algorithm's own steps: passes, in each of which a member sends
// on what has come to it in the step before.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tessera/base/time.hpp"
#include "tessera/program/collective.hpp"

#include "sim/execution/takeover.hpp"

namespace tessera::sim {

class Fold;
struct RingPart;

inline constexpr std::uint32_t nobody = ~std::uint32_t{0};

/// At most so many rings go through a seat: forwards and backwards, or inside a node and across nodes.

/// Who sends to whom. A member has a seat in each strand (number strand * members + rank), and each seat a way to
/// another one in each slot (number slot * seats + seat).
struct RingShape {
  std::vector<program::DeviceId> members;
  std::uint32_t strands = 1;
  std::uint32_t slots = 1;
  std::vector<std::uint32_t> to;     ///< by way: a seat, or nobody's here
  std::vector<std::uint16_t> lanes;  ///< by way
  /// By way: to whom it leads, and by whose way in this slot the seat where it begins is reached. Where replicas are
  /// folded these are of other replicas; `to` is the seat of whoever is simulated for them.
  std::vector<program::DeviceId> next, previous;
  auto operator<=>(const RingShape&) const = default;

  [[nodiscard]] std::uint32_t seats() const { return strands * static_cast<std::uint32_t>(members.size()); }
  [[nodiscard]] std::uint32_t ways() const { return slots * seats(); }
  [[nodiscard]] std::uint32_t way(std::uint32_t slot, std::uint32_t seat) const { return slot * seats() + seat; }
  [[nodiscard]] std::uint32_t rank(std::uint32_t seat) const {
    return strands == 1 ? seat : seat % static_cast<std::uint32_t>(members.size());
  }
  [[nodiscard]] program::DeviceId device(std::uint32_t seat) const { return members[rank(seat)]; }
  /// By way: the seat whose way in that slot leads to this one's seat, or nobody.
  [[nodiscard]] std::vector<std::uint32_t> senders() const;
};

/// Steps in each of which all seats send on some of their ways, and then wait for as many messages.
struct RingPass {
  std::uint32_t steps = 0;
  std::uint32_t first = 0, slots = 1;  ///< those in use
  bool sums_up = false;                ///< what comes is added
  bool is_uniform = true;              ///< a seat sends the same size in all steps
  /// By slot from `first` on and seat: what it sends in the first step, as a place in RingWork::sizes. In the others it
  /// sends what the one before sent in the last one.
  std::vector<std::uint32_t> kinds;
};

/// What a seat sends on a way.
struct RingSum {
  std::uint32_t messages = 0;
  std::int64_t bytes = 0;
};

struct RingWork {
  std::uint32_t steps = 0;
  std::vector<RingPass> passes;
  std::vector<std::int64_t> sizes;  ///< B, of messages
  Time pause = 0;                   ///< ps, of the protocol, behind what a step has brought
  /// By seat: picoseconds to add what a step has brought, and the pause; see addition_of().
  std::vector<Time> additions;
  std::vector<std::uint32_t> numbers;  ///< by way and place in `sizes`: WayFacts::size_of()
  std::vector<RingSum> sent;           ///< by way, in all steps
  /// No longer than this from when all have entered to the end, on ways that are idle; nothing: beyond the range of
  /// time.
  std::optional<Time> longest;

  std::shared_ptr<const RingPart> part;  ///< of a ring over ranks: of which it is one

  std::uint32_t others = 1;  ///< what may come beside a message that is added: nothing, or (1 + kind) another one

  [[nodiscard]] std::size_t addition_of(std::uint32_t seat, std::uint32_t kind, std::uint32_t other) const {
    return (seat * sizes.size() + kind) * others + other;
  }
};

struct RingPlan {
  RingShape shape;
  RingWork work;  ///< without what hangs on the ways and members
};
/// Empty where its steps are not such passes. `call`: of any member.
[[nodiscard]] std::optional<RingPlan> plan_rings(program::CollectiveCall call);

/// A plan for all members, and which of its seats and ways those are of a plan for some.
struct RingPart {
  RingPlan whole;
  std::vector<std::uint32_t> senders;  ///< of the whole: RingShape::senders()
  std::vector<std::uint32_t> seats, ways;
};

/// Of a plan for all members what those do that are on this rank, `here`. Where a way leads to others, `to` is nobody.
void keep_part(RingPlan& plan, const std::vector<std::uint32_t>& here);

/// Of a plan for all members what those do that are simulated, for all. `simulated`: their ranks. False: members do
/// different things.
[[nodiscard]] bool fold_rings(RingPlan& plan, const std::vector<std::uint32_t>& simulated, const Fold& fold);

/// What is sent on a way in the first `steps` steps; `senders`: RingShape::senders().
[[nodiscard]] RingSum sent_on(const RingWork& work, const RingShape& shape, const std::vector<std::uint32_t>& senders,
                              std::uint32_t way, std::uint32_t steps);
/// B that it adds in a step.
[[nodiscard]] std::int64_t bytes_added(const RingWork& work, const RingShape& shape,
                                       const std::vector<std::uint32_t>& senders, std::uint32_t seat,
                                       std::uint32_t step);

}  // namespace tessera::sim
