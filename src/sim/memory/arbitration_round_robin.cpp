// T3 without its own arbitration (section 4.5): the streams take turns, a
// request each.
#include "tessera/sim/memory/arbitration.hpp"

namespace tessera::sim {
namespace {

MemoryStream other(MemoryStream stream) {
  return stream == MemoryStream::compute ? MemoryStream::communication : MemoryStream::compute;
}

class RoundRobin final : public ArbitrationPolicy {
 public:
  [[nodiscard]] ArbitrationChoice choose(const ArbitrationView& view, const ArbitrationState& state) const override {
    const MemoryStream turn = state.latest ? other(*state.latest) : MemoryStream::compute;
    if (view.has(turn)) return {turn, never};
    if (view.has(other(turn))) return {other(turn), never};
    return {};
  }
};

}  // namespace

ArbitrationPointer make_round_robin(const ArbitrationSpec&) { return std::make_unique<RoundRobin>(); }

}  // namespace tessera::sim
