// What a device promises other ranks: when anything of it takes place there first.
#pragma once

#include <optional>

#include "sim/execution/device.hpp"
#include "sim/laws/promises/distances.hpp"

namespace tessera::sim {

class DevicePromise {
 public:
  /// `table`: of this device; null where its program has no stream, or kernels. All outlive it.
  DevicePromise(const Device& device, const Distances& distances, const DistanceTable* table)
      : view_(device.view()), distances_(&distances), table_(table) {}

  /// Whatever comes: at least the compute time before the next message that may cross ranks.
  [[nodiscard]] Time earliest_output(Time from, Time latency) const;
  /// As earliest_output, given that nothing that passes comes; streams that wait for members of a collective on other
  /// ranks get no answer before `answer`.
  [[nodiscard]] Time earliest_crossing(Time from, Time answer, Time latency) const;
  /// While all of its streams wait for members of a collective on other ranks: how long after an answer its
  /// earliest_crossing without a latency is, whenever that comes. Nothing: something else goes on.
  [[nodiscard]] std::optional<Time> crossing_behind_answer(Time from) const;
  /// When it carries on a collective across ranks next, of itself.
  [[nodiscard]] Time earliest_joining(Time from) const;

 private:
  [[nodiscard]] Distance ahead(const Stream& stream, Time from) const;
  [[nodiscard]] Distance ahead_of_all(Time from, Time answer) const;
  [[nodiscard]] bool awaits_ranks(const Stream& stream) const;
  [[nodiscard]] bool is_transit() const { return distances_->is_transit(view_.config.self); }
  [[nodiscard]] bool port_may_tell(std::size_t port) const { return is_transit() || table_->port_crosses(port); }

  DeviceView view_;
  const Distances* distances_;
  const DistanceTable* table_;
};

}  // namespace tessera::sim
