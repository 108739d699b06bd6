// Double tree: in each node a chain to a head, between the heads two binary trees, each with half of the data; sums go
// up, results down. Source: NCCL's algorithm "tree".
//
// As many heads as NICs that the members of a node can use have a part each, which goes in pieces, one behind the
// other. What goes up and what comes down are strands of their own, but for the root: it sends down what has come up.
#include <algorithm>
#include <bit>

#include "algorithms.hpp"
#include "chunks.hpp"
#include "node_tree.hpp"
#include "standing.hpp"
#include "tessera/program/message_time.hpp"

namespace tessera::program {
namespace {

constexpr std::int64_t piece_bytes = 131'072;  // a part goes in pieces of so much data or more,
constexpr std::uint32_t most_pieces = 64;      // so many at most

/// Whom a member talks to in one of the trees.
struct TreeLinks {
  std::optional<std::uint32_t> parent;
  boost::container::static_vector<std::uint32_t, 3> children;

  TreeLinks(const CollectiveCall& call, std::uint32_t head, bool second) {
    const Standing at(call);
    const std::uint32_t position = minus_modulo(at.local, head, at.locals);
    if (position + 1 < at.locals) children.push_back(at.rank_of(at.node, plus_modulo(at.local, 1, at.locals)));
    if (position > 0) {
      parent = at.rank_of(at.node, minus_modulo(at.local, 1, at.locals));
      return;
    }
    const NodeTree tree = node_tree(at.nodes, at.node, second);
    if (tree.parent) parent = at.rank_of(*tree.parent, head);
    for (const std::uint32_t child : tree.children) children.push_back(at.rank_of(child, head));
  }
};

/// How the buffer is shared out: a part for each head and tree, in pieces.
struct TreeParts {
  std::uint32_t heads = 1, pieces = 1;

  explicit TreeParts(const CollectiveCall& call) : heads(std::min(call.lowering.rings, most_rings / 4)) {
    const std::int64_t part = call.collective->bytes.value() / parts();
    pieces = static_cast<std::uint32_t>(std::clamp<std::int64_t>(part / piece_bytes, 1, most_pieces));
  }
  [[nodiscard]] std::uint32_t parts() const { return 2 * heads; }
  [[nodiscard]] Data piece(const Collective& collective, std::uint32_t part, std::uint32_t index) const {
    return chunk_of(chunk_of(collective, parts(), part), collective.element, pieces, index);
  }
};

/// What a strand of a member does with each piece: it comes from some members and goes on to others.
struct PieceStream {
  std::uint32_t part = 0;
  bool goes_up = false;
  TreeLinks links;

  // Strand (head * 2 + tree) * 2, and one more for what comes down.
  explicit PieceStream(const CollectiveCall& call)
      : part(call.strand / 2),
        goes_up(call.strand % 2 == 0),
        links(call, part / 2 * Standing(call).locals / TreeParts(call).heads, part % 2 != 0) {}

  [[nodiscard]] bool is_root() const { return !links.parent; }
  [[nodiscard]] bool is_empty() const { return is_root() && !goes_up; }
  [[nodiscard]] bool receives() const { return goes_up ? !links.children.empty() : true; }
  [[nodiscard]] bool sends() const { return goes_up ? !is_root() || !links.children.empty() : !links.children.empty(); }

  void add_receives(Step& step, const Data& piece, std::uint16_t lane) const {
    if (!goes_up) return add_receive(step, *links.parent, piece, lane);
    for (const std::uint32_t child : links.children) add_receive_and_reduce(step, child, piece, lane);
  }
  void add_sends(Step& step, const Data& piece, std::uint16_t lane) const {
    if (goes_up && !is_root()) return add_send(step, *links.parent, piece, lane);
    const auto down = static_cast<std::uint16_t>(lane | 1U);
    for (const std::uint32_t child : links.children) add_send(step, child, piece, down);
  }
};

class DoubleTree final : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "double-tree"; }
  std::string help() const override {
    return "two binary trees over nodes, half of the data each, and chains within nodes; in pieces";
  }
  bool supports(CollectiveKind kind) const override { return kind == CollectiveKind::all_reduce; }
  std::string check(const Collective&, const Group& group, const machine::Machine& machine) const override {
    const auto node = [&](DeviceId member) { return machine.places[member].node; };
    if (group.members.size() > 1 && node(group.members.front()) == node(group.members.back()))
      return name() + " needs members in several nodes";
    return standing_problem(name(), group, machine);
  }

  std::uint32_t strands(const CollectiveCall& call) const override { return 2 * TreeParts(call).parts(); }

  std::uint32_t steps(const CollectiveCall& call) const override {
    if (call.size == 1) return 0;
    const PieceStream stream(call);
    if (stream.is_empty()) return 0;
    return TreeParts(call).pieces + (stream.receives() && stream.sends() ? 1 : 0);
  }

  // A piece goes on in the step in which the next one is awaited.
  void step(const CollectiveCall& call, std::uint32_t index, Step& step) const override {
    step.clear();
    const PieceStream stream(call);
    const TreeParts parts(call);
    const auto lane = static_cast<std::uint16_t>(call.strand);
    const std::uint32_t behind = stream.receives() ? 1 : 0;
    if (stream.sends() && index >= behind)
      stream.add_sends(step, parts.piece(*call.collective, stream.part, index - behind), lane);
    if (!stream.receives() || index == parts.pieces) return;
    stream.add_receives(step, parts.piece(*call.collective, stream.part, index), lane);
    step.follows = index > 0;
  }

  Waits waits(const CollectiveCall& call) const override {
    const Standing at(call);
    return {2.0 * (at.locals - 1), 2.0 * std::bit_width(at.nodes - 1)};
  }

  // The way of the first piece up and down, and the others behind it on the busiest link.
  double time(const Collective& collective, const Group& group, const machine::Machine& machine) const override {
    if (group.members.size() == 1) return 0;
    const CollectiveCall call = make_call(collective, group, 0, machine);
    const Standing at(call);
    const TreeParts parts(call);
    const std::int64_t piece = parts.piece(collective, 0, 0).bytes;
    const auto hop = [&](std::uint32_t to, std::int64_t ahead) {
      return message_time(machine, group.members[0], group.members[to], Bytes{piece}, Bytes{ahead});
    };
    const double inside = at.locals > 1 ? hop(1, 0) : 0, across = at.nodes > 1 ? hop(at.locals, 0) : 0;
    const Waits hops = waits(call);
    const double first = hops.inside * inside + hops.across * across;
    // Up and down, all pieces of both trees; within a node those of all heads.
    const std::int64_t behind_across = piece * (4 * std::int64_t{parts.pieces} - 2);
    const std::int64_t behind_inside = piece * (2 * std::int64_t{parts.parts()} * parts.pieces - 2);
    const double rest_across = at.nodes > 1 ? hop(at.locals, behind_across) - across : 0;
    const double rest_inside = at.locals > 1 ? hop(1, behind_inside) - inside : 0;
    return first + std::max(rest_across, rest_inside * (at.locals - 1) / at.locals);
  }
};

}  // namespace

AlgorithmPointer make_double_tree() { return std::make_shared<DoubleTree>(); }

}  // namespace tessera::program
