#include "tessera/pdes/detail/event_pool.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "tessera/base/error.hpp"

namespace tessera::pdes::detail {

void EventPool::FreeBlock::operator()(Slot* block) const { std::free(block); }

void EventPool::grow() {
  constexpr std::size_t bytes = block_size * sizeof(Slot);
  if (capacity() + block_size > UINT32_MAX) throw InternalError("more than 2^32 events are pending on one rank");
  auto* block = static_cast<Slot*>(std::aligned_alloc(bytes, bytes));
  if (block == nullptr) throw std::bad_alloc();
  // Pending events are read in an order that has nothing to do with where they lie: without huge pages each one misses
  // the TLB. A refusal costs speed only. The first block stays small in memory, so that small models do.
  if (!blocks_.empty()) madvise(block, bytes, MADV_HUGEPAGE);
  blocks_.emplace_back(block);
  free_.reserve(capacity());
  const auto first = static_cast<std::uint32_t>(capacity() - block_size);
  for (std::uint32_t slot = block_size; slot-- > 0;) free_.push_back(first + slot);
}

}  // namespace tessera::pdes::detail
