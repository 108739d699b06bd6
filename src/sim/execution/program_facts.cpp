#include "tessera/sim/execution/program_facts.hpp"

#include <algorithm>

namespace tessera::sim {

using program::Op;

ProgramFacts::ProgramFacts(const program::Program& program)
    : takes_cores_(program.channels > 0), facts_(program.blocks.size()), known_(program.blocks.size()) {
  for (program::BlockId block = 0; block < program.blocks.size(); ++block) compute(program, block);
}

const BlockFacts& ProgramFacts::compute(const program::Program& program, program::BlockId block) {
  if (known_[block]) return facts_[block];
  BlockFacts facts;
  for (const program::Instruction& instruction : program.blocks[block].code) {
    if (instruction.op == Op::compute) facts.computes = true;
    if (instruction.op == Op::collective) facts.communicates = true;
    if (instruction.op == Op::allocate || instruction.op == Op::release) facts.changes_memory = true;
    if (instruction.op == Op::mark) facts.marks = true;
    if (instruction.op == Op::wait) facts.waited_events.push_back(instruction.a);
    if (instruction.op != Op::call) continue;
    const BlockFacts& callee = compute(program, instruction.a);
    facts.computes = facts.computes || callee.computes;
    facts.communicates = facts.communicates || callee.communicates;
    facts.changes_memory = facts.changes_memory || callee.changes_memory;
    facts.repeats = facts.repeats || callee.repeats || instruction.count > 1;
    facts.marks = facts.marks || callee.marks;
    facts.depth = std::max(facts.depth, callee.depth + 1);
    facts.waited_events.insert(facts.waited_events.end(), callee.waited_events.begin(), callee.waited_events.end());
  }
  auto& events = facts.waited_events;
  std::sort(events.begin(), events.end());
  events.erase(std::unique(events.begin(), events.end()), events.end());
  facts_[block] = std::move(facts);
  known_[block] = true;
  return facts_[block];
}

bool ProgramFacts::shares_compute(const program::DeviceProgram& device) const {
  return std::count_if(device.streams.begin(), device.streams.end(),
                       [this](program::BlockId block) { return facts_[block].computes; }) > 1;
}

bool ProgramFacts::shares_memory(const program::DeviceProgram& device) const {
  return std::count_if(device.streams.begin(), device.streams.end(),
                       [this](program::BlockId block) { return facts_[block].changes_memory; }) > 1;
}

bool ProgramFacts::shares_cores(const program::DeviceProgram& device) const {
  const auto& streams = device.streams;
  for (std::size_t i = 0; takes_cores_ && i < streams.size(); ++i) {
    for (std::size_t j = 0; j < streams.size(); ++j) {
      if (i != j && facts_[streams[i]].communicates && facts_[streams[j]].computes) return true;
    }
  }
  return false;
}

bool ProgramFacts::shares_events(const program::DeviceProgram& device) const {
  std::vector<bool> waited(device.events, false);
  for (const program::BlockId block : device.streams) {
    for (const std::uint32_t event : facts_[block].waited_events) {
      if (waited[event]) return true;
      waited[event] = true;
    }
  }
  return false;
}

}  // namespace tessera::sim
