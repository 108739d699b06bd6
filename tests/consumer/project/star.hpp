#pragma once

#include "tessera/machine/machine.hpp"

/// A machine that no file describes: `devices` chips around one hub, each link with `bandwidth` (B/s) and `latency`
/// (ps).
[[nodiscard]] tessera::machine::Machine make_star(tessera::machine::NodeId devices, std::int64_t bandwidth,
                                                  tessera::Time latency);
