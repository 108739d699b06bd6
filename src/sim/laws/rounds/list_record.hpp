// What a device has written down of a round that repeats itself.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/execution/device.hpp"
#include "sim/laws/rounds/state_list.hpp"

namespace tessera::sim {

/// Made before the streams of a device are listed, which moves them on; listed behind them.
class RecordedRound {
 public:
  /// All outlive it.
  RecordedRound(const StateList& list, const program::Program& program, OwnRecord& record,
                const std::vector<Stream>& streams);
  void list(StateList& list, const std::vector<ComputeJob*>& jobs);

 private:
  using Lines = std::map<DeviceRecord::Line, std::int64_t>;
  using Batches = std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t>;  // by stream and pass
  [[nodiscard]] Batches batches_now() const;
  void list_batches(StateList& list, const std::vector<ComputeJob*>& jobs);
  void repeat(const StateList& list, const std::vector<std::int64_t>& sizes, const std::vector<ComputeJob*>& jobs);
  static void add_lines(results::RoundShift& shift, std::int64_t times, const Lines& before, const Lines& now,
                        results::MessageEnd end);

  const program::Program& program_;
  OwnRecord& record_;
  const std::vector<Stream>& streams_;
  Lines sent_, taken_;
  Batches batches_;
};

}  // namespace tessera::sim
