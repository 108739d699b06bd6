// How a buffer is cut: chunks of whole elements that differ by at most one element.
#pragma once

#include <algorithm>

#include "tessera/program/collective.hpp"

namespace tessera::program {

/// Bytes of a buffer that one message carries (the meanings of `stride` and `chunks` are those of Transfer).
struct Data {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::uint32_t stride = 0;
  std::span<const std::uint32_t> chunks{};
};

/// The buffer of a collective.
inline Data whole_of(const Collective& collective) { return {0, collective.bytes.value(), 0}; }

/// Chunk `index` of `whole` cut into `parts`.
inline Data chunk_of(Data whole, Bytes element_size, std::uint32_t parts, std::uint32_t index) {
  const std::int64_t element = element_size.value();
  const std::int64_t elements = whole.bytes / element;
  const std::int64_t base = elements / parts;
  const std::int64_t larger = elements % parts;  // the first chunks hold one element more
  const std::int64_t before = base * index + std::min<std::int64_t>(index, larger);
  return {whole.offset + before * element, (base + (index < larger ? 1 : 0)) * element, 0};
}

/// Of the buffer of a collective.
inline Data chunk_of(const Collective& collective, std::uint32_t parts, std::uint32_t index) {
  return chunk_of(whole_of(collective), collective.element, parts, index);
}

/// Chunks first .. first+count-1 of `whole` cut into `parts`, as one piece.
inline Data chunks_of(Data whole, Bytes element, std::uint32_t parts, std::uint32_t first, std::uint32_t count) {
  const Data begin = chunk_of(whole, element, parts, first);
  const Data last = chunk_of(whole, element, parts, first + count - 1);
  return {begin.offset, last.offset + last.bytes - begin.offset, 0};
}

/// The chunks of these ranks, which ascend, of a collective's buffer cut into a chunk a member.
inline Data chunks_of(const Collective& collective, std::uint32_t members, std::span<const std::uint32_t> ranks) {
  const std::int64_t elements = collective.bytes / collective.element;
  // The first chunks hold one element more.
  const auto larger = std::ranges::lower_bound(ranks, static_cast<std::uint32_t>(elements % members)) - ranks.begin();
  const std::int64_t here = elements / members * static_cast<std::int64_t>(ranks.size()) + larger;
  return {0, here * collective.element.value(), 0, ranks};
}

/// (a - b) mod n for a, b in [0, n].
constexpr std::uint32_t minus_modulo(std::uint32_t a, std::uint32_t b, std::uint32_t n) {
  const std::uint32_t difference = a >= b ? a - b : a + n - b;
  return difference >= n ? difference - n : difference;
}

/// (a + b) mod n for a, b in [0, n).
constexpr std::uint32_t plus_modulo(std::uint32_t a, std::uint32_t b, std::uint32_t n) {
  return a + b >= n ? a + b - n : a + b;
}

inline void add_send(Step& step, std::uint32_t peer, const Data& data, std::uint16_t lane = 0) {
  step.sends.push_back({peer, data.bytes, lane, false, false, false, data.stride, data.offset, data.chunks});
}
inline void add_receive(Step& step, std::uint32_t peer, const Data& data, std::uint16_t lane = 0) {
  step.receives.push_back({peer, data.bytes, lane, false, false, false, data.stride, data.offset, data.chunks});
}
inline void add_receive_and_reduce(Step& step, std::uint32_t peer, const Data& data, std::uint16_t lane = 0) {
  step.receives.push_back({peer, data.bytes, lane, true, false, false, data.stride, data.offset, data.chunks});
  step.reduce += data.bytes;
}

}  // namespace tessera::program
