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
  [[nodiscard]] ArbitrationChoice choose(const ArbitrationView& view) const override {
    if (view.has(turn_)) return {turn_, never};
    if (view.has(other(turn_))) return {other(turn_), never};
    return {};
  }
  void entered(MemoryStream stream) override { turn_ = other(stream); }

 private:
  MemoryStream turn_ = MemoryStream::compute;
};

}  // namespace

ArbitrationPointer make_round_robin(const ArbitrationSpec&) { return std::make_unique<RoundRobin>(); }

}  // namespace tessera::sim
