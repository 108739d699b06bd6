// From steps to a program: devices that do the same share their code.
#pragma once

#include "steps.hpp"

namespace tessera::strategy::script {

/// A script with everything looked up.
struct Script {
  std::vector<std::string> block_names;
  std::vector<std::vector<Step>> blocks;
  std::vector<Step> steps;
};

/// Adds blocks, operators, collectives and the devices' streams, events and bindings to `program`, whose groups are
/// there.
void compile(const Script& script, const GroupSets& groups, const std::vector<PeerSlot>& peers,
             program::Program& program);

}  // namespace tessera::strategy::script
