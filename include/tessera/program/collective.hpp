// Collectives lower lazily to steps of sends, receives and local reductions. Adding an algorithm is one file in
// src/program/collectives/ with one registration (docs/extending.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tessera/machine/machine.hpp"
#include "tessera/program/program.hpp"

namespace tessera::program {

/// A message of one step, by rank in the group. Time depends on peer, bytes and lane alone; offset, stride and add say
/// which data it carries, so that tests can move real numbers and compare the sums.
struct Transfer {
  std::uint32_t peer = 0;
  /// 0 is sent too (it is a synchronisation), unless both sides know that nothing is due.
  std::int64_t bytes = 0;
  /// Messages between two ranks match in order within a lane (two directions of a ring: two lanes).
  std::uint16_t lane = 0;
  /// Of receives: the data is added to what is there (counted in Step::reduce); otherwise it replaces it.
  bool add = false;
  /// Of sends: of each element what has been added so far, without what the member began with.
  bool of_others = false;
  /// Of receives: the switch on the way has added up what all members began with, and this is the sum.
  bool of_all = false;
  /// 0: contiguous; k: every k-th of the `size` chunks of the buffer, from the one at `offset` on.
  std::uint32_t stride = 0;
  /// B into the buffer; all_to_all: sends into the send buffer, receives into the receive buffer.
  std::int64_t offset = 0;
  /// Not empty: the chunks of these ranks, wherever they lie; offset and stride then say nothing. Valid as long as the
  /// call's lowering.
  std::span<const std::uint32_t> chunks;
};

/// One step of one member: first all sends are posted, then all receives are awaited (in any order of arrival), then
/// `reduce` bytes of received data are added to local data (reads two operands, writes one). The next step starts after
/// that and behind a pause, and with `wait_sends` not before this step's sends have left the device (a tree sends to
/// its largest subtree first, then to the next).
struct Step {
  std::vector<Transfer> sends;
  std::vector<Transfer> receives;
  std::int64_t reduce = 0;
  bool wait_sends = false;
  Time pause = 0;  ///< ps, of the protocol
  /// What comes is behind what came in the step before, on its way at the same time: no pause.
  bool follows = false;
  void clear() {
    sends.clear();
    receives.clear();
    reduce = 0;
    wait_sends = false;
    pause = 0;
    follows = false;
  }
};

/// Each ring has a lane of its own in its group's channels.
inline constexpr std::uint32_t most_rings = 64;

/// What an algorithm works out for a group on a machine before the first step of any collective: who stands where in a
/// rectangle, a cycle, trees. Each algorithm that needs one derives its own.
struct GroupPlan {
  virtual ~GroupPlan() = default;
};

/// What a protocol makes of a group's steps on a machine.
struct OnWire {
  static constexpr std::uint32_t no_protocol = ~std::uint32_t{0};
  static constexpr std::uint32_t all = 1U << 20U;
  std::uint32_t protocol = no_protocol;  ///< in Collective::protocols
  std::uint32_t payload = all;           ///< of so many bytes on the wire, those that are data
  Time start = 0;                        ///< ps, before the first step
  /// ps behind the receives of a step, from members of the same node alone, and from others. Rings have one for both:
  /// the mean of their hops, for a chunk goes over all of them.
  Time pause = 0, pause_across = 0;

  /// Of so much data.
  [[nodiscard]] std::int64_t bytes(std::int64_t data) const;
  bool operator==(const OnWire&) const = default;
};

/// How a group carries out a collective on a machine: the same for all members, found once.
struct Lowering {
  AlgorithmId algorithm;     ///< the one that is named, or what "auto" chose
  std::uint32_t rings = 1;   ///< up to most_rings, of "ring" and "double-tree": each has its part of every chunk, and
                             ///< enters and leaves nodes elsewhere
  std::uint32_t locals = 1;  ///< where rings > 1: members in each node, side by side
  OnWire wire;
  /// What a member's memory moves while it runs undisturbed: what it sends is read, what it receives is written,
  /// and read before where it is added. By the closed form of its time; 0 where Program::channels is.
  BytesPerSecond memory_rate{};
  std::shared_ptr<const GroupPlan> plan;  ///< of algorithms that go by one
  /// Plans do not count: what they mean for members' steps is told by CollectiveAlgorithm::is_alike().
  bool operator==(const Lowering& other) const {
    return algorithm == other.algorithm && rings == other.rings && locals == other.locals && wire == other.wire &&
           memory_rate == other.memory_rate;
  }
};
/// Expects a collective that check_collective accepts.
[[nodiscard]] Lowering lowering_of(const Collective& collective, const Group& group, const machine::Machine& machine);

/// One member's side of one collective: a small value that yields its steps in order. Nothing is unrolled.
struct CollectiveCall {
  const Collective* collective = nullptr;
  std::uint32_t rank = 0;  ///< this member's index in the group
  std::uint32_t size = 1;  ///< of the group
  const Group* group = nullptr;
  const machine::Machine* machine = nullptr;  ///< places: hierarchical needs nodes, mesh needs rows and columns
  Lowering lowering;
  std::uint32_t strand = 0;  ///< which of the sequences of steps that go on side by side
};
[[nodiscard]] CollectiveCall make_call(const Collective& collective, const Group& group, std::uint32_t rank,
                                       const machine::Machine& machine);

/// The lowerings of a program, each found when it is first asked for, and plans once for all collectives of a group.
/// Program and machine outlive it.
class Lowerings {
 public:
  Lowerings(const Program& program, const machine::Machine& machine) : program_(&program), machine_(&machine) {}
  [[nodiscard]] const Program& program() const { return *program_; }
  /// What the member of this rank in a group makes of Program::collectives[index].
  [[nodiscard]] CollectiveCall call(std::uint32_t index, GroupId group, std::uint32_t rank);

