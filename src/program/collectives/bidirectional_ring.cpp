// Bidirectional ring: every chunk is halved; one half goes round forwards, the other backwards, each on a lane of its
// own, so that both directions of every link carry half the data.
#include "algorithms.hpp"
#include "ring_steps.hpp"

namespace tessera::program {
namespace {

class BidirectionalRing final : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "bidirectional-ring"; }
  std::string help() const override { return "both directions round the group at once, each with half of the data"; }
  bool supports(CollectiveKind kind) const override {
    return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter ||
           kind == CollectiveKind::all_gather;
  }
  bool goes_round(CollectiveKind) const override { return true; }
  std::string check(const Collective&, const Group&, const machine::Machine&) const override { return {}; }

  std::uint32_t steps(const CollectiveCall& call) const override {
    return (call.collective->kind == CollectiveKind::all_reduce ? 2 : 1) * ring_pass(call.size);
  }

  void destinations(const CollectiveCall& call, std::vector<std::uint32_t>& ranks) const override {
    if (call.size == 1) return;
    ranks.push_back(plus_modulo(call.rank, 1, call.size));
    ranks.push_back(minus_modulo(call.rank, 1, call.size));
  }

  void step(const CollectiveCall& call, std::uint32_t index, Step& step) const override {
    step.clear();
    const std::uint32_t size = call.size;
    const std::uint32_t next = plus_modulo(call.rank, 1, size);
    const std::uint32_t previous = minus_modulo(call.rank, 1, size);
    const auto half = [&](std::uint32_t chunk, std::uint32_t which) {
      const Collective& collective = *call.collective;
      const Data whole = chunk_of(collective, size, chunk);
      return chunk_of(whole, collective.element, 2, which);
    };
    const RingPlace forwards{call.rank, size, next, previous, 0};
    pass(
        *call.collective, forwards, index, [&](std::uint32_t chunk) { return half(chunk, 0); }, step);
    // Positions run the other way round: position p is rank -p, and so is the owner of its chunk.
    const RingPlace backwards{minus_modulo(0, call.rank, size), size, previous, next, 1};
    pass(
        *call.collective, backwards, index, [&](std::uint32_t chunk) { return half(minus_modulo(0, chunk, size), 1); },
        step);
  }

 private:
  template <class DataOf>
  static void pass(const Collective& collective, const RingPlace& at, std::uint32_t index, const DataOf& data_of,
                   Step& step) {
    if (collective.kind == CollectiveKind::reduce_scatter) return ring_reduce_scatter(at, index, data_of, step);
    if (collective.kind == CollectiveKind::all_gather) return ring_all_gather(at, index, data_of, step);
    ring_all_reduce(at, index, data_of, step);
  }
};

}  // namespace

AlgorithmPointer make_bidirectional_ring() { return std::make_shared<BidirectionalRing>(); }

}  // namespace tessera::program
