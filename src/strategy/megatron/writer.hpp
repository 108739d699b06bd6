// Writes operators and communication into a block.
#pragma once

#include <optional>
#include <vector>

#include "cut.hpp"

namespace tessera::strategy::megatron {

using program::Activity;
using program::CollectiveKind;
using program::MemoryCategory;

/// Groups of those that hold the same parameters: the copies of a device's share that have parts of it, the twins in
/// each of them, and those who have the same part.
struct Holders {
  GroupSlot copies, twins, across;
};
inline constexpr Holders dense_holders{data_group, twins_group, across_group};
inline constexpr Holders expert_holders{expert_data_group, twins_group, across_group};
/// On the stream beside the main one:
inline constexpr Holders dense_beside{data_beside_group, twins_beside_group, across_beside_group};
inline constexpr Holders expert_beside{expert_data_beside_group, twins_beside_group, across_beside_group};

class Writer {
 public:
  Writer(program::Program& program, const Cut& cut, const std::string& name)
      : cut_(cut), own_(std::in_place, program, name), builder_(*own_) {}
  /// Into a block that somebody else has begun.
  Writer(const Cut& cut, program::BlockBuilder& into) : cut_(cut), builder_(into) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// From here on it writes for the stream of backward passes beside forward passes, whose groups are its own.
  void beside_main() { stream_ = Stream::backward; }
  /// Or for that of shared experts beside the others.
  void for_shared_experts() { stream_ = Stream::shared_experts; }

  void run(const std::vector<workload::Operator>& operators, Activity activity);
  /// Nothing when the group has one member. `bytes`: as in program::Collective, rounded up to whole elements.
  void collective(CollectiveKind kind, GroupSlot group, std::int64_t bytes, std::int64_t element, Activity activity,
                  const std::string& label);
  /// Of a buffer over those who hold the same parameters, in as many elements for each of them: it is padded.
  void replica_collective(CollectiveKind kind, GroupSlot group, std::int64_t elements, std::int64_t element,
                          const std::string& label);
  /// The same over the copies, and over the twins in each of them; sums of parts then over those who have the same one.
  void holder_collective(CollectiveKind kind, const Holders& over, std::int64_t elements, std::int64_t element,
                         const std::string& label);
  /// Over those who have the same part of gradients, of so many elements of it: their sum.
  void sum_across(GroupSlot group, std::int64_t elements, std::int64_t element);
  /// Over the tensor ranks, of so many elements of each token; none: nothing. `element`: B of one, 0: as activations.
  void tensor_collective(CollectiveKind kind, std::int64_t width, const std::string& label, std::int64_t element = 0);
  /// All-reduce of one FP32 number over everybody who shares a gradient norm, in log2(members) exchanges.
  void scalar_all_reduce(const std::string& label);
  /// To or from the experts of the expert-parallel group, or over a part of it; `bytes` is what the member with the
  /// mean load holds. Uneven loads are those of the whole group's ranks.
  void expert_all_to_all(GroupSlot group, std::int64_t bytes, const std::string& label);
  [[nodiscard]] std::int64_t members(GroupSlot group) const;
  /// Of `held` bytes of activations `stay`, which may be more.
  void leave_activations(std::int64_t held, std::int64_t stay);

  [[nodiscard]] program::BlockBuilder& builder() { return builder_; }
  [[nodiscard]] const Cut& cut() const { return cut_; }

 private:
  /// The group with the same members for this stream.
  [[nodiscard]] GroupSlot own(GroupSlot group) const;

  const Cut& cut_;
  std::optional<program::BlockBuilder> own_;
  program::BlockBuilder& builder_;
  enum class Stream : std::uint8_t { main, backward, shared_experts } stream_ = Stream::main;
};

}  // namespace tessera::strategy::megatron
