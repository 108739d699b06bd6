// Communication-aware arbitration (T3, section 4.5).
#include "tessera/sim/memory/arbitration.hpp"

namespace tessera::sim {
namespace {

class CommunicationAware final : public ArbitrationPolicy {
 public:
  explicit CommunicationAware(const ArbitrationSpec& spec)
      : threshold_(spec.threshold), starvation_limit_(spec.starvation_limit) {}

  [[nodiscard]] ArbitrationChoice choose(const ArbitrationView& view, const ArbitrationState& state) const override {
    const bool compute = view.has(MemoryStream::compute);
    if (!view.has(MemoryStream::communication)) {
      return compute ? ArbitrationChoice{MemoryStream::compute, never} : ArbitrationChoice{};
    }
    const StreamHead& waiting = view.head(MemoryStream::communication);
    const Time starved = saturating_add(waiting.waiting_since, bursts_of(waiting.request->bytes) * starvation_limit_);
    if (view.now >= starved) return {MemoryStream::communication, never};
    if (compute) return {MemoryStream::compute, starved};
    // Room is kept for compute requests to come; after the producer's end there
    // are none to keep it for.
    if (state.draining || view.occupancy < state.threshold.value_or(threshold_))
      return {MemoryStream::communication, never};
    return {std::nullopt, starved};
  }

 private:
  std::uint32_t threshold_;
  Time starvation_limit_;
};

}  // namespace

ArbitrationPointer make_mca(const ArbitrationSpec& spec) { return std::make_unique<CommunicationAware>(spec); }

}  // namespace tessera::sim
