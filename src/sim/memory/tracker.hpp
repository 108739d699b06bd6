// The Tracker: counts, at the memory controller, the updates of what each
// wavefront (WF) writes, and says when the last expected one has come (T3,
// section 4.2.1).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::sim {

/// The paper gives 256 sets by the WG id's low 8 bits, tags of its high bits
/// and of 3 bits of WF id, a virtual address and a counter an entry, 19 KB in
/// all. The other widths are ours, and come out even: 19 KiB / 256 sets = 608
/// bits = 8 entries of 76 bits, which are 3 of WG id, since 2,048 entries hold
/// at most 2,048 = 256 x 2^3 WGs of one WF; 3 of WF id; 48 of address; 22 of
/// counter. A counter at 0 marks a free entry.
struct TrackerSpec {
  std::uint32_t sets = 256;         ///< a power of two
  std::int64_t bytes = 19 * 1024;   ///< B, all entries together
  std::uint32_t wg_tag_bits = 3;    ///< of the WG id, above those that choose the set
  std::uint32_t wf_bits = 3;        ///< at most 8 WFs a WG
  std::uint32_t address_bits = 48;  ///< takes room, but is not simulated: WG and WF say what to send
  std::uint32_t counter_bits = 22;  ///< of bytes: a threshold is below 4 MiB

  [[nodiscard]] constexpr std::uint32_t entry_bits() const {
    return wg_tag_bits + wf_bits + address_bits + counter_bits;
  }
  [[nodiscard]] constexpr std::uint32_t ways() const {
    return static_cast<std::uint32_t>(bytes * 8 / sets / entry_bits());
  }
  [[nodiscard]] constexpr std::uint32_t wfs_per_wg() const { return 1U << wf_bits; }
};

/// What is wrong with it; empty when all is well.
[[nodiscard]] std::vector<std::string> problems(const TrackerSpec& spec);

/// WGs that a producer runs at a time, with consecutive ids.
struct TrackedStage {
  std::uint32_t wgs = 0;
  std::uint32_t wfs_per_wg = 0;  ///< of those that write
};

/// Whether all WFs of a stage have an entry at the same time.
[[nodiscard]] bool fits(const TrackerSpec& spec, const TrackedStage& stage);
/// Empty when it fits.
[[nodiscard]] std::string problem(const TrackerSpec& spec, const TrackedStage& stage);

/// What an entry waits for. A WF without bytes, beyond an edge of the matrix,
/// has no entry.
struct Expectation {
  std::uint32_t wg = 0;
  std::uint32_t wf = 0;
  std::int64_t bytes = 0;     ///< that the WF really writes, less than a whole WF tile at edges
  std::int64_t updates = 0;   ///< of each byte
  std::int64_t arriving = 0;  ///< B of all updates that will come to this device for this WF

  [[nodiscard]] std::int64_t threshold() const { return bytes * updates; }
};

/// A threshold that is never reached, or reached before the last update, or
/// larger than the counter; a WF that has no tag. Empty when all is well.
[[nodiscard]] std::string problem(const TrackerSpec& spec, const Expectation& expectation);

enum class TrackerOutcome : std::uint8_t {
  counted,
  complete,  ///< this update reached the threshold; the entry is free again
  full,      ///< not counted, since the set has no entry for it: the caller tries
             ///< again when one of the set is complete
};

struct TrackerCounts {
  std::int64_t updates = 0;  ///< that were counted
  std::int64_t completed = 0;
  std::int64_t full = 0;  ///< refused; each try counts
  std::uint32_t most_live = 0;
};

/// An update of a WF that has an entry is never refused, so those that are held
/// back cannot keep an entry from completing, as long as the caller lets others
/// pass them.
class Tracker {
 public:
  /// Throws InputError for a spec with problems.
  explicit Tracker(const TrackerSpec& spec);

  /// Starts a producer of so many WGs: each of its WFs completes at most once
  /// from now on. Allocates. Throws InternalError when entries are live.
  void begin(std::uint32_t wgs);
  /// Counts an update of `bytes` > 0 in the entry of WG `wg`, WF `wf`.
  /// `threshold` > 0: see Expectation; the same each time. Throws InternalError
  /// for an update that goes beyond the threshold, also after it was reached,
  /// and for a WG, WF or threshold that cannot be.
  [[nodiscard]] TrackerOutcome update(std::uint32_t wg, std::uint32_t wf, std::uint32_t bytes, std::uint32_t threshold);

  [[nodiscard]] const TrackerSpec& spec() const { return spec_; }
  [[nodiscard]] const TrackerCounts& counts() const { return counts_; }
  [[nodiscard]] std::uint32_t set_of(std::uint32_t wg) const { return wg & (spec_.sets - 1); }
  /// Entries that wait for more.
  [[nodiscard]] std::uint32_t live() const { return live_; }
  /// visit(wg, wf, bytes so far, threshold) for each of them, in order of set.
  template <class Visit>
  void for_each_live(Visit&& visit) const {
    for (const Entry& entry : entries_) {
      if (entry.counted > 0) visit(entry.wg, entry.wf, entry.counted, entry.threshold);
    }
  }

 private:
  struct Entry {
    std::uint32_t wg = 0;
    std::uint32_t wf = 0;
    std::uint32_t counted = 0;  ///< B; 0: free
    std::uint32_t threshold = 0;
  };

  [[nodiscard]] Entry* find(std::uint32_t wg, std::uint32_t wf);
  void check(std::uint32_t wg, std::uint32_t wf, std::uint32_t bytes, std::uint32_t threshold) const;

  TrackerSpec spec_;
  std::uint32_t ways_ = 0;
  std::uint32_t wgs_ = 0;
  std::vector<Entry> entries_;     // by set
  std::vector<bool> is_complete_;  // by WG and WF
  std::uint32_t live_ = 0;
  TrackerCounts counts_;
};

}  // namespace tessera::sim
