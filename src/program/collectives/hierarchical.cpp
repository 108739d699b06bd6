// Hierarchical: rings inside every node, and rings across nodes between the members with the same place in theirs, so
// that each member carries only its share over the slower network. Broadcast: a binomial tree across nodes, then one
// inside each.
#include <algorithm>
#include <bit>

#include "algorithms.hpp"
#include "ring_steps.hpp"
#include "standing.hpp"
#include "tessera/program/message_time.hpp"
#include "tree_steps.hpp"

namespace tessera::program {
namespace {

RingPlace inside(const Standing& at) {
  const std::uint32_t next = at.rank_of(at.node, plus_modulo(at.local, 1, at.locals));
  return {at.local, at.locals, next, at.rank_of(at.node, minus_modulo(at.local, 1, at.locals)), 0};
}
RingPlace across(const Standing& at) {
  const std::uint32_t next = at.rank_of(plus_modulo(at.node, 1, at.nodes), at.local);
  return {at.node, at.nodes, next, at.rank_of(minus_modulo(at.node, 1, at.nodes), at.local), 0};
}

/// Members of the first one's node that reach other nodes over the same NIC: all of them do at the same time.
std::int64_t sharing_the_nic(const Group& group, const machine::Machine& machine, std::uint32_t locals) {
  const int nic = machine.places[group.members[0]].nic;
  if (nic < 0) return 1;
  const auto first = group.members.begin();
  return std::count_if(first, first + locals, [&](DeviceId member) { return machine.places[member].nic == nic; });
}

class Hierarchical final : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "hierarchical"; }
  std::string help() const override {
    return "inside every node, then across nodes, then inside again; rings (broadcast: trees)";
  }
  bool supports(CollectiveKind kind) const override { return kind != CollectiveKind::all_to_all; }
  bool goes_round(CollectiveKind kind) const override { return kind != CollectiveKind::broadcast; }

  std::string check(const Collective&, const Group& group, const machine::Machine& machine) const override {
    return standing_problem(name(), group, machine);
  }

  std::uint32_t steps(const CollectiveCall& call) const override {
    if (call.size == 1) return 0;
    const Standing at(call);
    switch (call.collective->kind) {
      case CollectiveKind::all_reduce:
        return 2 * ring_pass(at.locals) + 2 * ring_pass(at.nodes);
      case CollectiveKind::broadcast:
        return broadcast_steps(call, at);
      default:
        return ring_pass(at.locals) + ring_pass(at.nodes);
    }
  }

  void destinations(const CollectiveCall& call, std::vector<std::uint32_t>& ranks) const override {
    if (call.size == 1) return;
    if (call.collective->kind == CollectiveKind::broadcast) return CollectiveAlgorithm::destinations(call, ranks);
    const Standing at(call);
    if (at.locals > 1) ranks.push_back(inside(at).next);
    if (at.nodes > 1) ranks.push_back(across(at).next);
  }

  double time(const Collective& collective, const Group& group, const machine::Machine& machine) const override {
    if (group.members.size() == 1) return 0;
    const CollectiveCall call = make_call(collective, group, 0, machine);
    const Standing at(call);
    const auto hop = [&](std::uint32_t to, std::int64_t bytes, std::int64_t ahead = 0) {
      return message_time(machine, group.members[0], group.members[to], Bytes{bytes}, Bytes{ahead});
    };
    const double in_nodes = at.locals > 1 ? hop(1, part_of(collective.bytes.value(), at.locals)) : 0;
    const std::int64_t part = part_of(collective.bytes.value(), call.size);
    const std::int64_t ahead = (sharing_the_nic(group, machine, at.locals) - 1) * part;
    const double across_nodes = at.nodes > 1 ? hop(at.locals, part, ahead) : 0;
    if (collective.kind == CollectiveKind::broadcast) {
      return std::bit_width(at.nodes - 1) * (at.nodes > 1 ? hop(at.locals, collective.bytes.value()) : 0) +
             std::bit_width(at.locals - 1) * (at.locals > 1 ? hop(1, collective.bytes.value()) : 0);
    }
    const double once = ring_pass(at.locals) * in_nodes + ring_pass(at.nodes) * across_nodes;
    return collective.kind == CollectiveKind::all_reduce ? 2 * once : once;
  }

  void step(const CollectiveCall& call, std::uint32_t index, Step& step) const override {
    step.clear();
    const Standing at(call);
    switch (call.collective->kind) {
      case CollectiveKind::all_reduce:
        return all_reduce(call, at, index, step);
      case CollectiveKind::reduce_scatter:
        return reduce_scatter(call, at, index, step);
      case CollectiveKind::all_gather:
        return all_gather(call, at, index, step);
      case CollectiveKind::broadcast:
        return broadcast(call, at, index, step);
      case CollectiveKind::all_to_all:
        return;
    }
  }

