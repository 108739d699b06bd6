// Which machine a job of another tool runs on, and how much of it.
#pragma once

#include <cstdint>
#include <string>

#include "formats.hpp"

namespace tessera::experiment::importing {

struct ChosenMachine {
  std::string name, topology;
  std::int64_t devices_per_node = 0;  ///< 0: it has no nodes
  std::int64_t devices = 0;           ///< that the experiment has
  std::int64_t memory = 0;            ///< B, of a device, without what no job can have
};

/// What the files say of the machine's size.
struct SourceSize {
  std::int64_t nodes = 0, devices_per_node = 0, devices = 0;  ///< 0: nothing
};

/// Puts the machine of the request, or the only stock machine whose name the files hint at, into the draft, and on a
/// cluster its nodes. Without a name after an error.
[[nodiscard]] ChosenMachine choose_machine(const ImportRequest& request, const Sources& files, const SourceSize& size,
                                           Draft& draft, config::Diagnostics& diagnostics);

}  // namespace tessera::experiment::importing
