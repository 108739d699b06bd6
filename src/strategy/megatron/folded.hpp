// One block after another, of things of which many are alike: what repeats becomes loops.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "tessera/program/program.hpp"
#include "tessera/program/schedule.hpp"

namespace tessera::strategy::megatron {

namespace folded {

template <class BlockOf>
void write(program::Program& program, program::BlockBuilder& into, const program::ScheduleLoop& loop,
           const BlockOf& block_of) {
  if (loop.action) {
    into.call(block_of(loop.action->chunk), loop.times);
  } else if (loop.times == 1) {
    for (const program::ScheduleLoop& inner : loop.body) write(program, into, inner, block_of);
  } else {
    program::BlockBuilder body(program, "passes");
    for (const program::ScheduleLoop& inner : loop.body) write(program, body, inner, block_of);
    into.call(body.done(), loop.times);
  }
}

}  // namespace folded

/// `block_of` makes the block of an item; it is asked once for each of those that differ. Items are folded as actions
/// of a schedule are, whose chunk is their number among these.
template <class Item, class BlockOf>
void write_folded(program::Program& program, program::BlockBuilder& into, const std::vector<Item>& items,
                  const BlockOf& block_of) {
  std::vector<Item> different;
  std::vector<program::PipelineAction> numbers;
  for (const Item& item : items) {
    const auto found = std::ranges::find(different, item);
    program::PipelineAction number;
    number.kind = program::PipelineAction::Kind::forward;
    number.chunk = static_cast<std::uint32_t>(found - different.begin());
    numbers.push_back(number);
    if (found == different.end()) different.push_back(item);
  }
  std::vector<std::optional<program::BlockId>> blocks(different.size());
  folded::write(program, into, program::fold(numbers), [&](std::uint32_t number) {
    if (!blocks[number]) blocks[number] = block_of(different[number]);
    return *blocks[number];
  });
}

}  // namespace tessera::strategy::megatron
