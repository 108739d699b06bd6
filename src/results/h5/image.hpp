// The bytes of an HDF5 file that HDF5 writes into memory instead of onto a disk. Rows of big tables have room in it,
// but take no memory as long as nobody writes them. HDF5 so never meets a full disk, after which it cannot close its
// files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "handle.hpp"

namespace tessera::results::h5 {

class Image {
 public:
  void write(std::uint64_t offset, const std::byte* bytes, std::size_t count);
  /// What was never written is zero.
  void read(std::uint64_t offset, std::byte* bytes, std::size_t count) const;
  void resize(std::uint64_t size) { size_ = size; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  static constexpr std::uint64_t page_bytes = 4096;
  std::map<std::uint64_t, std::vector<std::byte>> pages_;  ///< by number
  std::uint64_t size_ = 0;
};

/// Makes files of the access property list `access` lie in `image`, which outlives them.
void place_in(Id access, Image& image);

}  // namespace tessera::results::h5