 private:
  const Program* program_;
  const machine::Machine* machine_;
  std::unordered_map<std::uint64_t, Lowering> known_;                          // by group and collective
  std::unordered_map<std::uint64_t, std::shared_ptr<const GroupPlan>> plans_;  // by group and algorithm
};

class CollectiveAlgorithm {
 public:
  virtual ~CollectiveAlgorithm() = default;
  [[nodiscard]] virtual std::string name() const = 0;  ///< "ring", "direct", ...: as in experiments
  [[nodiscard]] virtual std::string help() const = 0;
  [[nodiscard]] virtual bool supports(CollectiveKind kind) const = 0;
  /// A problem with this group on this machine ("needs the same number of members in every node"); empty when it fits.
  [[nodiscard]] virtual std::string check(const Collective&, const Group&, const machine::Machine&) const = 0;
  /// Of one whose steps go by a plan of the group, for Lowering::plan; nothing for a group that check() refuses.
  [[nodiscard]] virtual std::shared_ptr<const GroupPlan> plan(const Group&, const machine::Machine&) const {
    return nullptr;
  }
  /// Number of sequences of steps that go on side by side, each at its own pace. They share no lane.
  [[nodiscard]] virtual std::uint32_t strands(const CollectiveCall&) const { return 1; }
  /// Number of steps of a member, of the call's strand; all members may differ. A group of one has none.
  [[nodiscard]] virtual std::uint32_t steps(const CollectiveCall& call) const = 0;
  /// Fills step `index` of a member, of the call's strand. `step` is reused from call to call: no allocation in steady
  /// state.
  virtual void step(const CollectiveCall& call, std::uint32_t index, Step& step) const = 0;
  /// The same as it goes over the wire, by the call's protocol: what is sent, and the pause.
  void step_on_wire(const CollectiveCall& call, std::uint32_t index, Step& step) const;
  /// So many steps with receives follow each other on the longest way from the first to the last, a protocol's pauses
  /// with them: within nodes, and across.
  struct Waits {
    double inside = 0, across = 0;
  };
  [[nodiscard]] virtual Waits waits(const CollectiveCall& call) const;
  /// Appends the ranks that a member sends to, in any order, perhaps repeated. As it stands it looks through the steps;
  /// an algorithm with as many steps as members had better say it at once.
  virtual void destinations(const CollectiveCall& call, std::vector<std::uint32_t>& ranks) const;
  /// Whether the member of rank i + `by` (modulo the size) of `other` does what the one of rank i of `call` does, with
  /// peers that are `by` further on, for every i. Both have the same collective, size and lowering; their ranks and
  /// strands do not count. As it stands it looks through all steps of all members; an algorithm with many of them had
  /// better say it at once.
  [[nodiscard]] virtual bool is_alike(const CollectiveCall& call, const CollectiveCall& other, std::uint32_t by) const;
  /// Whether members of this kind send on, step by step, what has come to them round one ring or several. A law may
  /// then carry it out without its steps; it reads the rings off these, so that "no" is slow and never wrong.
  [[nodiscard]] virtual bool goes_round(CollectiveKind) const { return false; }
  /// What carries a collective out: an algorithm with steps of its own, and its protocol.
  struct Choice {
    const CollectiveAlgorithm* algorithm = nullptr;
    OnWire wire;
  };
  /// "auto" chooses the algorithm, all others are their own; the protocol is that of the least time, none of a group
  /// that the algorithm refuses.
  [[nodiscard]] virtual Choice chosen(const Collective& collective, const Group& group,
                                      const machine::Machine& machine) const;
  /// Closed form of the time on an idle network, in ps, without reductions and as if it had no protocols
  /// (docs/collectives.md).
  /// As it stands, the steps of the first member one after another.
  [[nodiscard]] virtual double time(const Collective& collective, const Group& group,
                                    const machine::Machine& machine) const;
  /// The same with the pauses of a protocol, `call` being that of any member. As it stands, those of waits() and
  /// time(); an algorithm whose pauses hide behind the messages of others says so.
  [[nodiscard]] virtual double time_with_pauses(const CollectiveCall& call, const OnWire& wire) const;
};

/// The same of a call with its protocol.
[[nodiscard]] double time_on_wire(const CollectiveCall& call);

/// act(call, step) for every step of every strand of a member, as it goes over the wire.
template <class Act>
void for_all_steps(const CollectiveAlgorithm& algorithm, CollectiveCall call, Act&& act) {
  Step step;
  const std::uint32_t strands = algorithm.strands(call);
  for (call.strand = 0; call.strand < strands; ++call.strand) {
    const std::uint32_t steps = algorithm.steps(call);
    for (std::uint32_t index = 0; index < steps; ++index) {
      algorithm.step_on_wire(call, index, step);
      act(call, step);
    }
  }
}

/// The first rank of `call` whose steps CollectiveAlgorithm::is_alike() does not find at its member of `other`;
/// nothing: they are alike. It looks through all steps.
[[nodiscard]] std::optional<std::uint32_t> first_unlike(const CollectiveAlgorithm& algorithm,
                                                        const CollectiveCall& call, const CollectiveCall& other,
                                                        std::uint32_t by);

/// What experiments can name: the built-in algorithms, and behind them those that a program adds. Copies share them;
/// programs whose collectives are carried out by them must not outlive all copies.
class Collectives {
 public:
  /// One more. InternalError where one of that name is there.
  void add(AlgorithmPointer algorithm);
  [[nodiscard]] const AlgorithmList& all() const { return *all_; }
  /// Names that do not exist are an InputError with the choices.
  [[nodiscard]] AlgorithmId find(const std::string& name) const;
  /// Names of the algorithms that have this kind.
  [[nodiscard]] std::vector<std::string> names_for(CollectiveKind kind) const;

