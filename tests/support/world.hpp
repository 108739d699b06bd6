// All ranks of a test that runs under mpirun.
#pragma once

#include "tessera/base/comm.hpp"

namespace tessera::test {

struct World {
  int argc = 0;
  char** argv = nullptr;
  MpiSession session{argc, argv};
  Communicator& comm = session.world();
};

}  // namespace tessera::test
