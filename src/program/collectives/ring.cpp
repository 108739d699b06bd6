// Ring: every member sends to the next one in the group only. Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce
// algorithms for clusters of workstations", J. Parallel Distrib. Comput. 69(2), 2009. All-to-all: step i sends to the
// i-th next member.
#include "algorithms.hpp"
#include "all_to_all.hpp"
#include "ring_steps.hpp"

namespace tessera::program {
namespace {

class Ring final : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "ring"; }
  std::string help() const override {
    return "one direction round the group, size-1 steps a pass; all-to-all: step i to the i-th next member";
  }
  bool supports(CollectiveKind kind) const override { return kind != CollectiveKind::broadcast; }
  std::string check(const Collective&, const Group&, const machine::Machine&) const override { return {}; }

  std::uint32_t steps(const CollectiveCall& call) const override {
    return (call.collective->kind == CollectiveKind::all_reduce ? 2 : 1) * ring_pass(call.size);
  }

  void destinations(const CollectiveCall& call, std::vector<std::uint32_t>& ranks) const override {
    if (call.collective->kind == CollectiveKind::all_to_all) return CollectiveAlgorithm::destinations(call, ranks);
    if (call.size > 1) ranks.push_back(plus_modulo(call.rank, 1, call.size));
  }

  void step(const CollectiveCall& call, std::uint32_t index, Step& step) const override {
    step.clear();
    const Collective& collective = *call.collective;
    const RingPlace at{call.rank, call.size, plus_modulo(call.rank, 1, call.size),
                       minus_modulo(call.rank, 1, call.size), 0};
    const auto data_of = [&](std::uint32_t chunk) {
      return chunk_of({0, collective.bytes, 0}, collective.element, call.size, chunk);
    };
    switch (collective.kind) {
      case CollectiveKind::reduce_scatter:
        return ring_reduce_scatter(at, index, data_of, step);
      case CollectiveKind::all_gather:
        return ring_all_gather(at, index, data_of, step);
      case CollectiveKind::all_reduce:
        return ring_all_reduce(at, index, data_of, step);
      case CollectiveKind::all_to_all:
        return all_to_all_exchange(call, index + 1, step);
      case CollectiveKind::broadcast:
        return;
    }
  }
};

}  // namespace

AlgorithmPointer make_ring() { return std::make_unique<Ring>(); }

}  // namespace tessera::program