 private:
  friend Collectives built_in_collectives();
  explicit Collectives(std::shared_ptr<const AlgorithmList> all) : all_(std::move(all)) {}
  std::shared_ptr<const AlgorithmList> all_;
};
[[nodiscard]] Collectives built_in_collectives();
/// find() among the built-in ones.
[[nodiscard]] AlgorithmId algorithm_index(const std::string& name);

[[nodiscard]] const AlgorithmList& list_of(AlgorithmId id);
[[nodiscard]] const CollectiveAlgorithm& algorithm_of(AlgorithmId id);
[[nodiscard]] const CollectiveAlgorithm& algorithm_of(const CollectiveCall& call);
/// The list that the program's collectives are of; the built-in ones where it has none.
[[nodiscard]] const AlgorithmList& algorithms_of(const Program& program);

/// A problem with this collective on this group: size not a multiple of the element, a root outside, an algorithm that
/// lacks the kind or does not fit; empty when there is none. Expects live members within the machine.
[[nodiscard]] std::string check_collective(const Collective& collective, const Group& group,
                                           const machine::Machine& machine);

/// Appends the devices that `device` sends to in collective `index` of the program; none when it is no member.
void append_destinations(Lowerings& lowerings, DeviceId device, std::uint32_t index,
                         std::vector<DeviceId>& destinations);

/// Chunk `index` of `total` bytes cut into `parts` chunks of whole elements that differ by at most one element.
[[nodiscard]] Bytes chunk_bytes(Bytes total, Bytes element, std::uint32_t parts, std::uint32_t index);

/// Which algorithm each kind uses unless a collective names its own: the experiment's [collectives] table.
struct CollectiveChoices {
  std::string all_reduce = "ring";
  std::string reduce_scatter = "ring";
  std::string all_gather = "ring";
  std::string all_to_all = "direct";
  std::string broadcast = "binomial-tree";
  int rings = 0;                     ///< Collective::rings
  int channels = 0;                  ///< Program::channels
  std::string reduction = "memory";  ///< "memory": reductions cost memory time; "free"
  std::vector<Protocol> protocols;
  std::shared_ptr<const Protocols> library;  ///< the same, for Collective::protocols; null: there are none
  Collectives known = built_in_collectives();
  [[nodiscard]] AlgorithmId index_for(CollectiveKind kind) const;
  /// Sets the algorithm of a collective, by its kind, and what holds for all.
  void choose_for(Collective& collective) const;
  /// Sets its rings and protocols.
  void complete(Collective& collective) const;
};
[[nodiscard]] config::Schema<CollectiveChoices> collective_choices_schema(
    const Collectives& known = built_in_collectives());

}  // namespace tessera::program
