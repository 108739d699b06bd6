// What runs again in the backward pass, by the options of Megatron-LM and NeMo.
#pragma once

#include "flags.hpp"

namespace tessera::experiment::importing {

/// Granularity, modules of a layer, and which layers; an error where a module or a method is not modelled.
void read_recomputation(const Flags& flags, Draft& draft, config::Diagnostics& diagnostics);

}  // namespace tessera::experiment::importing
