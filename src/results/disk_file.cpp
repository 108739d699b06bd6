#include "disk_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "failure.hpp"

namespace tessera::results {
namespace {

[[noreturn]] void fail() { throw Failure(std::strerror(errno)); }

int opened(const std::string& name, int flags) {
  const int descriptor = ::open(name.c_str(), flags | O_CLOEXEC, 0666);
  if (descriptor < 0) fail();
  return descriptor;
}

}  // namespace

DiskFile DiskFile::create(const std::string& name) { return DiskFile(opened(name, O_CREAT | O_EXCL | O_RDWR)); }

DiskFile DiskFile::open_to_write(const std::string& name) { return DiskFile(opened(name, O_RDWR)); }

DiskFile DiskFile::open_to_read(const std::string& name) { return DiskFile(opened(name, O_RDONLY)); }

DiskFile& DiskFile::operator=(DiskFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

DiskFile::~DiskFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool DiskFile::reserve(std::int64_t size) {
  if (::ftruncate(descriptor_, size) != 0) fail();
  // Not posix_fallocate: where the file system cannot do it, that writes a byte into every block.
  while (size > 0 && ::fallocate(descriptor_, 0, 0, size) != 0) {
    if (errno == EOPNOTSUPP || errno == ENOSYS) return false;
    if (errno != EINTR) fail();
  }
  return true;
}

void DiskFile::write(std::int64_t offset, const std::byte* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = ::pwrite(descriptor_, bytes, count, offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    if (written == 0) throw Failure("the file system takes no more bytes");
    bytes += written;
    count -= static_cast<std::size_t>(written);
    offset += written;
  }
}

void DiskFile::read(std::int64_t offset, std::byte* bytes, std::size_t count) const {
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, bytes, count, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail();
    if (got == 0) throw Failure("the file ends early");
    bytes += got;
    count -= static_cast<std::size_t>(got);
    offset += got;
  }
}

void DiskFile::flush() {
  // Some special file systems cannot, and say so.
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail();
}

void DiskFile::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0) fail();
}

}  // namespace tessera::results
