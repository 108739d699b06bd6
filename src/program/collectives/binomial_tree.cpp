// Binomial tree: broadcast in ceil(log2 size) rounds; all-reduce is a reduction to rank 0 up the tree, then a broadcast
// down it. Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 19(1), 2005.
#include "algorithms.hpp"
#include "tessera/program/message_time.hpp"
#include "tree_steps.hpp"

namespace tessera::program {
namespace {

class BinomialTree final : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "binomial-tree"; }
  std::string help() const override { return "the whole buffer along a binomial tree, log2(size) rounds each way"; }
  bool supports(CollectiveKind kind) const override {
    return kind == CollectiveKind::broadcast || kind == CollectiveKind::all_reduce;
  }
  std::string check(const Collective&, const Group&, const machine::Machine&) const override { return {}; }

  std::uint32_t steps(const CollectiveCall& call) const override {
    const TreePlace at = place(call);
    const std::uint32_t down = tree_broadcast_steps(at);
    return call.collective->kind == CollectiveKind::broadcast ? down : at.children() + down;
  }

  // One round for each distance in the tree, 1, 2, 4, ...
  double time(const Collective& collective, const Group& group, const machine::Machine& machine) const override {
    const auto size = static_cast<std::uint32_t>(group.members.size());
    double time = 0;
    for (std::uint32_t distance = 1; distance < size; distance *= 2)
      time += message_time(machine, group.members[0], group.members[distance], collective.bytes);
    return collective.kind == CollectiveKind::all_reduce ? 2 * time : time;
  }

  void step(const CollectiveCall& call, std::uint32_t index, Step& step) const override {
    step.clear();
    const TreePlace at = place(call);
    const Data whole = whole_of(*call.collective);
    const auto rank_of = [&](std::uint32_t relative) { return plus_modulo(relative, root(call), call.size); };
    if (call.collective->kind == CollectiveKind::all_reduce) {
      if (index < at.children()) return add_receive_and_reduce(step, rank_of(at.child(index)), whole);
      index -= at.children();
      // The sum goes up in the step that waits for the result.
      if (index == 0 && !at.is_root()) add_send(step, rank_of(at.parent()), whole);
    }
    tree_broadcast(at, index, whole, rank_of, step);
  }

 private:
  static std::uint32_t root(const CollectiveCall& call) {
    return call.collective->kind == CollectiveKind::broadcast ? call.collective->root : 0;
  }
  static TreePlace place(const CollectiveCall& call) {
    return {minus_modulo(call.rank, root(call), call.size), call.size};
  }
};

}  // namespace

AlgorithmPointer make_binomial_tree() { return std::make_shared<BinomialTree>(); }

}  // namespace tessera::program
