// Dissemination: in every round each member sends all that it knows to the member so many ranks further on that the
// sums meet, so after ceil(log2(size)) rounds of one message each everybody has the sum. Sources: Hensgen, Finkel and
// Manber, "Two algorithms for barrier synchronization", International Journal of Parallel Programming 17(1), 1988, the
// exchange at distances 1, 2, 4, ...; Bar-Noy, Kipnis and Schieber, "An optimal algorithm for computing census
// functions in message-passing systems", Parallel Processing Letters 3(1), 1993, sums on groups of any size.
//
// Before a round each member has the sum of its own data and that of the members before it, m of them. The next number
// is 2m, and it takes the sum of the member m before it; or 2m - 1, and it takes that of the member m - 1 before it
// without that member's own data, which it has already. The numbers are ceil(size / 2^k), down to k = 0.
#include <bit>

#include "algorithms.hpp"
#include "chunks.hpp"
#include "tessera/program/message_time.hpp"

namespace tessera::program {
namespace {

std::uint32_t rounds(std::uint32_t size) { return static_cast<std::uint32_t>(std::bit_width(size - 1)); }

/// A round of all members of a group.
struct Round {
  std::uint32_t known = 1;     ///< members, before it
  std::uint32_t distance = 1;  ///< in ranks

  Round(std::uint32_t size, std::uint32_t index) : known(at_least(size, rounds(size) - index)) {
    distance = at_least(size, rounds(size) - index - 1) - known;
  }
  [[nodiscard]] bool leaves_out_own() const { return distance < known; }

 private:
  /// ceil(size / 2^halvings)
  static std::uint32_t at_least(std::uint32_t size, std::uint32_t halvings) { return ((size - 1) >> halvings) + 1; }
};

class Dissemination final : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "dissemination"; }
  std::string help() const override {
    return "the whole buffer to members 1, 2, 4, ... further on, log2(size) rounds; all members do the same";
  }
  bool supports(CollectiveKind kind) const override { return kind == CollectiveKind::all_reduce; }
  std::string check(const Collective&, const Group&, const machine::Machine&) const override { return {}; }

  std::uint32_t steps(const CollectiveCall& call) const override { return rounds(call.size); }

  bool is_alike(const CollectiveCall&, const CollectiveCall&, std::uint32_t) const override { return true; }

  double time(const Collective& collective, const Group& group, const machine::Machine& machine) const override {
    const auto size = static_cast<std::uint32_t>(group.members.size());
    double time = 0;
    for (std::uint32_t index = 0; index < rounds(size); ++index)
      time += message_time(machine, group.members[0], group.members[Round(size, index).distance], collective.bytes);
    return time;
  }

  void step(const CollectiveCall& call, std::uint32_t index, Step& step) const override {
    step.clear();
    const Round round(call.size, index);
    const Data whole = whole_of(*call.collective);
    add_send(step, plus_modulo(call.rank, round.distance, call.size), whole);
    step.sends.back().of_others = round.leaves_out_own();
    add_receive_and_reduce(step, minus_modulo(call.rank, round.distance, call.size), whole);
  }
};

}  // namespace

AlgorithmPointer make_dissemination() { return std::make_unique<Dissemination>(); }

}  // namespace tessera::program
