// Which blocks of kernels switches add to each other.
#pragma once

#include "sim/execution/channel.hpp"
#include "sim/network/combiner.hpp"

namespace tessera::sim {

/// Those of all members of a kernel's group but the one that they go to.
class CombinedBlocks final : public Combinations {
 public:
  explicit CombinedBlocks(const program::Program& program) : program_(&program) {}
  [[nodiscard]] std::uint32_t messages(const MessageName& name) const override {
    if (!is_combined(name.channel)) return 1;
    return static_cast<std::uint32_t>(program_->groups[group_of(name.channel)].members.size() - 1);
  }

 private:
  const program::Program* program_;
};

}  // namespace tessera::sim
