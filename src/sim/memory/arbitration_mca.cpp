// Communication-aware arbitration (T3, section 4.5).
#include "tessera/sim/memory/arbitration.hpp"

namespace tessera::sim {
namespace {

class CommunicationAware final : public ArbitrationPolicy {
 public:
  explicit CommunicationAware(const ArbitrationSpec& spec)
      : first_threshold_(spec.threshold), threshold_(spec.threshold), starvation_limit_(spec.starvation_limit) {}

  [[nodiscard]] ArbitrationChoice choose(const ArbitrationView& view) const override {
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
    if (draining_ || view.occupancy < threshold_) return {MemoryStream::communication, never};
    return {std::nullopt, starved};
  }

  void set_threshold(std::uint32_t bursts) override { threshold_ = bursts; }
  void producer_began() override {
    draining_ = false;
    threshold_ = first_threshold_;  // the last producer's says nothing of this one
  }
  void producer_ended() override { draining_ = true; }

 private:
  std::uint32_t first_threshold_;
  std::uint32_t threshold_;
  Time starvation_limit_;
  bool draining_ = false;
};

}  // namespace

ArbitrationPointer make_mca(const ArbitrationSpec& spec) { return std::make_unique<CommunicationAware>(spec); }

}  // namespace tessera::sim
