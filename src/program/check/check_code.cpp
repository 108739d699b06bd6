#include <fmt/core.h>

#include "../block_order.hpp"
#include "problems.hpp"

namespace tessera::program {
namespace {

std::string beyond(const char* what, std::uint64_t index, std::size_t size) {
  return index < size ? "" : fmt::format("{} {} of {}", what, index, size);
}

/// What is wrong with one instruction by itself; empty when nothing is.
std::string problem_of(const Program& program, const Instruction& instruction) {
  if (instruction.label != 0 && instruction.label >= program.labels.size()) {
    return beyond("label", instruction.label, program.labels.size());
  }
  if (static_cast<std::size_t>(instruction.activity) >= activities_of(program))
    return "an activity that does not exist";
  switch (instruction.op) {
    case Op::compute:
      return beyond("operator", instruction.a, program.operators.size());
    case Op::collective:
      return beyond("collective", instruction.a, program.collectives.size());
    case Op::kernel:
      return beyond("kernel", instruction.a, program.kernels.size());
    case Op::call:
      return beyond("block", instruction.a, program.blocks.size());
    case Op::end_phase:
      return beyond("phase", instruction.a, program.phases.size());
    case Op::allocate:
    case Op::release:
      if (instruction.b >= categories_of(program)) return "a memory category that does not exist";
      break;
    case Op::send:
    case Op::receive:
    case Op::wait_sends:
    case Op::signal:
    case Op::wait:
    case Op::mark:
      break;
  }
  return instruction.bytes < 0 ? fmt::format("a size of {} bytes", instruction.bytes) : "";
}

/// Whether a block, or what it calls, says that a phase is over.
std::vector<bool> ends_phases(const Program& program) {
  std::vector<bool> ends(program.blocks.size());
  if (program.phases.empty()) return ends;
  std::vector<std::vector<BlockId>> callers(program.blocks.size());
  std::vector<BlockId> open;
  for (BlockId block = 0; block < program.blocks.size(); ++block) {
    for (const Instruction& one : program.blocks[block].code) {
      if (one.op == Op::call) callers[one.a].push_back(block);
      if (one.op == Op::end_phase) open.push_back(block);
    }
  }
  while (!open.empty()) {
    const BlockId block = open.back();
    open.pop_back();
    if (ends[block]) continue;
    ends[block] = true;
    open.insert(open.end(), callers[block].begin(), callers[block].end());
  }
  return ends;
}

/// A phase is over once: rounds of loops are left out.
void check_phases(const Program& program, Problems& problems) {
  const std::vector<bool> ends = ends_phases(program);
  for (BlockId block = 0; block < program.blocks.size(); ++block) {
    for (const Instruction& one : program.blocks[block].code) {
      if (one.op == Op::call && one.count > 1 && ends[one.a])
        problems.add(fmt::format("{} calls {}, in which a phase is over, {}", block_text(program, block),
                                 block_text(program, one.a), times_text(one.count)));
    }
  }
}

}  // namespace

Problems check_code(const Program& program) {
  Problems problems;
  for (BlockId block = 0; block < program.blocks.size(); ++block) {
    const std::vector<Instruction>& code = program.blocks[block].code;
    for (std::size_t i = 0; i < code.size(); ++i) {
      const std::string problem = problem_of(program, code[i]);
      if (!problem.empty()) {
        problems.add(fmt::format("{}, instruction {}: {}", block_text(program, block), i, problem));
      }
    }
  }
  if (!problems.empty()) return problems;
  if (const auto cycle = find_recursion(program)) problems.add(*cycle + ": blocks may not recurse");
  if (problems.empty()) check_phases(program, problems);
  return problems;
}

}  // namespace tessera::program
