#include "block_traffic.hpp"

#include <algorithm>
#include <bit>

#include "../block_order.hpp"
#include "tessera/base/error.hpp"

namespace tessera::program {
namespace {

using Kind = TrafficKey::Kind;

template <class Id>
std::vector<std::uint32_t> first_alike(const std::vector<Id>& bound) {
  // Devices have few slots, but scripts may bind many: by sorting, not by comparing all pairs.
  std::vector<std::uint32_t> order(bound.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return bound[a] < bound[b]; });
  std::vector<std::uint32_t> first(bound.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool alike = i > 0 && bound[order[i]] == bound[order[i - 1]];
    first[order[i]] = alike ? first[order[i - 1]] : order[i];
  }
  return first;
}

/// Equal for calls that match, whatever slot they name.
std::uint64_t value_of(const Collective& collective) {
  std::uint64_t value = 0;
  const auto mix = [&](std::uint64_t part) { value = detail::spread(value ^ detail::spread(part)); };
  mix(static_cast<std::uint64_t>(collective.kind));
  mix(static_cast<std::uint64_t>(collective.bytes.value()));
  mix(static_cast<std::uint64_t>(collective.element.value()));
  mix(collective.algorithm);
  mix(collective.root);
  mix(collective.rings);
  for (const double share : collective.shares) mix(std::bit_cast<std::uint64_t>(share));
  return value;
}

/// The first kernel that does the same, whatever slot it names.
std::uint64_t first_equal(const std::vector<Kernel>& kernels, std::uint32_t index) {
  const auto alike = [&](const Kernel& other) {
    Kernel moved = other;
    moved.group_slot = kernels[index].group_slot;
    return moved == kernels[index];
  };
  return static_cast<std::uint64_t>(std::find_if(kernels.begin(), kernels.end(), alike) - kernels.begin());
}

void add(std::vector<TrafficEntry>& entries, const TrafficKey& key, const Digest& digest) {
  if (digest.length == 0) return;  // a call that repeats zero times
  const auto before = [](const TrafficEntry& entry, const TrafficKey& other) { return entry.key < other; };
  const auto found = std::lower_bound(entries.begin(), entries.end(), key, before);
  if (found != entries.end() && found->key == key) {
    found->digest = joined(found->digest, digest);
  } else {
    entries.insert(found, {key, digest});
  }
}

Digest count_only(std::uint32_t count) { return {0, 1, count}; }

}  // namespace

SlotAliases SlotAliases::of(const DeviceProgram& device) {
  return {first_alike(device.peers), first_alike(device.groups)};
}

BlockTraffic::BlockTraffic(const Program& program, SlotAliases aliases)
    : program_(program),
      aliases_(std::move(aliases)),
      entries_(program.blocks.size()),
      known_(program.blocks.size(), false) {}

bool BlockTraffic::entry_of(const Instruction& instruction, TrafficEntry& entry) const {
  switch (instruction.op) {
    case Op::send:
    case Op::receive:
      entry.key = {instruction.op == Op::send ? Kind::send : Kind::receive, aliases_.peer(instruction.a),
                   instruction.b};
      entry.digest = digest_of(static_cast<std::uint64_t>(instruction.bytes));
      return true;
    case Op::collective: {
      const Collective& collective = program_.collectives[instruction.a];
      entry.key = {Kind::collective, aliases_.group(collective.group_slot), 0};
      entry.digest = digest_of(value_of(collective));
      return true;
    }
    case Op::kernel: {
      const Kernel& kernel = program_.kernels[instruction.a];
      entry.key = {Kind::kernel, aliases_.group(kernel.group_slot), kernel.memory};
      entry.digest = digest_of(first_equal(program_.kernels, instruction.a));
      return true;
    }
    case Op::signal:
    case Op::wait:
      entry.key = {instruction.op == Op::signal ? Kind::signal : Kind::wait, instruction.a, 0};
      entry.digest = count_only(instruction.count);
      return true;
    default:
      return false;
  }
}

