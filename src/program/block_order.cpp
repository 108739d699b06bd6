#include "block_order.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tessera/base/error.hpp"

namespace tessera::program {
namespace {

/// Depth first over calls, without recursing itself: nesting may be deep.
class CallWalk {
 public:
  explicit CallWalk(const Program& program) : program_(program), state_(program.blocks.size(), State::unseen) {}

  /// Adds what `entry` reaches to finished(), callees first. False when the calls form a cycle: it is in path().
  bool visit(BlockId entry) {
    if (!enter(entry)) return false;
    while (!path_.empty()) {
      Frame& frame = path_.back();
      const std::vector<Instruction>& code = program_.blocks[frame.block].code;
      while (frame.next < code.size() && code[frame.next].op != Op::call) ++frame.next;
      if (frame.next == code.size()) {
        state_[frame.block] = State::done;
        finished_.push_back(frame.block);
        path_.pop_back();
      } else if (!enter(code[frame.next++].a)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] std::vector<BlockId> finished() const { return finished_; }

  /// The cycle that visit() met, from the repeated block on.
  [[nodiscard]] std::vector<BlockId> cycle() const {
    std::vector<BlockId> blocks;
    for (const Frame& frame : path_) blocks.push_back(frame.block);
    blocks.erase(blocks.begin(), std::find(blocks.begin(), blocks.end(), repeated_));
    blocks.push_back(repeated_);
    return blocks;
  }

 private:
  enum class State : std::uint8_t { unseen, on_path, done };
  struct Frame {
    BlockId block;
    std::size_t next;
  };

  bool enter(BlockId block) {
    if (block >= state_.size()) throw InternalError(fmt::format("a call of block {} of {}", block, state_.size()));
    repeated_ = block;
    if (state_[block] == State::on_path) return false;
    if (state_[block] == State::unseen) {
      state_[block] = State::on_path;
      path_.push_back({block, 0});
    }
    return true;
  }

  const Program& program_;
  std::vector<State> state_;
  std::vector<Frame> path_;
  std::vector<BlockId> finished_;
  BlockId repeated_ = 0;
};

}  // namespace

std::vector<BlockId> callers_first(const Program& program, BlockId entry) {
  CallWalk walk(program);
  if (!walk.visit(entry)) throw InternalError("a program with recursive blocks");
  std::vector<BlockId> order = walk.finished();
  std::reverse(order.begin(), order.end());
  return order;
}

std::optional<std::string> find_recursion(const Program& program) {
  CallWalk walk(program);
  for (BlockId block = 0; block < program.blocks.size(); ++block) {
    if (walk.visit(block)) continue;
    std::string text;
    for (const BlockId member : walk.cycle()) text += (text.empty() ? "" : " calls ") + block_text(program, member);
    return text;
  }
  return std::nullopt;
}

std::string block_text(const Program& program, BlockId block) {
  return fmt::format("block {} (\"{}\")", block, program.blocks[block].name);
}

}  // namespace tessera::program
