// The steps of a ring, shared by every algorithm that has a ring in it. `data_of(chunk)` names the data of each chunk,
// so that rings run over whole buffers, halves of them, or parts that a node holds together.
#pragma once

#include "chunks.hpp"
#include "tessera/program/ring_order.hpp"

namespace tessera::program {

/// A member's place on a ring: data moves to `next` and comes from `previous` (ranks in the group).
struct RingPlace {
  std::uint32_t position = 0;
  std::uint32_t size = 1;
  std::uint32_t next = 0;
  std::uint32_t previous = 0;
  std::uint16_t lane = 0;
};

/// Number of steps of one pass round the ring.
constexpr std::uint32_t ring_pass(std::uint32_t size) { return size - 1; }

/// Step `index` of size-1: after the last one the member at position p holds the sum of chunk p.
template <class DataOf>
void ring_reduce_scatter(const RingPlace& at, std::uint32_t index, const DataOf& data_of, Step& step) {
  const std::uint32_t sent = ring_chunk(at.position, at.size, index, true);
  const std::uint32_t received = before_in_circle(sent, at.size);
  add_send(step, at.next, data_of(sent), at.lane);
  add_receive_and_reduce(step, at.previous, data_of(received), at.lane);
}

/// Step `index` of size-1: the member at position p starts with chunk p and ends with all chunks.
template <class DataOf>
void ring_all_gather(const RingPlace& at, std::uint32_t index, const DataOf& data_of, Step& step) {
  const std::uint32_t sent = ring_chunk(at.position, at.size, index, false);
  const std::uint32_t received = before_in_circle(sent, at.size);
  add_send(step, at.next, data_of(sent), at.lane);
  add_receive(step, at.previous, data_of(received), at.lane);
}

/// Step `index` of 2(size-1): reduce-scatter, then all-gather.
template <class DataOf>
void ring_all_reduce(const RingPlace& at, std::uint32_t index, const DataOf& data_of, Step& step) {
  if (index < ring_pass(at.size)) {
    ring_reduce_scatter(at, index, data_of, step);
  } else {
    ring_all_gather(at, index - ring_pass(at.size), data_of, step);
  }
}

}  // namespace tessera::program
