// Attention of other kinds, experts, and which layers have them, by the options of Megatron-LM.
#pragma once

#include "flags.hpp"

namespace tessera::experiment::importing {

/// Behind what single options say of the model: latent attention, windows, widths and numbers of experts, and a
/// sequence of kinds of layers where not all have them.
void read_layer_kinds(const Flags& flags, Draft& draft, config::Diagnostics& diagnostics);

/// "1": all of them (nothing); "n": one with experts, then n - 1 without, and so on; or a pattern in Python, such as
/// "([0]*3+[1]*58)". As `layer_sequence` of a model with the kinds "dense" and "moe"; nothing after an error.
[[nodiscard]] std::vector<std::string> expert_sequence(const Flag& flag, config::Diagnostics& diagnostics);

}  // namespace tessera::experiment::importing
