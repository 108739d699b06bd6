// Steps that can fail on one rank and must then fail on all.
#pragma once

#include <functional>

#include "tessera/base/comm.hpp"

namespace tessera {

/// Runs `step` on every rank; when it throws on any, every rank throws the same Error: that of the lowest rank that
/// failed.
void together(Communicator& comm, const std::function<void()>& step);

}  // namespace tessera
