#pragma once

#include "tessera/base/comm.hpp"
#include "tessera/base/time.hpp"

/// Two components throw a ball to and fro, `throws` times over links of `latency`. Returns when it is caught last.
[[nodiscard]] tessera::Time play(int throws, tessera::Time latency, tessera::Communicator& comm);
