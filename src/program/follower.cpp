#include <algorithm>

#include "block_order.hpp"
#include "memory_walk.hpp"

namespace tessera::program {
namespace {

bool is_of_memory(const Instruction& instruction) {
  return instruction.op == Op::allocate || instruction.op == Op::release;
}

/// The one block of a stream that changes memory; nothing where none or several do.
std::optional<BlockId> block_of_memory(const Program& program, const std::vector<BlockId>& blocks) {
  std::optional<BlockId> found;
  for (const BlockId block : blocks) {
    if (std::ranges::none_of(program.blocks[block].code, is_of_memory)) continue;
    if (found) return std::nullopt;
    found = block;
  }
  return found;
}

bool signals(const Block& block, std::uint32_t event) {
  return std::ranges::any_of(block.code,
                             [event](const Instruction& one) { return one.op == Op::signal && one.a == event; });
}

}  // namespace

std::optional<Follower> follower_of(const Program& program, BlockId entry) {
  const std::vector<BlockId> blocks = callers_first(program, entry);
  const std::optional<BlockId> block = block_of_memory(program, blocks);
  if (!block) return std::nullopt;
  const std::vector<Instruction>& code = program.blocks[*block].code;
  if (code.front().op != Op::wait || code.front().count != 1) return std::nullopt;
  Follower follower{code.front().a, {}, MemoryWalk(categories_of(program))};
  for (const Instruction& instruction : code) {
    if (instruction.op == Op::allocate || instruction.op == Op::call) return std::nullopt;
    if (instruction.op == Op::release) follower.says.reset();
    if (instruction.op == Op::signal && instruction.count == 1) follower.says = instruction.a;
  }
  const auto says_elsewhere = [&](BlockId other) {
    return follower.says && other != *block && signals(program.blocks[other], *follower.says);
  };
  if (std::ranges::any_of(blocks, says_elsewhere)) follower.says.reset();
  follower.released = memory_walks(program, *block)[*block];
  return follower;
}

}  // namespace tessera::program
