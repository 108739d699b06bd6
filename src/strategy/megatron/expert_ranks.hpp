// Which devices hold which experts, and how many tokens come to them.
#pragma once

#include "cut.hpp"

namespace tessera::strategy::megatron {

/// Checks the keys of experts and draws their load, Cut::expert_load. Expects replicas and tensor ranks; problems go to
/// `diagnostics`.
void read_experts(const config::Table& table, const Job& job, Cut& cut, config::Diagnostics& diagnostics);

}  // namespace tessera::strategy::megatron
