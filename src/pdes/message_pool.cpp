#include "tessera/pdes/detail/message_pool.hpp"

#include <algorithm>

namespace tessera::pdes::detail {

void MessagePool::grow(std::size_t size_class) {
  const std::size_t size = std::size_t{1} << size_class;
  // Twice as many each time, so that growing ends soon; large messages start with a single one.
  const std::size_t count = std::max<std::size_t>({1, handed_out_[size_class], 4096 / size});
  storage_.push_back(std::make_unique_for_overwrite<std::byte[]>(count * size));
  handed_out_[size_class] += count;
  auto& list = free_[size_class];
  list.reserve(handed_out_[size_class]);  // release() never allocates
  for (std::size_t i = count; i-- > 0;) list.push_back(storage_.back().get() + i * size);
}

}  // namespace tessera::pdes::detail
