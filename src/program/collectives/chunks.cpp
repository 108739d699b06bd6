#include "chunks.hpp"

namespace tessera::program {

std::int64_t chunk_bytes(std::int64_t total, std::int64_t element, std::uint32_t parts, std::uint32_t index) {
  return chunk_of({0, total, 0}, element, parts, index).bytes;
}

}  // namespace tessera::program
