// Programs that repeat: how far apart what they repeat ends.
#pragma once

#include <span>

#include "tessera/base/time.hpp"

namespace tessera::program {

/// From one repeat to the next in steady state, on one device: ends[k] is when it is done with repeat k, ascending. Of
/// the third quarter of them, when the device has long begun and those before it have not ended yet: where differences
/// recur every p repeats (p = 1 in most pipelines), a p-th of what p of them take, rounded; otherwise their median. 0
/// for fewer than two repeats.
///
/// A program's interval is that of its slowest device, which is busy from the beginning on. The others follow it once
/// they are as far ahead of it as they may be; that they wait longer when they come to that point is no interval.
[[nodiscard]] Time steady_interval(std::span<const Time> ends);

}  // namespace tessera::program
