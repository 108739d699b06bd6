// What a block sends, receives, calls, raises and awaits, by slot, as fingerprints: computed once per block however
// often it runs.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <vector>

#include "digest.hpp"
#include "tessera/program/program.hpp"

namespace tessera::program {

/// One ordered sequence of a stream: the messages to or from a slot on a channel, the collectives or kernels of a group
/// slot; or, counted without order, how often an event is raised or awaited.
struct TrafficKey {
  enum class Kind : std::uint8_t { send, receive, collective, kernel, signal, wait };
  Kind kind = Kind::send;
  std::uint32_t slot = 0;     ///< of peers or groups; the event
  std::uint32_t channel = 0;  ///< of sends and receives; of kernels: their memory
  auto operator<=>(const TrafficKey&) const = default;
};

struct TrafficEntry {
  TrafficKey key;
  Digest digest;
};

/// For each slot the first slot that means the same to a device: "next" and "previous" are one peer where there are two
/// stages, and what goes to either is then one sequence.
struct SlotAliases {
  std::vector<std::uint32_t> peers;
  std::vector<std::uint32_t> groups;
  auto operator<=>(const SlotAliases&) const = default;

  /// Every slot for itself.
  [[nodiscard]] static SlotAliases none() { return {}; }
  [[nodiscard]] static SlotAliases of(const DeviceProgram& device);
  [[nodiscard]] std::uint32_t peer(std::uint32_t slot) const { return slot < peers.size() ? peers[slot] : slot; }
  [[nodiscard]] std::uint32_t group(std::uint32_t slot) const { return slot < groups.size() ? groups[slot] : slot; }
};

/// All blocks of a program under one pattern of aliases. The indexes in the code are valid and blocks do not recurse.
class BlockTraffic {
 public:
  BlockTraffic(const Program& program, SlotAliases aliases);

  /// Sorted by key.
  [[nodiscard]] const std::vector<TrafficEntry>& of(BlockId block);
  /// The first `count` elements of one sequence.
  [[nodiscard]] Digest prefix(BlockId block, const TrafficKey& key, std::int64_t count);
  /// Element `index` of one sequence, which is longer.
  [[nodiscard]] const Instruction& element(BlockId block, const TrafficKey& key, std::int64_t index);
  /// The sequence that an instruction belongs to, as a single element of it. False for instructions that belong to
  /// none.
  [[nodiscard]] bool entry_of(const Instruction& instruction, TrafficEntry& entry) const;

 private:
  void compute(BlockId block);
  [[nodiscard]] Digest whole(BlockId block, const TrafficKey& key);

  const Program& program_;
  SlotAliases aliases_;
  std::vector<std::vector<TrafficEntry>> entries_;  ///< by block
  std::vector<bool> known_;
};

/// The traffic of every device, shared by the devices whose slots alias alike.
class ProgramTraffic {
 public:
  explicit ProgramTraffic(const Program& program) : program_(program) {}
  [[nodiscard]] BlockTraffic& of(const SlotAliases& aliases);
  [[nodiscard]] BlockTraffic& of(DeviceId device) { return of(SlotAliases::of(program_.devices[device])); }

 private:
  const Program& program_;
  std::map<SlotAliases, std::unique_ptr<BlockTraffic>> by_aliases_;
};

/// One sequence of one stream of one device.
struct Sequence {
  DeviceId device = 0;
  std::uint32_t stream = 0;
  BlockId block = 0;
  TrafficKey key;
  BlockTraffic* traffic = nullptr;
  Digest digest;

  [[nodiscard]] const Instruction& at(std::int64_t index) const { return traffic->element(block, key, index); }
};

/// All sequences of the kinds, in order of device and stream.
[[nodiscard]] std::vector<Sequence> sequences_of(const Program& program, ProgramTraffic& traffic,
                                                 const std::vector<TrafficKey::Kind>& kinds);

/// The first position where two sequences differ (that of the end, if one begins the other), by bisection.
[[nodiscard]] std::int64_t first_difference(const Sequence& a, const Sequence& b);

}  // namespace tessera::program
