// Steps that may fail on one rank and must then end all of them.
#pragma once

#include <functional>

#include "tessera/base/comm.hpp"

namespace tessera::app {

/// Runs `action` on every rank. When it throws on any, every rank throws the error of the first rank that failed.
void together(Communicator& comm, const std::function<void()>& action);

}  // namespace tessera::app
