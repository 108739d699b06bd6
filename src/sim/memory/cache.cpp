// What is rare in a cache, or slow anyway: misses, stores, the end of a kernel.
// Hits are in the header.
#include "sim/memory/cache.hpp"

#include <fmt/format.h>

#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

/// Room for the product of a set's number and 16, and of a hash of 32 bits and
/// the number of sets.
constexpr std::int64_t most_sets = std::int64_t{1} << 27U;
constexpr std::int64_t most_granularity = std::int64_t{1} << 30U;

CacheSpec checked(const CacheSpec& spec) {
  std::string text;
  for (const std::string& problem : problems(spec)) text += (text.empty() ? "" : "\n") + problem;
  if (!text.empty()) throw InputError(text);
  return spec;
}

}  // namespace

std::vector<std::string> problems(const CacheSpec& spec) {
  std::vector<std::string> texts;
  if (spec.ways < 1 || spec.ways > 16) texts.push_back(fmt::format("L2: {} ways, 1 to 16 are allowed", spec.ways));
  if (spec.banks < 1) texts.emplace_back("L2: it needs at least one bank");
  if (spec.granularity < 1 || spec.granularity > most_granularity)
    texts.push_back(fmt::format("L2: blocks of {} B, 1 B to 1 GiB are allowed", spec.granularity));
  if (spec.bank_bytes_per_clock < 1) texts.emplace_back("L2: a bank must move at least 1 B a clock");
  if (spec.clock < 1) texts.emplace_back("L2: its clock must be at least 1 Hz");
  if (spec.hit_latency < 0) texts.emplace_back("L2: its latency must not be negative");
  if (!texts.empty()) return texts;
  if (spec.sets() < 1) {
    texts.push_back(fmt::format("L2: {} B hold less than one set of {} blocks of {} B", spec.capacity, spec.ways,
                                spec.granularity));
  } else if (spec.sets() > most_sets) {
    texts.push_back(fmt::format("L2: {} sets, at most {} are allowed: make blocks larger", spec.sets(), most_sets));
  }
  return texts;
}

Cache::Cache(const CacheSpec& spec)
    : spec_(checked(spec)),
      set_spread_(static_cast<std::uint32_t>(spec.sets())),
      tags_(static_cast<std::size_t>(spec.sets())),
      sets_(static_cast<std::size_t>(spec.sets())),
      bytes_(static_cast<std::size_t>(spec.sets()) * most_ways),
      banks_(spec.banks),
      by_width_(spec.bank_bytes_per_clock),
      clock_(spec.clock) {
  for (Tags& tags : tags_) std::fill(std::begin(tags.tag), std::end(tags.tag), no_tag);
}

void Cache::refuse(BlockId block) {
  throw InternalError("block " + std::to_string(block) + " is beyond what the tags of the L2 can tell apart");
}

std::uint32_t Cache::entry_of(BlockId block) const {
  const BlockSpread::Place place = locate(block);
  const std::uint32_t way = find(place);
  return way == none ? no_entry : place.index * most_ways + way;
}

CacheResult Cache::read_miss(BlockSpread::Place place, std::uint32_t bytes) {
  const CacheResult result = allocate(place);
  if (result.outcome == CacheOutcome::no_room) return result;
  sets_[place.index].pending |= static_cast<std::uint16_t>(1U << result.entry % most_ways);
  ++pending_;
  ++counts_.misses;
  counts_.read_bytes += bytes;
  counts_.missed_bytes += bytes;
  return result;
}

CacheResult Cache::write(BlockId block, std::uint32_t bytes) {
  const BlockSpread::Place place = locate(block);
  const std::uint32_t held = find(place);
  CacheResult result;
  if (held == none) {
    result = allocate(place);
    if (result.outcome == CacheOutcome::no_room) return result;
    ++counts_.write_allocations;
  } else {
    sets_[place.index].order = to_front(sets_[place.index].order, held);
    result = {CacheOutcome::hit, place.index * most_ways + held, 0, 0};
    ++counts_.write_hits;
  }
  Set& set = sets_[place.index];
  const auto bit = static_cast<std::uint16_t>(1U << result.entry % most_ways);
  bytes_[result.entry] = (set.dirty & bit) != 0 ? std::max(bytes_[result.entry], bytes) : bytes;
  set.dirty |= bit;
  return result;
}

CacheResult Cache::allocate(BlockSpread::Place place) {
  Set& set = sets_[place.index];
  for (std::uint32_t position = spec_.ways; position-- > 0;) {
    const auto way = static_cast<std::uint32_t>(set.order >> 4 * position & 15U);
    if ((set.pending >> way & 1U) != 0) continue;
    const std::uint32_t entry = place.index * most_ways + way;
    CacheResult result{CacheOutcome::miss, entry, 0, 0};
    if ((set.dirty >> way & 1U) != 0) {
      result.victim = block_at(place.index, way);
      result.victim_bytes = bytes_[entry];
      set.dirty &= static_cast<std::uint16_t>(~(1U << way));
      ++counts_.write_backs;
    }
    tags_[place.index].tag[way] = place.run;
    set.order = to_front(set.order, way);
    return result;
  }
  ++counts_.no_room;
  return {};
}

void Cache::fill(std::uint32_t entry) {
  const auto bit = static_cast<std::uint16_t>(1U << entry % most_ways);
  if (entry >= entries() || (sets_[entry / most_ways].pending & bit) == 0)
    throw InternalError("a block came to entry " + std::to_string(entry) + " of the L2, which did not fetch it");
  sets_[entry / most_ways].pending &= static_cast<std::uint16_t>(~bit);
  --pending_;
}

void Cache::empty(std::uint32_t index) {
  Set& set = sets_[index];
  set.dirty = 0;
  std::uint64_t order = set.order;
  for (std::uint32_t position = 0; position < spec_.ways; ++position) {  // pending ones to the front, last used first
    const auto way = static_cast<std::uint32_t>(set.order >> 4 * (spec_.ways - 1 - position) & 15U);
    if ((set.pending >> way & 1U) != 0) {
      order = to_front(order, way);
    } else {
      tags_[index].tag[way] = no_tag;
    }
  }
  set.order = order;
}

}  // namespace tessera::sim
