// Ring: every member sends to the next one in the group only. Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce
// algorithms for clusters of workstations", J. Parallel Distrib. Comput. 69(2), 2009. All-to-all: step i sends to the
// i-th next member.
//
// Where a group has several members in each of several nodes, one ring would leave each node over one NIC. So there are
// as many rings as NICs, as communication libraries open them: ring r goes round the members of a node from another one
// on, and carries the r-th part of every chunk.
#include <algorithm>

#include "algorithms.hpp"
#include "all_to_all.hpp"
#include "ring_steps.hpp"
#include "tessera/program/message_time.hpp"

namespace tessera::program {
namespace {

/// One of the rings: the group's order, but that every node is entered at its member `entry`.
struct NodeRing {
  std::uint32_t entry = 0, locals = 1;

  NodeRing(const Lowering& lowering, std::uint32_t ring)
      : entry(ring * lowering.locals / lowering.rings), locals(lowering.locals) {}
  [[nodiscard]] std::uint32_t position_of(std::uint32_t rank) const {
    const std::uint32_t local = rank % locals;
    return rank - local + minus_modulo(local, entry, locals);
  }
  [[nodiscard]] std::uint32_t rank_at(std::uint32_t position) const {
    const std::uint32_t local = position % locals;
    return position - local + plus_modulo(local, entry, locals);
  }
  [[nodiscard]] RingPlace place(std::uint32_t rank, std::uint32_t size, std::uint32_t ring) const {
    const std::uint32_t position = position_of(rank);
    return {position, size, rank_at(plus_modulo(position, 1, size)), rank_at(minus_modulo(position, 1, size)),
            static_cast<std::uint16_t>(ring)};
  }
};

void step_of_ring(const Collective& collective, const RingPlace& at, std::uint32_t index, const auto& data_of,
                  Step& step) {
  if (collective.kind == CollectiveKind::reduce_scatter) return ring_reduce_scatter(at, index, data_of, step);
  if (collective.kind == CollectiveKind::all_gather) return ring_all_gather(at, index, data_of, step);
  ring_all_reduce(at, index, data_of, step);
}

class Ring final : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "ring"; }
  std::string help() const override {
    return "one direction round the group, size-1 steps a pass, a ring for each NIC of a node; all-to-all: step i to "
           "the i-th next member";
  }
  bool supports(CollectiveKind kind) const override { return kind != CollectiveKind::broadcast; }
  bool goes_round(CollectiveKind kind) const override { return kind != CollectiveKind::all_to_all; }
  std::string check(const Collective&, const Group&, const machine::Machine&) const override { return {}; }

  std::uint32_t strands(const CollectiveCall& call) const override { return call.lowering.rings; }

  std::uint32_t steps(const CollectiveCall& call) const override {
    return (call.collective->kind == CollectiveKind::all_reduce ? 2 : 1) * ring_pass(call.size);
  }

  void destinations(const CollectiveCall& call, std::vector<std::uint32_t>& ranks) const override {
    if (call.collective->kind == CollectiveKind::all_to_all) return CollectiveAlgorithm::destinations(call, ranks);
    if (call.size == 1) return;
    for (std::uint32_t ring = 0; ring < call.lowering.rings; ++ring)
      ranks.push_back(NodeRing(call.lowering, ring).place(call.rank, call.size, ring).next);
  }

  // Where chunks differ by an element, whoever has a larger one is not like the others.
  bool is_alike(const CollectiveCall& call, const CollectiveCall& other, std::uint32_t by) const override {
    const Collective& collective = *call.collective;
    const bool equal_chunks = collective.bytes.value() / collective.element.value() % call.size == 0;
    if (collective.kind == CollectiveKind::all_to_all || (equal_chunks && by % call.lowering.locals != 0))
      return CollectiveAlgorithm::is_alike(call, other, by);
    return by == 0 || equal_chunks;
  }

  void step(const CollectiveCall& call, std::uint32_t index, Step& step) const override {
    step.clear();
    const Collective& collective = *call.collective;
    if (collective.kind == CollectiveKind::all_to_all) return all_to_all_exchange(call, index + 1, step);
    const auto chunk = [&](std::uint32_t rank) { return chunk_of(collective, call.size, rank); };
    const std::uint32_t rings = call.lowering.rings;
    if (rings == 1) {
      const RingPlace at{call.rank, call.size, plus_modulo(call.rank, 1, call.size),
                         minus_modulo(call.rank, 1, call.size), 0};
      return step_of_ring(collective, at, index, chunk, step);
    }
    const NodeRing ring(call.lowering, call.strand);
    const auto part = [&](std::uint32_t position) {
      return chunk_of(chunk(ring.rank_at(position)), collective.element, rings, call.strand);
    };
    step_of_ring(collective, ring.place(call.rank, call.size, call.strand), index, part, step);
  }

  double time(const Collective& collective, const Group& group, const machine::Machine& machine) const override {
    if (group.members.size() == 1) return 0;
    if (collective.kind == CollectiveKind::all_to_all) return CollectiveAlgorithm::time(collective, group, machine);
    return time_of_steps(make_call(collective, group, 0, machine), 0);
  }
  double time_with_pauses(const CollectiveCall& call, const OnWire& wire) const override {
    if (call.collective->kind == CollectiveKind::all_to_all) return CollectiveAlgorithm::time_with_pauses(call, wire);
    return time_of_steps(call, static_cast<double>(wire.pause));
  }

 private:
  // Either the chunks travel from member to member without rest, or they queue up at the slowest link, behind which
  // pauses hide. Inside a node a member's link carries a message of every ring at a time that does not leave the node
  // there.
  double time_of_steps(const CollectiveCall& call, double pause) const {
    const Lowering& lowering = call.lowering;
    const Data chunk = chunk_of(*call.collective, call.size, 0);
    const std::int64_t part = chunk_of(chunk, call.collective->element, lowering.rings, 0).bytes;
    const std::int64_t together = part * std::max(1U, lowering.rings - lowering.rings / lowering.locals);
    const machine::Routes routes(call.machine->network);
    const auto& members = call.group->members;
    double round = 0, slowest = 0, latency_of_slowest = 0;
    for (std::uint32_t rank = 0; rank < call.size; ++rank) {
      const machine::Connection hop{members[rank], members[plus_modulo(rank, 1, call.size)]};
      const bool inside = (rank + 1) % lowering.locals != 0;
      const auto [time, latency] = message_times(routes, hop, Bytes{inside ? together : part});
      round += time + pause;
      if (time - latency <= slowest) continue;
      slowest = time - latency;
      latency_of_slowest = latency;
    }
    const double rest = steps(call) * std::max(slowest, pause) + latency_of_slowest + pause;
    return std::max(steps(call) * round / call.size, rest);
  }
};

}  // namespace

AlgorithmPointer make_ring() { return std::make_shared<Ring>(); }

}  // namespace tessera::program
