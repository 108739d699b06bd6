// How much memory this computer gives.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include "tessera/base/comm.hpp"

namespace tessera {

/// B, and who says so: "its memory", "the limit of its control group", "ulimit -v".
struct MemoryLimit {
  std::int64_t bytes = std::numeric_limits<std::int64_t>::max();
  std::string source;
};

/// For all processes of this computer that work together: its memory, or what a control group (version 1 or 2, at any
/// level above this process) leaves of it. `root`: where proc and sys are; another one in tests.
[[nodiscard]] MemoryLimit memory_of_computer(const std::filesystem::path& root = "/");
/// For this process alone: the limits of addresses and of data (ulimit -v, ulimit -d).
[[nodiscard]] MemoryLimit memory_of_process();

/// How many ranks share this rank's computer, this one included. Collective.
[[nodiscard]] int ranks_on_computer(Communicator& comm);

}  // namespace tessera
