#include <algorithm>

#include "memory_walk.hpp"

namespace tessera::program {
namespace {

bool is_call(const Instruction& instruction) { return instruction.op == Op::call; }

bool is_of_memory(const Instruction& instruction) {
  return instruction.op == Op::allocate || instruction.op == Op::release;
}

/// The one block that a stream repeats, through calls of calls; nothing where there are several, or memory changes
/// outside of it.
std::optional<BlockId> repeated_block(const Program& program, BlockId entry) {
  const std::vector<Instruction>& code = program.blocks[entry].code;
  if (std::ranges::none_of(code, is_call)) return entry;
  std::optional<BlockId> found;
  for (const Instruction& instruction : code) {
    if (is_of_memory(instruction)) return std::nullopt;
    if (!is_call(instruction)) continue;
    const std::optional<BlockId> inner = repeated_block(program, instruction.a);
    if (!inner || (found && *found != *inner)) return std::nullopt;
    found = inner;
  }
  return found;
}

}  // namespace

std::optional<Follower> follower_of(const Program& program, BlockId entry) {
  const std::optional<BlockId> block = repeated_block(program, entry);
  if (!block) return std::nullopt;
  const std::vector<Instruction>& code = program.blocks[*block].code;
  if (code.empty() || code.front().op != Op::wait || code.front().count != 1) return std::nullopt;
  Follower follower{code.front().a, {}, MemoryWalk(categories_of(program))};
  bool has_released = false;
  for (const Instruction& instruction : code) {
    if (instruction.op == Op::allocate) return std::nullopt;
    has_released = has_released || instruction.op == Op::release;
    if (instruction.op == Op::signal && instruction.count == 1 && has_released) follower.says = instruction.a;
    if (instruction.op == Op::release) follower.says.reset();
  }
  if (!has_released) return std::nullopt;
  follower.released = memory_walks(program, *block)[*block];
  return follower;
}

}  // namespace tessera::program
