#include "messages.hpp"

using namespace tessera;

TEST_CASE("messages: of every rank to rank 0, and to all") {
  int argc = 0;
  char** argv = nullptr;
  MpiSession session(argc, argv);
  test::check_communicator(session.world());
}
