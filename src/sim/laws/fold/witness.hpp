// What a folded simulation has sent, as a number: two that stand for different parts have done the same where these
// are equal.
#pragma once

#include <cstdint>

#include "sim/laws/fold/fold.hpp"

namespace tessera::sim {

/// The sum of a hash of each message between components, by what stands in the first block for those that it names. So
/// the order within one instant does not count.
class Witness final : public SentMessages {
 public:
  /// `base`: shifts from the first block to what is simulated. The fold outlives it.
  Witness(const Fold& fold, std::uint32_t base) : fold_(&fold), back_(fold.order() - base) {}

  void sees(Time at, machine::LinkId link, machine::NodeId destination, const Segment& segment) override;
  void sees(Time at, machine::LinkId link, machine::NodeId destination, const Segments& segments) override;
  void sees(Time at, machine::LinkId link, machine::NodeId destination, const Delivered& delivered) override;
  void sees(Time at, machine::LinkId link, machine::NodeId destination, const Amend& amend) override;
  [[nodiscard]] std::uint64_t sum() const { return sum_; }

 private:
  [[nodiscard]] std::uint64_t hash(Time at, machine::LinkId link, machine::NodeId destination,
                                   const MessageName& name) const;

  const Fold* fold_;
  std::uint32_t back_;
  std::uint64_t sum_ = 0;
};

}  // namespace tessera::sim
