#pragma once

#include <fmt/core.h>

#include <filesystem>
#include <string>

#include "tessera/base/comm.hpp"
#include "tessera/base/error.hpp"

namespace tessera {

/// A benchmark's main() behind its options: work(communicator) on all ranks. Errors are one line of rank 0.
/// Returns the exit code.
template <class Work>
int on_ranks(int& argc, char**& argv, const Work& work) {
  const std::string name = std::filesystem::path(argv[0]).filename().string();
  MpiSession session(argc, argv);
  try {
    work(session.world());
    return 0;
  } catch (const Error& error) {
    if (session.world().rank() == 0) fmt::print(stderr, "{}: {}\n", name, error.what());
    return static_cast<int>(error.code());
  }
}

}  // namespace tessera
