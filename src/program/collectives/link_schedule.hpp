// Collectives whose messages a plan of the group puts onto the links between its members, one after another: an
// algorithm says which chunk goes over which link when in an all-gather, and the rest follows.
#pragma once

#include <memory>
#include <vector>

#include "own_links.hpp"

namespace tessera::program {

/// A piece of a member's chunk goes over a link. Which one is: owner * parts + part. Times order hops; their unit is
/// the algorithm's own.
struct Hop {
  std::uint32_t from = 0, to = 0;  ///< ranks
  std::uint32_t piece = 0;
  std::int64_t begin = 0, end = 0;
};

/// All hops of an all-gather: every member gets each piece of the others once, sends what it has, and a link carries
/// one hop at a time.
struct Hops {
  std::uint32_t parts = 1;  ///< of each chunk
  std::vector<Hop> hops;
};

/// Hops as steps of members. A member posts its sends in the order of their times, and waits for a receive when it has
/// to send on what that brings: so whoever waits, waits for a hop that begins earlier, and nobody for ever.
struct HopSteps {
  struct Transferred {
    std::uint32_t peer = 0, piece = 0;
  };
  struct One {
    std::uint32_t sends = 0, receives = 0;  ///< begin of its own, which end where those of the next one begin
  };
  std::vector<std::uint32_t> first;  ///< step, by member, and behind the last one
  std::vector<One> steps;            ///< of all members, and one more
  std::vector<Transferred> sends, receives;

  HopSteps(const Hops& hops, std::uint32_t members);
  [[nodiscard]] std::uint32_t count(std::uint32_t member) const { return first[member + 1] - first[member]; }
};

/// A reduce-scatter is an all-gather over the links turned round, backwards in time: what was sent on to several is
/// added up from them.
struct LinkSchedule final : GroupPlan {
  std::uint32_t scatter_parts = 1, gather_parts = 1;
  std::shared_ptr<const HopSteps> scatter;  ///< as of an all-gather over the links turned round
  std::shared_ptr<const HopSteps> gather;   ///< the same where there are as fast links both ways everywhere
};

/// An algorithm that consists of its hops.
class LinkAlgorithm : public CollectiveAlgorithm {
 public:
  [[nodiscard]] bool supports(CollectiveKind kind) const override;
  [[nodiscard]] std::string check(const Collective&, const Group& group,
                                  const machine::Machine& machine) const override;
  [[nodiscard]] std::shared_ptr<const GroupPlan> plan(const Group& group,
                                                      const machine::Machine& machine) const override;
  [[nodiscard]] std::uint32_t steps(const CollectiveCall& call) const override;
  void step(const CollectiveCall& call, std::uint32_t index, Step& step) const override;
  [[nodiscard]] double time(const Collective& collective, const Group& group,
                            const machine::Machine& machine) const override;

 private:
  /// Of two members at least, each of which reaches all.
  [[nodiscard]] virtual Hops hops(const OwnLinks& links) const = 0;
};

/// The time of all members' steps on an idle network, in ps, without reductions. Expects one strand, and messages over
/// links that nobody else uses.
[[nodiscard]] double time_of_own_steps(const CollectiveAlgorithm& algorithm, const Collective& collective,
                                       const Group& group, const machine::Machine& machine);

}  // namespace tessera::program
