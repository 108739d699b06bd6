// Simple priority, which section 4.5 of T3 finds insufficient: communication
// that came first fills the queue.
#include "tessera/sim/memory/arbitration.hpp"

namespace tessera::sim {
namespace {

class ComputeFirst final : public ArbitrationPolicy {
 public:
  [[nodiscard]] ArbitrationChoice choose(const ArbitrationView& view, const ArbitrationState&) const override {
    for (const MemoryStream stream : {MemoryStream::compute, MemoryStream::communication}) {
      if (view.has(stream)) return {stream, never};
    }
    return {};
  }
};

}  // namespace

ArbitrationPointer make_compute_first(const ArbitrationSpec&) { return std::make_unique<ComputeFirst>(); }

}  // namespace tessera::sim
