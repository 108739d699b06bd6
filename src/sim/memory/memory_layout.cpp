#include "sim/memory/memory_layout.hpp"

namespace tessera::sim {

void MemoryLayout::add(BlockId blocks, const MatrixPlace& place) {
  pieces_.push_back({end_, end_ + blocks, next_address_, place});
  end_ += blocks;
  const auto one = static_cast<BlockId>(place.parts) * place.part_blocks;
  next_address_ += static_cast<std::uint32_t>((blocks + one - 1) / one) * place.matrix;
}

}  // namespace tessera::sim
