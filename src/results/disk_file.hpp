// A file by the system's own calls, each of which is asked whether it did what it should.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace tessera::results {

/// Every function throws a Failure with the system's reason.
class DiskFile {
 public:
  /// A new file; the name must be free.
  [[nodiscard]] static DiskFile create(const std::string& name);
  [[nodiscard]] static DiskFile open_to_write(const std::string& name);
  [[nodiscard]] static DiskFile open_to_read(const std::string& name);
  DiskFile(DiskFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  DiskFile& operator=(DiskFile&& other) noexcept;
  ~DiskFile();

  /// Makes the file `size` bytes long and sets the space aside, so that a full disk shows before anything is written.
  /// False where the file system cannot set space aside: only the length is set then.
  [[nodiscard]] bool reserve(std::int64_t size);
  void write(std::int64_t offset, const std::byte* bytes, std::size_t count);
  void read(std::int64_t offset, std::byte* bytes, std::size_t count) const;
  /// To the disk: some file systems find out only then that they are full.
  void flush();
  void close();

 private:
  explicit DiskFile(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace tessera::results