 private:
  static void all_reduce(const CollectiveCall& call, const Standing& at, std::uint32_t index, Step& step) {
    const Data whole = whole_of(*call.collective);
    const Bytes element = call.collective->element;
    const auto local_part = [&](std::uint32_t local) { return chunk_of(whole, element, at.locals, local); };
    const auto node_part = [&](std::uint32_t node) { return chunk_of(local_part(at.local), element, at.nodes, node); };
    if (index < ring_pass(at.locals)) return ring_reduce_scatter(inside(at), index, local_part, step);
    index -= ring_pass(at.locals);
    if (index < 2 * ring_pass(at.nodes)) return ring_all_reduce(across(at), index, node_part, step);
    ring_all_gather(inside(at), index - 2 * ring_pass(at.nodes), local_part, step);
  }

  static std::int64_t part_of(std::int64_t bytes, std::uint32_t parts) { return (bytes + parts - 1) / parts; }

  static Data own_chunk(const CollectiveCall& call, std::uint32_t rank) {
    return chunk_of(*call.collective, call.size, rank);
  }

  /// The chunks of the members at one place in all nodes: every `locals`-th chunk.
  static Data chunks_of_place(const CollectiveCall& call, const Standing& at, std::uint32_t local) {
    const Bytes element = call.collective->element;
    const std::int64_t elements = call.collective->bytes / element;
    const std::int64_t larger = elements % call.size;  // chunks 0 .. larger-1 hold one element more
    const std::int64_t larger_here = larger > local ? (larger - local + at.locals - 1) / at.locals : 0;
    const std::int64_t here = (elements / call.size) * at.nodes + larger_here;
    return {own_chunk(call, local).offset, (here * element).value(), at.locals};
  }

  static void reduce_scatter(const CollectiveCall& call, const Standing& at, std::uint32_t index, Step& step) {
    const auto place_part = [&](std::uint32_t local) { return chunks_of_place(call, at, local); };
    const auto node_part = [&](std::uint32_t node) { return own_chunk(call, at.rank_of(node, at.local)); };
    if (index < ring_pass(at.locals)) return ring_reduce_scatter(inside(at), index, place_part, step);
    ring_reduce_scatter(across(at), index - ring_pass(at.locals), node_part, step);
  }

  static void all_gather(const CollectiveCall& call, const Standing& at, std::uint32_t index, Step& step) {
    const auto place_part = [&](std::uint32_t local) { return chunks_of_place(call, at, local); };
    const auto node_part = [&](std::uint32_t node) { return own_chunk(call, at.rank_of(node, at.local)); };
    if (index < ring_pass(at.nodes)) return ring_all_gather(across(at), index, node_part, step);
    ring_all_gather(inside(at), index - ring_pass(at.nodes), place_part, step);
  }

  // The member of each node that stands where the root does in its own is the root of that node.
  static TreePlace tree_across(const CollectiveCall& call, const Standing& at) {
    return {minus_modulo(at.node, call.collective->root / at.locals, at.nodes), at.nodes};
  }
  static TreePlace tree_inside(const CollectiveCall& call, const Standing& at) {
    return {minus_modulo(at.local, call.collective->root % at.locals, at.locals), at.locals};
  }

  static std::uint32_t broadcast_steps(const CollectiveCall& call, const Standing& at) {
    const TreePlace tree = tree_inside(call, at);
    return (tree.is_root() ? tree_broadcast_steps(tree_across(call, at)) : 0) + tree_broadcast_steps(tree);
  }

  static void broadcast(const CollectiveCall& call, const Standing& at, std::uint32_t index, Step& step) {
    const Data whole = whole_of(*call.collective);
    const std::uint32_t root_node = call.collective->root / at.locals;
    const std::uint32_t root_local = call.collective->root % at.locals;
    const TreePlace tree = tree_inside(call, at);
    if (tree.is_root()) {
      const TreePlace of_nodes = tree_across(call, at);
      const auto rank_across = [&](std::uint32_t relative) {
        return at.rank_of(plus_modulo(relative, root_node, at.nodes), root_local);
      };
      if (index < tree_broadcast_steps(of_nodes)) return tree_broadcast(of_nodes, index, whole, rank_across, step);
      index -= tree_broadcast_steps(of_nodes);
    }
    const auto rank_inside = [&](std::uint32_t relative) {
      return at.rank_of(at.node, plus_modulo(relative, root_local, at.locals));
    };
    tree_broadcast(tree, index, whole, rank_inside, step);
  }
};

}  // namespace

AlgorithmPointer make_hierarchical() { return std::make_shared<Hierarchical>(); }

}  // namespace tessera::program
