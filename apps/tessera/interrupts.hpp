// SIGTERM, SIGINT and SIGHUP (a batch system's time limit, Ctrl-C): noticed between rounds, so that all ranks end
// together.
#pragma once

namespace tessera::app {

/// From now on the first of these signals only sets a flag; a second one ends the process at once.
void catch_interrupts();
[[nodiscard]] bool interrupted();

}  // namespace tessera::app