const std::vector<TrafficEntry>& BlockTraffic::of(BlockId block) {
  if (!known_[block]) {
    std::vector<BlockId> order = callers_first(program_, block);
    std::reverse(order.begin(), order.end());
    for (const BlockId callee : order) {
      if (!known_[callee]) compute(callee);
    }
  }
  return entries_[block];
}

void BlockTraffic::compute(BlockId block) {
  std::vector<TrafficEntry>& entries = entries_[block];
  for (const Instruction& instruction : program_.blocks[block].code) {
    TrafficEntry single;
    if (entry_of(instruction, single)) add(entries, single.key, single.digest);
    if (instruction.op != Op::call) continue;
    for (const TrafficEntry& entry : entries_[instruction.a]) {
      add(entries, entry.key, repeated(entry.digest, instruction.count));
    }
  }
  known_[block] = true;
}

Digest BlockTraffic::whole(BlockId block, const TrafficKey& key) {
  for (const TrafficEntry& entry : of(block)) {
    if (entry.key == key) return entry.digest;
  }
  return {};
}

Digest BlockTraffic::prefix(BlockId block, const TrafficKey& key, std::int64_t count) {
  Digest result;
  for (const Instruction& instruction : program_.blocks[block].code) {
    const std::int64_t missing = count - result.length;
    if (missing == 0) break;
    TrafficEntry single;
    if (entry_of(instruction, single) && single.key == key) result = joined(result, single.digest);
    if (instruction.op != Op::call) continue;
    const Digest once = whole(instruction.a, key);
    if (once.length == 0) continue;
    const std::int64_t passes = std::min<std::int64_t>(instruction.count, missing / once.length);
    result = joined(result, repeated(once, static_cast<std::uint64_t>(passes)));
    if (passes < instruction.count) result = joined(result, prefix(instruction.a, key, count - result.length));
  }
  return result;
}

const Instruction& BlockTraffic::element(BlockId block, const TrafficKey& key, std::int64_t index) {
  for (const Instruction& instruction : program_.blocks[block].code) {
    TrafficEntry single;
    if (entry_of(instruction, single) && single.key == key && index-- == 0) return instruction;
    if (instruction.op != Op::call) continue;
    const Digest once = whole(instruction.a, key);
    if (once.length == 0) continue;
    if (index / once.length < instruction.count) return element(instruction.a, key, index % once.length);
    index -= once.length * instruction.count;
  }
  throw InternalError("an element beyond the end of a sequence");
}

BlockTraffic& ProgramTraffic::of(const SlotAliases& aliases) {
  std::unique_ptr<BlockTraffic>& traffic = by_aliases_[aliases];
  if (!traffic) traffic = std::make_unique<BlockTraffic>(program_, aliases);
  return *traffic;
}

std::vector<Sequence> sequences_of(const Program& program, ProgramTraffic& traffic, const std::vector<Kind>& kinds) {
  std::vector<Sequence> sequences;
  for (DeviceId device = 0; device < program.devices.size(); ++device) {
    const std::vector<BlockId>& streams = program.devices[device].streams;
    if (streams.empty()) continue;
    BlockTraffic& blocks = traffic.of(device);
    for (std::uint32_t stream = 0; stream < streams.size(); ++stream) {
      for (const TrafficEntry& entry : blocks.of(streams[stream])) {
        if (std::find(kinds.begin(), kinds.end(), entry.key.kind) == kinds.end()) continue;
        sequences.push_back({device, stream, streams[stream], entry.key, &blocks, entry.digest});
      }
    }
  }
  return sequences;
}

std::int64_t first_difference(const Sequence& a, const Sequence& b) {
  std::int64_t equal = 0;  // the prefixes of this length are equal
  std::int64_t limit = std::min(a.digest.length, b.digest.length);
  while (equal < limit) {
    const std::int64_t middle = equal + (limit - equal + 1) / 2;
    if (a.traffic->prefix(a.block, a.key, middle) == b.traffic->prefix(b.block, b.key, middle)) {
      equal = middle;
    } else {
      limit = middle - 1;
    }
  }
  return equal;
}

}  // namespace tessera::program
