// Direct: every member exchanges with every other one in a single step; for fully connected groups and switches.
#include "algorithms.hpp"
#include "all_to_all.hpp"

namespace tessera::program {
namespace {

class Direct final : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "direct"; }
  std::string help() const override { return "everyone with everyone in one step (all-reduce: two steps)"; }
  bool supports(CollectiveKind) const override { return true; }
  std::string check(const Collective&, const Group&, const machine::Machine&) const override { return {}; }

  std::uint32_t steps(const CollectiveCall& call) const override {
    if (call.size == 1) return 0;
    return call.collective->kind == CollectiveKind::all_reduce ? 2 : 1;
  }

  void step(const CollectiveCall& call, std::uint32_t index, Step& step) const override {
    step.clear();
    switch (call.collective->kind) {
      case CollectiveKind::reduce_scatter:
        return reduce_scatter(call, step);
      case CollectiveKind::all_gather:
        return all_gather(call, step);
      case CollectiveKind::all_reduce:
        return index == 0 ? reduce_scatter(call, step) : all_gather(call, step);
      case CollectiveKind::broadcast:
        return broadcast(call, step);
      case CollectiveKind::all_to_all:
        return all_to_all_at_once(call, step);
    }
  }

 private:
  static Data chunk(const CollectiveCall& call, std::uint32_t owner) {
    return chunk_of(*call.collective, call.size, owner);
  }

  // Everyone starts with its own next member, so that no member is everyone's first destination.
  static void reduce_scatter(const CollectiveCall& call, Step& step) {
    const Data own = chunk(call, call.rank);
    for (std::uint32_t i = 1; i < call.size; ++i) {
      const std::uint32_t to = plus_modulo(call.rank, i, call.size);
      add_send(step, to, chunk(call, to));
      add_receive_and_reduce(step, minus_modulo(call.rank, i, call.size), own);
    }
  }

  static void all_gather(const CollectiveCall& call, Step& step) {
    const Data own = chunk(call, call.rank);
    for (std::uint32_t i = 1; i < call.size; ++i) {
      const std::uint32_t from = minus_modulo(call.rank, i, call.size);
      add_send(step, plus_modulo(call.rank, i, call.size), own);
      add_receive(step, from, chunk(call, from));
    }
  }

  static void broadcast(const CollectiveCall& call, Step& step) {
    const Data whole = whole_of(*call.collective);
    const std::uint32_t root = call.collective->root;
    if (call.rank != root) return add_receive(step, root, whole);
    for (std::uint32_t i = 1; i < call.size; ++i) add_send(step, plus_modulo(root, i, call.size), whole);
    step.wait_sends = true;
  }
};

}  // namespace

AlgorithmPointer make_direct() { return std::make_shared<Direct>(); }

}  // namespace tessera::program
