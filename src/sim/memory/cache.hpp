// A GPU's last-level cache (L2): which blocks it holds, and when its banks
// serve them. Shape: 16 MiB in 64 banks at 1.4 GHz (T3, table 1); ways,
// replacement and bank width are ours (docs/t3.md).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/network/rate.hpp"
#include "tessera/sim/memory/request.hpp"

namespace tessera::sim {

struct CacheSpec {
  std::int64_t capacity = std::int64_t{16} << 20U;  ///< B
  std::uint32_t ways = 16;                          ///< 1 .. 16
  std::uint32_t banks = 64;
  std::int64_t granularity = 1024;  ///< B of a whole block
  std::int64_t bank_bytes_per_clock = 64;
  std::int64_t clock = 1'400'000'000;  ///< Hz
  Time hit_latency = 0;                ///< from the bank's service to the data; the owner adds it

  /// What the ways do not divide is left out.
  [[nodiscard]] std::int64_t sets() const { return capacity / granularity / ways; }
};

/// What is wrong with it; empty when all is well.
[[nodiscard]] std::vector<std::string> problems(const CacheSpec& spec);

/// Deals blocks out to `count` places: each run of `count` blocks (those with
/// the same quotient by `count`) goes once round all places, so that no place
/// gets more of consecutive blocks than another. Where it starts is a hash of
/// the run's number, so that blocks at a stride of some runs do not all meet in
/// one place.
class BlockSpread {
 public:
  struct Place {
    std::uint32_t index = 0;  ///< 0 .. count-1
    std::uint32_t run = 0;    ///< with the index, names the block
  };

  BlockSpread() = default;
  /// `count` > 0.
  explicit BlockSpread(std::uint32_t count) : inverse_(~std::uint64_t{0} / count), count_(count) {}

  /// `block` < 2^32 - 1.
  [[nodiscard]] Place place(BlockId block) const {
    // Exact for n < 2^32: (n + 1) floor((2^64 - 1) / count) / 2^64 is less than
    // (n + 1) / count, by at most 2^-32.
    const auto run = static_cast<std::uint32_t>((static_cast<Uint128>(block + 1) * inverse_) >> 64U);
    const std::uint32_t index = static_cast<std::uint32_t>(block) - run * count_ + first_of(run);
    return {index >= count_ ? index - count_ : index, run};
  }
  [[nodiscard]] BlockId block(Place place) const {
    const std::uint32_t first = first_of(place.run);
    const std::uint32_t within = place.index >= first ? place.index - first : place.index + count_ - first;
    return BlockId{place.run} * count_ + within;
  }

 private:
  [[nodiscard]] std::uint32_t first_of(std::uint32_t run) const {
    const std::uint32_t once = run * 0x9E37'79B1U;  // odd numbers: no two runs get the same hash
    const std::uint32_t hash = (once ^ once >> 15U) * 0x85EB'CA77U;
    return static_cast<std::uint32_t>(std::uint64_t{hash} * count_ >> 32U);
  }

  std::uint64_t inverse_ = ~std::uint64_t{0};
  std::uint32_t count_ = 1;
};

struct CacheCounts {
  std::int64_t hits = 0;    ///< reads
  std::int64_t misses = 0;  ///< reads that fetch
  std::int64_t merged = 0;  ///< reads that wait for another one's fetch
  std::int64_t read_bytes = 0;
  std::int64_t missed_bytes = 0;
  std::int64_t write_hits = 0;
  std::int64_t write_allocations = 0;
  std::int64_t write_backs = 0;  ///< dirty victims
  std::int64_t flushed = 0;      ///< dirty blocks that flush() handed out
  std::int64_t no_room = 0;      ///< reads and writes that were refused; each try counts
};

enum class CacheOutcome : std::uint8_t {
  hit,
  miss,     ///< a way is allocated: for a read, the caller fetches the block and
            ///< calls fill()
  pending,  ///< another read's fetch of the block is under way: the caller waits
            ///< for the same fill()
  no_room,  ///< all ways of the set are being fetched: nothing has happened, the
            ///< caller tries again
};

/// What a read or write did.
struct CacheResult {
  CacheOutcome outcome = CacheOutcome::no_room;
  /// The block's entry, below Cache::entries(). While the block is pending it
  /// belongs to this block alone, so that an array of the owner's, by entry,
  /// can hold the first of a chain of waiters.
  std::uint32_t entry = 0;
  BlockId victim = 0;              ///< dirty: the caller writes it back ...
  std::uint32_t victim_bytes = 0;  ///< ... with so many bytes; 0: there is none
};

/// Set-associative, least recently used. Blocks are whole but at edges, so a
/// store never needs what memory holds.
class Cache {
 public:
  /// Throws InputError for a spec with problems. All memory is allocated here.
  explicit Cache(const CacheSpec& spec);

  [[nodiscard]] const CacheSpec& spec() const { return spec_; }
  [[nodiscard]] const CacheCounts& counts() const { return counts_; }
  [[nodiscard]] std::uint32_t entries() const { return static_cast<std::uint32_t>(sets_.size()) * most_ways; }
  [[nodiscard]] std::uint32_t set_of(BlockId block) const { return set_spread_.place(block).index; }
  /// Of a block that is held or being fetched; else `no_entry`.
  static constexpr std::uint32_t no_entry = ~std::uint32_t{0};
  [[nodiscard]] std::uint32_t entry_of(BlockId block) const;
  [[nodiscard]] bool holds(BlockId block) const { return entry_of(block) != no_entry; }
  /// Number of blocks that are being fetched.
  [[nodiscard]] std::uint32_t pending() const { return pending_; }

