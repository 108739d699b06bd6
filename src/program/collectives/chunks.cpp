#include "chunks.hpp"

namespace tessera::program {

Bytes chunk_bytes(Bytes total, Bytes element, std::uint32_t parts, std::uint32_t index) {
  return Bytes{chunk_of({0, total.value(), 0}, element, parts, index).bytes};
}

}  // namespace tessera::program
