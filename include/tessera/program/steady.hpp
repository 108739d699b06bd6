// Programs that repeat: how far apart what they repeat ends, once all devices have work.
#pragma once

#include <vector>

#include "tessera/base/time.hpp"

namespace tessera::program {

/// From the end of one repeat to that of the next, in steady state: ends[k] is when the last device is done with repeat
/// k, ascending. Where the later half of the differences recurs every p repeats (p = 1 in most pipelines), a p-th of
/// what p of them take, otherwise the mean of that half; rounded. 0 for fewer than two.
[[nodiscard]] Time steady_interval(const std::vector<Time>& ends);

}  // namespace tessera::program
