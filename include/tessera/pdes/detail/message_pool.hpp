// Storage of messages that do not fit into their events: free lists by size, so that a steady state never allocates.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <vector>

#include "tessera/pdes/protocol.hpp"

namespace tessera::pdes::detail {

/// What the payload of an event holds when its message is kept out of line.
struct OutOfLine {
  const MessageType* type = nullptr;
  void* message = nullptr;
};
static_assert(sizeof(OutOfLine) <= inline_payload);

/// Event::flags
inline constexpr std::uint16_t out_of_line = 1;

[[nodiscard]] inline OutOfLine out_of_line_of(const Event& event) {
  OutOfLine held;
  std::memcpy(&held, event.payload.data(), sizeof held);
  return held;
}

class MessagePool {
 public:
  [[nodiscard]] void* allocate(std::size_t size) {
    auto& list = free_[size_class(size)];
    if (list.empty()) [[unlikely]]
      grow(size_class(size));
    void* block = list.back();
    list.pop_back();
    return block;
  }
  void release(void* block, std::size_t size) { free_[size_class(size)].push_back(block); }

  /// Ends the message that an event holds out of line.
  void destroy(const Event& event) {
    const OutOfLine held = out_of_line_of(event);
    if (held.type->destroy != nullptr) held.type->destroy(held.message);
    release(held.message, held.type->size);
  }

 private:
  /// Class k holds blocks of 2^k bytes; the smallest is a cache line's half.
  static std::size_t size_class(std::size_t size) { return std::max<std::size_t>(5, std::bit_width(size - 1)); }
  void grow(std::size_t size_class);

  std::array<std::vector<void*>, 48> free_;
  std::array<std::size_t, 48> handed_out_{};  // blocks that exist of each class
  std::vector<std::unique_ptr<std::byte[]>> storage_;
};

}  // namespace tessera::pdes::detail
