// A hash of texts that stays the same from one version and machine to the next: for names of files and of random
// streams.
#pragma once

#include <cstdint>
#include <string_view>

namespace tessera {

/// FNV-1a, 64 bits.
[[nodiscard]] constexpr std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

}  // namespace tessera
