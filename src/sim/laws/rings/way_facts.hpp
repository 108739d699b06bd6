// What becomes of messages that find the links of a way idle: worked out once for all ways of the same speeds and
// latencies.
#pragma once

#include <array>
#include <boost/container_hash/hash.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/laws/rings/posted_log.hpp"
#include "sim/laws/trains/train_state.hpp"
#include "sim/network/network_tables.hpp"

namespace tessera::sim {

/// What becomes of messages of which the first one finds all links of a way idle, from its posting on. Times of the
/// packets do not depend on when that is.
struct Passage {
  Time delivered = 0;             ///< the last one; `never`: beyond the range of time, and so is what follows
  Time clear = 0;                 ///< a message posted then finds all links idle again
  std::vector<BusyPeriod> after;  ///< by link
  std::vector<LinkCounts> counts;
  /// By link, where the first one was posted then.
  [[nodiscard]] std::vector<BusyPeriod> busy_since(Time first) const;
};

/// Ways over links of the same speeds and latencies share what is known of messages on them.
class WayFacts {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  /// The number of a size of messages in bytes() and lone().
  [[nodiscard]] std::uint32_t size_of(std::int64_t bytes);
  [[nodiscard]] std::int64_t bytes(std::uint32_t size) const { return lone_[size].bytes; }
  [[nodiscard]] const Passage& lone(std::uint32_t size) const { return lone_[size].passage; }

  /// Members that enter at different times post messages behind each other, and the same few again and again. The
  /// number in burst() of such a message, posted so long after the first one, behind those of another burst, or behind
  /// one message; none: it is not kept.
  [[nodiscard]] std::uint32_t behind(std::uint32_t burst, Time at, std::uint32_t size);
  [[nodiscard]] std::uint32_t behind_lone(std::uint32_t lone, Time at, std::uint32_t size);
  [[nodiscard]] const Passage& burst(std::uint32_t number) const { return bursts_[number].passage; }

  /// A burst of messages that is over, and what the links were busy with before it: see TrialPorts.
  struct Over {
    PostedLog posted;
    std::vector<BusyPeriod> before;
    std::vector<ShortEnds> short_ends;
    Time own_left = 0;
    bool operator==(const Over&) const = default;
  };
  /// What it leaves in the counts of the links of a way, `links`. Ways on which the same is sent ask one after the
  /// other, so the last answers are kept.
  [[nodiscard]] std::vector<LinkCounts> counts_of(const std::vector<machine::LinkId>& links, Over burst);

  /// Of all links before the last one.
  [[nodiscard]] Time latency_to_last() const { return latencies_.back(); }
  /// When a message posted from then on provably finds all links idle, whatever its size.
  [[nodiscard]] Time clear_behind(const std::vector<BusyPeriod>& busy) const;

 private:
  friend class WayTable;
  struct Lone {
    std::int64_t bytes = 0;
    Passage passage;
  };
  struct Burst {
    std::vector<PostedMessage> posted;
    Passage passage;
  };
  using Key = std::tuple<std::uint32_t, Time, std::uint32_t>;  // what it is behind, when, size
  WayFacts(const NetworkTables& tables, std::vector<machine::LinkId> links);
  [[nodiscard]] Passage pass(const std::vector<PostedMessage>& posted) const;
  [[nodiscard]] std::uint32_t find_burst(const Key& key);
  [[nodiscard]] std::uint32_t add_burst(const Key& key, const std::vector<PostedMessage>& before);

  const NetworkTables* tables_;
  std::vector<machine::LinkId> links_;  // of one of the ways
  std::vector<Time> latencies_;         // up to each: no packet that finds all before it idle comes earlier
  std::vector<Lone> lone_;
  std::vector<Burst> bursts_;
  std::unordered_map<Key, std::uint32_t, boost::hash<Key>> burst_of_;
  static constexpr std::size_t most_over = 16;
  std::deque<std::pair<Over, std::vector<LinkCounts>>> over_;  // the latest first
  static constexpr unsigned latest_bits = 8;
  std::array<std::pair<Key, std::uint32_t>, 1U << latest_bits> latest_;  // of what was found there; none: nothing
};

class WayTable {
 public:
  explicit WayTable(const NetworkTables& tables) : tables_(&tables) {}
  [[nodiscard]] const NetworkTables& tables() const { return *tables_; }
  [[nodiscard]] WayFacts& of(const std::vector<machine::LinkId>& links);

 private:
  const NetworkTables* tables_;
  std::map<std::vector<std::pair<std::int64_t, Time>>, std::unique_ptr<WayFacts>> known_;  // bandwidth, latency
};

}  // namespace tessera::sim
