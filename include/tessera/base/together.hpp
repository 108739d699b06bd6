// Steps that can fail on one rank and must then fail on all.
#pragma once

#include <functional>

#include "tessera/base/comm.hpp"

namespace tessera {

/// What a failed allocation is reported as, with ExitCode::io.
inline constexpr const char* out_of_memory =
    "not enough memory on this computer: use more ranks on more computers, or record less ([record] in the experiment)";

/// Runs `step` on every rank; when it throws on any, every rank throws the same Error: that of the lowest rank that
/// failed.
void together(Communicator& comm, const std::function<void()>& step);

}  // namespace tessera