  [[nodiscard]] CacheResult read(BlockId block, std::uint32_t bytes) {
    const BlockSpread::Place place = locate(block);
    const std::uint32_t way = find(place);
    if (way == none) return read_miss(place, bytes);
    counts_.read_bytes += bytes;
    Set& set = sets_[place.index];
    set.order = to_front(set.order, way);
    const bool waits = (set.pending >> way & 1U) != 0;
    ++(waits ? counts_.merged : counts_.hits);
    return {waits ? CacheOutcome::pending : CacheOutcome::hit, place.index * most_ways + way, 0, 0};
  }

  /// A store of a whole block, `bytes` > 0. Hit (whether or not the block is
  /// being fetched), miss or no_room.
  [[nodiscard]] CacheResult write(BlockId block, std::uint32_t bytes);
  /// The block that was fetched is here. Throws InternalError when none was
  /// being fetched.
  void fill(std::uint32_t entry);

  /// Empties it: visit(block, bytes) for each dirty block, in a fixed order.
  /// Blocks that are being fetched stay, clean. `visit` must not use the cache.
  template <class Visit>
  void flush(Visit&& visit) {
    for (std::uint32_t index = 0; index < sets_.size(); ++index) {
      for (std::uint32_t dirty = sets_[index].dirty; dirty != 0; dirty &= dirty - 1) {
        const auto way = static_cast<std::uint32_t>(std::countr_zero(dirty));
        ++counts_.flushed;
        visit(block_at(index, way), bytes_[index * most_ways + way]);
      }
      empty(index);
    }
  }

  /// When bank `number` has served an access that comes at `now`: first in, first out;
  /// each access takes whole clocks. Accesses come in order of time.
  [[nodiscard]] Time bank_time(std::uint32_t number, std::uint32_t bytes, Time now) {
    Bank& bank = banks_[number];
    if (now > bank.end) {
      bank.start = now;
      bank.clocks = 0;
    }
    bank.clocks += by_width_.quotient(bytes + spec_.bank_bytes_per_clock - 1);
    bank.end = time_after(bank.start, clock_.up(bank.clocks));
    return bank.end;
  }

 private:
  static constexpr std::uint32_t most_ways = 16;
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::uint32_t no_tag = ~std::uint32_t{0};
  static constexpr BlockId block_limit = no_tag;

  /// A tag is the run of the set's BlockSpread: 4 bytes, so that a set's tags
  /// are one line of the host's cache.
  struct alignas(64) Tags {
    std::uint32_t tag[most_ways];
  };
  struct Set {
    /// 16 numbers of 4 bits: ways, the last used one lowest. Empty ways are
    /// behind all others.
    std::uint64_t order = 0xFEDC'BA98'7654'3210U;
    std::uint16_t dirty = 0;  ///< bits by way
    std::uint16_t pending = 0;
  };
  /// The clocks of a busy period are counted from its start, so that rounding
  /// to picoseconds never adds up.
  struct Bank {
    Time start = 0;
    std::int64_t clocks = 0;
    Time end = 0;
  };

  [[nodiscard]] BlockSpread::Place locate(BlockId block) const {
    if (block >= block_limit) [[unlikely]]
      refuse(block);
    return set_spread_.place(block);
  }
  [[noreturn]] static void refuse(BlockId block);

  [[nodiscard]] std::uint32_t find(BlockSpread::Place place) const {
    const Tags& tags = tags_[place.index];
    std::uint32_t found = 0;  // no early exit: the loop becomes a few vector instructions
    for (std::uint32_t way = 0; way < most_ways; ++way) found = tags.tag[way] == place.run ? way + 1 : found;
    return found - 1;
  }

  [[nodiscard]] static std::uint64_t to_front(std::uint64_t order, std::uint32_t way) {
    constexpr std::uint64_t ones = 0x1111'1111'1111'1111U;
    const std::uint64_t difference = order ^ ones * way;  // 0 in the four bits where `way` stands
    const std::uint64_t zeros = (difference - ones) & ~difference & ones << 3U;
    const std::uint64_t up_to_it = zeros ^ (zeros - 1);
    return (order & ~up_to_it) | ((order << 4U | way) & up_to_it);
  }

  [[nodiscard]] BlockId block_at(std::uint32_t index, std::uint32_t way) const {
    return set_spread_.block({index, tags_[index].tag[way]});
  }
  [[nodiscard]] CacheResult read_miss(BlockSpread::Place place, std::uint32_t bytes);
  [[nodiscard]] CacheResult allocate(BlockSpread::Place place);
  void empty(std::uint32_t index);

  CacheSpec spec_;
  BlockSpread set_spread_;
  std::vector<Tags> tags_;            // by set
  std::vector<Set> sets_;             // by set
  std::vector<std::uint32_t> bytes_;  // by entry: of dirty blocks
  std::vector<Bank> banks_;
  Divisor by_width_;
  Rate clock_;
  std::uint32_t pending_ = 0;
  CacheCounts counts_;
};

}  // namespace tessera::sim
