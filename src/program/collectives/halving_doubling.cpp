// Recursive halving and doubling: log2(size) exchanges with partners at a distance of size/2, size/4, ...
// (reduce-scatter) and back (all-gather). An all-reduce of any other size first folds the surplus members into
// neighbours. Source: Rabenseifner, "Optimization of collective reduction operations", ICCS 2004.
#include <bit>

#include "algorithms.hpp"
#include "chunks.hpp"

namespace tessera::program {
namespace {

/// The members 2i and 2i+1 of the first 2*surplus act as one, the odd one; all others act for themselves.
struct Folding {
  std::uint32_t actors = 1;  ///< the largest power of two within the group
  std::uint32_t surplus = 0;

  explicit Folding(std::uint32_t size) : actors(std::bit_floor(size)), surplus(size - actors) {}
  [[nodiscard]] bool folds(std::uint32_t rank) const { return rank < 2 * surplus; }
  [[nodiscard]] bool acts(std::uint32_t rank) const { return !folds(rank) || rank % 2 == 1; }
  [[nodiscard]] std::uint32_t actor(std::uint32_t rank) const { return folds(rank) ? rank / 2 : rank - surplus; }
  [[nodiscard]] std::uint32_t rank_of(std::uint32_t actor) const {
    return actor < surplus ? 2 * actor + 1 : actor + surplus;
  }
  [[nodiscard]] std::uint32_t exchanges() const { return static_cast<std::uint32_t>(std::bit_width(actors) - 1); }
};

class HalvingDoubling final : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "halving-doubling"; }
  std::string help() const override {
    return "exchanges at distances size/2, size/4, ...; reduce-scatter and all-gather need a power of two";
  }
  bool supports(CollectiveKind kind) const override {
    return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter ||
           kind == CollectiveKind::all_gather;
  }
  std::string check(const Collective& collective, const Group& group, const machine::Machine&) const override {
    if (collective.kind == CollectiveKind::all_reduce || std::has_single_bit(group.members.size())) return {};
    return "halving-doubling needs a number of members that is a power of two, except for an all-reduce";
  }

  std::uint32_t steps(const CollectiveCall& call) const override {
    const Folding folding(call.size);
    if (call.collective->kind != CollectiveKind::all_reduce) return folding.exchanges();
    if (!folding.acts(call.rank)) return 1;
    return 2 * folding.exchanges() + (folding.folds(call.rank) ? 2 : 0);
  }

  void step(const CollectiveCall& call, std::uint32_t index, Step& step) const override {
    step.clear();
    const Folding folding(call.size);
    if (folding.folds(call.rank) && fold(call, folding, index, step)) return;
    if (folding.folds(call.rank)) --index;
    const std::uint32_t exchanges = folding.exchanges();
    const CollectiveKind kind = call.collective->kind;
    if (kind == CollectiveKind::all_gather) return doubling(call, folding, index, step);
    if (index < exchanges) return halving(call, folding, exchanges - 1 - index, step);
    doubling(call, folding, index - exchanges, step);
  }

 private:
  /// The first and the last step of a folded member; false for those between.
  static bool fold(const CollectiveCall& call, const Folding& folding, std::uint32_t index, Step& step) {
    const Data whole = whole_of(*call.collective);
    if (!folding.acts(call.rank)) {
      add_send(step, call.rank + 1, whole);
      add_receive(step, call.rank + 1, whole);
      return true;
    }
    if (index == 0) {
      add_receive_and_reduce(step, call.rank - 1, whole);
      return true;
    }
    if (index < 1 + 2 * folding.exchanges()) return false;
    add_send(step, call.rank - 1, whole);
    return true;
  }

  /// Chunks of the actor's block of 2^level: those with the same higher bits.
  static Data block(const CollectiveCall& call, const Folding& folding, std::uint32_t actor, std::uint32_t level) {
    const std::uint32_t width = 1U << level;
    return chunks_of(whole_of(*call.collective), call.collective->element, folding.actors, actor & ~(width - 1), width);
  }

  static void halving(const CollectiveCall& call, const Folding& folding, std::uint32_t level, Step& step) {
    const std::uint32_t actor = folding.actor(call.rank);
    const std::uint32_t partner = actor ^ (1U << level);
    add_send(step, folding.rank_of(partner), block(call, folding, partner, level));
    add_receive_and_reduce(step, folding.rank_of(partner), block(call, folding, actor, level));
  }

  static void doubling(const CollectiveCall& call, const Folding& folding, std::uint32_t level, Step& step) {
    const std::uint32_t actor = folding.actor(call.rank);
    const std::uint32_t partner = actor ^ (1U << level);
    add_send(step, folding.rank_of(partner), block(call, folding, actor, level));
    add_receive(step, folding.rank_of(partner), block(call, folding, partner, level));
  }
};

}  // namespace

AlgorithmPointer make_halving_doubling() { return std::make_shared<HalvingDoubling>(); }

}  // namespace tessera::program
