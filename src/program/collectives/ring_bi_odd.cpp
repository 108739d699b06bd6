// RingBiOdd: a ring both ways for an odd number of dies of a mesh, which has no odd cycle. Source: Laskar et al.,
// "Enhancing collective communication in MCM accelerators for deep learning training", HPCA 2024; WATOS, section VI-B,
// takes it for groups of seven. As we take it: the ring goes over all dies but one (odd_ring.hpp), and of each half of
// the data, which goes round one way, the one left out hangs on a member of the ring, its host. It is as if it stood
// before its host on a ring of all: what would come to it goes to the host at once, which hands it on to it one step
// later, in the step in which a ring of all would bring it to the host. So there are as many steps as on a ring of all,
// no link carries more than one message a step where there are two hosts, and nobody waits for whole buffers.
#include "algorithms.hpp"
#include "odd_ring.hpp"
#include "ring_steps.hpp"
#include "tessera/program/message_time.hpp"

namespace tessera::program {
namespace {

/// A member on the way of one half, numbered from the one left out on: it is 0, its host 1, the last one size-1.
struct OddPlace {
  std::uint32_t place = 0, size = 3;
  [[nodiscard]] std::uint32_t last() const { return size - 1; }
  /// Whose chunk the host hands to the one left out in a step of an all-gather.
  [[nodiscard]] std::uint32_t handed_out(std::uint32_t index) const { return index == 0 ? 1 : size - index; }
  /// Whose chunk a member sends on round the ring.
  [[nodiscard]] std::uint32_t sent_on(std::uint32_t from, std::uint32_t index) const {
    return minus_modulo(from, index, size);
  }
};

/// Step `index` of size-1 of an all-gather: sends(to, chunk), receives(from, chunk), all by their places. A reduce-
/// scatter is the same backwards in time.
template <class Sends, class Receives>
void gather(const OddPlace& at, std::uint32_t index, const Sends& sends, const Receives& receives) {
  const bool is_last_step = index == at.size - 2;
  if (at.place == 0) {
    if (index == 0) sends(1, 0);
    return receives(1, at.handed_out(index));
  }
  // The host has its own chunk: the last step would bring it.
  if (at.place < at.last()) sends(at.place + 1, at.sent_on(at.place, index));
  if (at.place == at.last() && !is_last_step) sends(1, at.sent_on(at.place, index));
  if (at.place > 1) return receives(at.place - 1, at.sent_on(at.place - 1, index));
  sends(0, at.handed_out(index));
  if (!is_last_step) receives(at.last(), at.sent_on(at.last(), index));
  if (index == 0) receives(0, 0);
}

class RingBiOdd final : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "ring-bi-odd"; }
  std::string help() const override {
    return "both directions round all but one of an odd number of neighbouring dies, and that one through its "
           "neighbours";
  }
  bool supports(CollectiveKind kind) const override {
    return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter ||
           kind == CollectiveKind::all_gather;
  }
  std::string check(const Collective&, const Group& group, const machine::Machine& machine) const override {
    if (group.members.size() == 1) return {};
    if (group.members.size() % 2 == 0)
      return "ring-bi-odd is for an odd number of members; for an even one list a cycle and take bidirectional-ring";
    return odd_ring_of(group, machine) == nullptr
               ? "ring-bi-odd found no cycle of live links both ways over all members but one"
               : "";
  }
  std::shared_ptr<const GroupPlan> plan(const Group& group, const machine::Machine& machine) const override {
    return odd_ring_of(group, machine);
  }

  std::uint32_t steps(const CollectiveCall& call) const override {
    if (call.lowering.plan == nullptr) return 0;
    return (call.collective->kind == CollectiveKind::all_reduce ? 2 : 1) * (call.size - 1);
  }

  void step(const CollectiveCall& call, std::uint32_t index, Step& step) const override {
    step.clear();
    const std::uint32_t pass = call.size - 1;
    const bool scatters = call.collective->kind != CollectiveKind::all_gather && index < pass;
    // Of an all-reduce: the all-gather follows.
    const std::uint32_t of_gather = scatters ? pass - 1 - index : index % pass;
    for (const std::uint32_t half : {0U, 1U}) half_step(call, half, scatters, of_gather, step);
  }

  /// Of the slowest of its links. Two hosts: all members go on in step. One: it has both halves to hand on, and with
  /// reductions of a pass or without them the first message of the one left out and the last to it frame the others.
  double time(const Collective& collective, const Group& group, const machine::Machine& machine) const override {
    const auto ring = odd_ring_of(group, machine);
    if (ring == nullptr) return 0;
    const auto size = static_cast<std::uint32_t>(group.members.size());
    const std::int64_t half = chunk_of(chunk_of(collective, size, 0), collective.element, 2, 0).bytes;
    double hop = 0, latency = 0;
    const auto look_at = [&](std::uint32_t from, std::uint32_t to) {
      const double took = message_time(machine, group.members[from], group.members[to], Bytes{half});
      if (took <= hop) return;
      hop = took;
      latency = message_time(machine, group.members[from], group.members[to], Bytes{0});
    };
    for (std::uint32_t i = 0; i < ring->order.size(); ++i)
      look_at(ring->order[i], ring->order[(i + 1) % ring->order.size()]);
    for (const std::uint32_t host : ring->joins) look_at(ring->left_out, ring->order[host]);
    const double sent = hop - latency;
    const bool has_two_hosts = ring->joins[0] != ring->joins[1];
    // A ring of two has one link each way, for both halves.
    double pass = (size - 1) * hop + (size == 3 ? sent : 0);
    if (!has_two_hosts) pass = std::max((size - 1) * hop + 2 * sent, 2 * latency + 2 * (size - 1) * sent);
    return (collective.kind == CollectiveKind::all_reduce ? 2 : 1) * pass;
  }

 private:
  static void half_step(const CollectiveCall& call, std::uint32_t half, bool scatters, std::uint32_t index,
                        Step& step) {
    const auto& ring = static_cast<const OddRing&>(*call.lowering.plan);
    const std::uint32_t length = call.size - 1, host = ring.joins[half];
    const auto rank_at = [&](std::uint32_t place) {
      if (place == 0) return ring.left_out;
      return ring.order[half == 0 ? plus_modulo(host, place - 1, length) : minus_modulo(host, place - 1, length)];
    };
    const std::uint32_t position = ring.positions[call.rank];
    const std::uint32_t from_host =
        half == 0 ? minus_modulo(position, host, length) : minus_modulo(host, position, length);
    const OddPlace at{call.rank == ring.left_out ? 0 : from_host + 1, call.size};
    const auto data_of = [&](std::uint32_t place) {
      return chunk_of(chunk_of(*call.collective, call.size, rank_at(place)), call.collective->element, 2, half);
    };
    const auto lane = static_cast<std::uint16_t>(half);
    const auto sends = [&](std::uint32_t to, std::uint32_t chunk) {
      add_send(step, rank_at(to), data_of(chunk), lane);
    };
    if (scatters) {
      gather(
          at, index,
          [&](std::uint32_t to, std::uint32_t chunk) {
            add_receive_and_reduce(step, rank_at(to), data_of(chunk), lane);
          },
          sends);
    } else {
      gather(at, index, sends,
             [&](std::uint32_t from, std::uint32_t chunk) { add_receive(step, rank_at(from), data_of(chunk), lane); });
    }
  }
};

}  // namespace

AlgorithmPointer make_ring_bi_odd() { return std::make_shared<RingBiOdd>(); }

}  // namespace tessera::program
