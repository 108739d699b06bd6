// A job by the options of Megatron-LM and its kin: the keys that several options together make.
#pragma once

#include "flags.hpp"
#include "machine.hpp"

namespace tessera::experiment::importing {

/// What differs between the tools.
struct LaunchDefaults {
  std::string recipe;           ///< the software stack
  bool flash_attention = true;  ///< where no option says how attention runs
  bool bf16_gradients = false;  ///< BF16 reduces gradients in BF16 unless told otherwise
};

/// Fills in the whole draft. `size` is what the launcher says of the machine.
void read_launch(const ImportRequest& request, const Sources& files, const Flags& flags, SourceSize size,
                 const LaunchDefaults& defaults, Draft& draft, config::Diagnostics& diagnostics);

}  // namespace tessera::experiment::importing
