// Which of a memory channel's two streams may fill its DRAM queue (T3,
// section 4.5). Policies by name: adding one is one file
// src/sim/memory/arbitration_*.cpp, its line here and its line in
// arbitration.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/time.hpp"
#include "tessera/sim/memory/request.hpp"

namespace tessera::sim {

/// A threshold that holds nothing back.
inline constexpr std::uint32_t unlimited_occupancy = std::numeric_limits<std::uint32_t>::max();

/// Parameters of all policies; each takes what it needs.
struct ArbitrationSpec {
  std::string policy = "round-robin";
  /// mca: bursts; communication enters the DRAM queue while it holds fewer.
  /// Until one is found for the producer.
  std::uint32_t threshold = unlimited_occupancy;
  /// mca: communication that has waited for so long, times its bursts, goes first. The paper gives no value; ours lets
  /// it have what two links of 75 GB/s bring and fetch.
  Time starvation_limit = 6'750;  // ps
};

/// A stream as its policy sees it.
struct StreamHead {
  const MemoryRequest* request = nullptr;  ///< the oldest; null: the stream is empty
  Time waiting_since = 0;                  ///< when the stream last gave a request to the DRAM
                                           ///< queue or, if later, ceased to be empty
};

struct ArbitrationView {
  Time now = 0;
  std::uint32_t occupancy = 0;  ///< bursts in the DRAM queue
  std::array<StreamHead, memory_stream_count> heads;
  [[nodiscard]] const StreamHead& head(MemoryStream stream) const { return heads[static_cast<std::size_t>(stream)]; }
  [[nodiscard]] bool has(MemoryStream stream) const { return head(stream).request != nullptr; }
};

struct ArbitrationChoice {
  std::optional<MemoryStream> stream;  ///< the next to enter, as soon as it fits; none: both wait
  /// Later than now: from then on the choice may be another, though nothing
  /// else has changed.
  Time look_again = never;
};

/// What a channel remembers for its policy, plain data: the channel keeps it, saves it and hands it to each choice.
struct ArbitrationState {
  std::optional<MemoryStream> latest;  ///< whose head entered the DRAM queue last
  /// What was found for the producer that runs (MemoryChannel::set_threshold), in bursts; none before that.
  std::optional<std::uint32_t> threshold;
  bool draining = false;  ///< the producer has ended, and no other one has begun
};

/// Chooses by what it is handed alone. A stream that is chosen is not empty.
class ArbitrationPolicy {
 public:
  virtual ~ArbitrationPolicy() = default;
  /// Asked when a head, the occupancy or the state has changed, and at `look_again`.
  [[nodiscard]] virtual ArbitrationChoice choose(const ArbitrationView& view, const ArbitrationState& state) const = 0;
};
using ArbitrationPointer = std::unique_ptr<const ArbitrationPolicy>;

struct ArbitrationKind {
  std::string name;
  std::string help;
  ArbitrationPointer (*make)(const ArbitrationSpec& spec);
};
[[nodiscard]] const std::vector<ArbitrationKind>& arbitration_kinds();
/// Unknown policy: InputError that names the choices. Negative starvation
/// limit: InputError.
[[nodiscard]] ArbitrationPointer make_arbitration(const ArbitrationSpec& spec);

// The policies, a file each.
[[nodiscard]] ArbitrationPointer make_round_robin(const ArbitrationSpec& spec);
[[nodiscard]] ArbitrationPointer make_compute_first(const ArbitrationSpec& spec);
[[nodiscard]] ArbitrationPointer make_mca(const ArbitrationSpec& spec);

/// Occupancy of DRAM queues, summed over time: burst_time / duration is the
/// mean in bursts. Sums of several channels add up to the mean over all of
/// them.
struct OccupancySum {
  Int128 burst_time = 0;  ///< bursts times ps
  Time duration = 0;
  OccupancySum& operator+=(const OccupancySum& other) {
    burst_time += other.burst_time;
    duration += other.duration;
    return *this;
  }
  bool operator==(const OccupancySum&) const = default;
};

/// How intensively a kernel uses the memory, by the mean occupancy of its
/// isolated first stage. The thresholds are the paper's (T3, section 6.1.3),
/// most intensive level first. Where a level begins it does not say: a half, a
/// quarter and an eighth of a queue of 64 bursts.
struct IntensityLevels {
  std::array<std::int64_t, 3> from{32, 16, 8};  ///< bursts of mean occupancy, descending; less is the last level
  std::array<std::uint32_t, 4> thresholds{5, 10, 30, unlimited_occupancy};
};
/// The threshold of the first level whose bound is reached. Nothing observed
/// (no duration): the last one's.
[[nodiscard]] std::uint32_t threshold_for(const OccupancySum& observed, const IntensityLevels& levels);

}  // namespace tessera::sim
