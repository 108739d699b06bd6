#include "event_balance.hpp"

#include <algorithm>
#include <limits>

#include "../block_order.hpp"

namespace tessera::program {
namespace {

__extension__ using Wide = __int128;

std::int64_t saturated(Wide value) {
  using Limits = std::numeric_limits<std::int64_t>;
  return static_cast<std::int64_t>(std::clamp<Wide>(value, Limits::min(), Limits::max()));
}

/// Appends `times` passes of `next`. Each pass begins where the one before ended: the lowest is the first one when they
/// raise more than they await, and the last one otherwise.
void append(EventBalance& balance, const EventBalance& next, std::int64_t times) {
  if (times == 0) return;
  const Wide before = next.end < 0 ? static_cast<Wide>(times - 1) * next.end : 0;
  balance.lowest = std::min(balance.lowest, saturated(balance.end + before + next.lowest));
  balance.end = saturated(balance.end + static_cast<Wide>(times) * next.end);
}

}  // namespace

const EventBalances::ByEvent& EventBalances::of(BlockId block) {
  if (!known_[block]) {
    std::vector<BlockId> order = callers_first(program_, block);
    std::reverse(order.begin(), order.end());
    for (const BlockId callee : order) {
      if (!known_[callee]) compute(callee);
    }
  }
  return balances_[block];
}

void EventBalances::compute(BlockId block) {
  ByEvent& balances = balances_[block];
  for (const Instruction& instruction : program_.blocks[block].code) {
    const std::int64_t count = instruction.count;
    if (instruction.op == Op::signal) append(balances[instruction.a], {count, 0}, 1);
    if (instruction.op == Op::wait) append(balances[instruction.a], {-count, -count}, 1);
    if (instruction.op != Op::call) continue;
    for (const auto& [event, once] : balances_[instruction.a]) append(balances[event], once, count);
  }
  known_[block] = true;
}

}  // namespace tessera::program
