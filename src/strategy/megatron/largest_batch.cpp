#include "largest_batch.hpp"

#include <algorithm>

#include "device_state.hpp"
#include "tessera/base/error.hpp"

namespace tessera::strategy::megatron {
namespace {

constexpr std::int64_t most_sequences = 16'777'216;  ///< workload.global_batch

/// How the sequences of a replica grow: in parts of so many, which make micro-batches larger or more.
struct Growth {
  std::int64_t part = 1;
  bool makes_larger = true;  ///< all micro-batches of a replica, of which there are `part`
};

/// B: what a device holds for a micro-batch at most: buffers of passes, and where context ranks exchange keys and
/// values, room for them.
std::int64_t micro_batch_bytes(const Cut& cut, std::uint32_t stage) {
  std::int64_t exchanged = 0;
  for (std::uint32_t kind = 0; cut.shares_sequences() && kind < workload::layer_kinds(*cut.model); ++kind)
    for (std::uint32_t rank = 0; rank < cut.options.context_parallel; ++rank)
      exchanged = std::max(exchanged, cut.layer(kind, 0, 0, rank).attention_core.exchange_buffers);
  return pass_buffers(cut, stage) + exchanged;
}

/// What the fullest device of a stage holds, in parts.
struct Holding {
  std::int64_t fixed = 0;           ///< B, whatever the batch: weights, and buffers for them
  std::int64_t cache_sequence = 0;  ///< B of the cache of a sequence
};

Holding holding_of(const Cut& cut, std::uint32_t stage) {
  const DeviceState state = device_state(cut, stage);
  const std::int64_t batch = cut.options.micro_batch * cut.micro_batches;
  return {held_bytes(cut, state) - state.kv_cache - pass_buffers(cut, stage), state.kv_cache / batch};
}

/// Parts that fit: what a device holds grows with each.
std::int64_t fitting_parts(const Cut& cut, std::uint32_t stage, const Growth& growth, std::int64_t usable) {
  const Holding holding = holding_of(cut, stage);
  Cut larger = cut;
  const auto fits = [&](std::int64_t parts) {
    if (growth.makes_larger) larger.options.micro_batch = parts;
    try {
      return holding.fixed + parts * growth.part * holding.cache_sequence + micro_batch_bytes(larger, stage) <= usable;
    } catch (const KeyError&) {
      return false;  // a layer of more numbers than are counted
    }
  };
  // The cache alone would be too large.
  const std::int64_t of_part = std::max<std::int64_t>(1, growth.part * holding.cache_sequence);
  std::int64_t fitting = 0,
               too_many = std::min(most_sequences / growth.part, std::max<std::int64_t>(usable, 0) / of_part) + 1;
  while (too_many - fitting > 1) {
    const std::int64_t middle = fitting + (too_many - fitting) / 2;
    (fits(middle) ? fitting : too_many) = middle;
  }
  return fitting;
}

/// Sequences of a replica.
std::int64_t fitting(const Cut& cut, const Growth& growth) {
  const std::int64_t usable = cut.device_spec->usable_memory().value();
  std::int64_t parts = most_sequences;
  for (std::uint32_t stage = 0; stage < cut.options.pipeline; ++stage)
    parts = std::min(parts, fitting_parts(cut, stage, growth, usable));
  return parts * growth.part;
}

}  // namespace

std::int64_t largest_batch(const Cut& cut) {
  if (!cut.deals_out) return cut.options.data * fitting(cut, {cut.options.micro_batch, false});
  // In a pipeline a part for each stage, or else, where that does not come out even, all at once.
  return cut.options.data * std::max(fitting(cut, {cut.options.pipeline, true}), fitting(cut, {1, true}));
}

}  // namespace tessera::strategy::megatron
