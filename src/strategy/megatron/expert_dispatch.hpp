// How tokens get to their experts and back.
#pragma once

#include "writer.hpp"

namespace tessera::strategy::megatron {

/// Of `parts` equal parts of a layer's experts, one after another, those that have an expert of a token: the mean over
/// tokens whose experts are drawn evenly, from groups that are drawn evenly where the model limits them. 0: groups and
/// parts do not divide each other, and there is no such number.
[[nodiscard]] double distinct_parts(const workload::LayerFields& kind, std::int64_t parts);

/// From what a device has to where the experts are, and the other way.
void send_to_experts(Writer& writer, const workload::LayerFields& kind, const char* label);
void send_from_experts(Writer& writer, const workload::LayerFields& kind, const char* label);

/// Finds Cut::expert_nodes; empty, or why tokens cannot cross once a node.
[[nodiscard]] std::string find_expert_nodes(const machine::Machine& machine, Cut& cut);

}  // namespace tessera::strategy::megatron
