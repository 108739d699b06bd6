// Where pending events live: fixed slots of one cache line, addressed by 32 bits, that never move.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tessera/pdes/event.hpp"

namespace tessera::pdes::detail {

/// Slots are handed out last in, first out: the slot of the event just handled, still in the cache, takes the next one
/// made.
class EventPool {
 public:
  [[nodiscard]] std::uint32_t allocate() {
    if (free_.empty()) [[unlikely]]
      grow();
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void release(std::uint32_t slot) { free_.push_back(slot); }

  [[nodiscard]] Event& operator[](std::uint32_t slot) {
    return blocks_[slot >> block_bits][slot & (block_size - 1)].event;
  }
  [[nodiscard]] const Event& operator[](std::uint32_t slot) const {
    return blocks_[slot >> block_bits][slot & (block_size - 1)].event;
  }
  [[nodiscard]] std::size_t capacity() const { return blocks_.size() << block_bits; }
  [[nodiscard]] std::size_t in_use() const { return capacity() - free_.size(); }

 private:
  struct alignas(64) Slot {
    Event event;
  };
  struct FreeBlock {
    void operator()(Slot* block) const;
  };
  static constexpr unsigned block_bits = 15;  // 32,768 slots of 64 bytes: 2 MiB, a huge page
  static constexpr std::uint32_t block_size = 1U << block_bits;

  void grow();

  std::vector<std::unique_ptr<Slot[], FreeBlock>> blocks_;
  std::vector<std::uint32_t> free_;  // capacity() entries are reserved, so release() never allocates
};

}  // namespace tessera::pdes::detail
