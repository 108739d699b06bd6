// A device that stands for others until they do different things, and one that goes on from there (sim/fold).
#include <algorithm>

#include "sim/execution/device.hpp"
#include "sim/fold/fold.hpp"

namespace tessera::sim {

// From this event on. What its other streams do until then they have done; if one of them might do more in this event,
// or in a collective whose members know nothing of this, it is too late.
void Device::split_off(Stream& stream) {
  Splits& splits = *environment().splits;
  const auto is_busy = [&](const Stream& other) {
    return other.index != stream.index &&
           (other.collective.phase != CollectiveRun::Phase::none || other.state == StreamState::departures);
  };
  if (is_split_off_ || handling().ready.back() != stream.index || std::ranges::any_of(state_.streams, is_busy))
    splits.failed = true;
  is_split_off_ = true;
  stream.state = StreamState::until_clock;
  splits.starts.push_back(
      {config_.self, stream.index, ++stream.token, context().now(), handling().source, handling().sequence});
  environment().turn.device = program::no_device;  // no more rounds are left out
}

void Device::note_carried(const CollectiveRun& run, Time end) const {
  const Fold& fold = *environment().network.fold;
  const auto is_simulated = [&fold](program::DeviceId member) { return fold.is_simulated(member); };
  if (std::ranges::all_of(program().groups[run.group].members, is_simulated)) return;
  Splits::Carried& carried = environment().splits->carried[{run.index, config_.self}];
  carried = {run.group, carried.times + 1, end};
}

void Device::stay_at_rest() const {
  if (!handling().ready.empty()) environment().splits->failed = true;
  handling().ready.clear();
}

void Device::tell_groups_at_work(std::vector<bool>& at_work) const {
  for (const Stream& stream : state_.streams)
    if (stream.collective.phase != CollectiveRun::Phase::none) at_work[stream.collective.group] = true;
}

}  // namespace tessera::sim
