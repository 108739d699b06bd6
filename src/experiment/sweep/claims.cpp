#include "claims.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::experiment::sweep {
namespace {

// Locks of an open file, where there are such: those of a process end when it closes any descriptor of the file.
#ifdef F_OFD_SETLK
constexpr int set_lock = F_OFD_SETLK;
#else
constexpr int set_lock = F_SETLK;
#endif

constexpr std::uint8_t fate_bits = 2;

}  // namespace

Claims::Claims(const std::string& path, std::int64_t points) : path_(path), points_(points) {
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) fail("cannot open");
  struct stat facts {};
  if (::fstat(file_, &facts) != 0) fail("cannot open");
  // Grown by whoever comes first: the bytes in between are 0.
  if (facts.st_size < points && ::ftruncate(file_, points) != 0) {
    const int reason = errno;
    ::close(file_);
    errno = reason;
    fail("cannot write");
  }
  // Behind the last point, so that nobody is in the way.
  if (lock(points_, true)) static_cast<void>(lock(points_, false));
}

Claims::~Claims() { ::close(file_); }

void Claims::fail(const char* what) const {
  throw IoError(std::string(what) + " '" + one_line(path_) + "': " + std::strerror(errno));
}

/// False: somebody else holds it, or there are no locks here.
bool Claims::lock(std::int64_t at, bool is_lock) {
  struct flock range {};
  range.l_type = static_cast<short>(is_lock ? F_WRLCK : F_UNLCK);
  range.l_whence = SEEK_SET;
  range.l_start = at;
  range.l_len = 1;
  while (::fcntl(file_, set_lock, &range) != 0) {
    if (errno == EACCES || errno == EAGAIN) return false;
    if (errno == EINTR) continue;
    if (errno != ENOLCK && errno != ENOSYS && errno != EOPNOTSUPP && errno != EINVAL) fail("cannot lock");
    has_locks_ = false;
    return false;
  }
  return true;
}

bool Claims::claim(std::int64_t point) {
  if (has_locks_ && lock(point, true)) return true;
  return !has_locks_;  // the first lock shows that the file system has none
}

void Claims::release(std::int64_t point) {
  if (has_locks_) static_cast<void>(lock(point, false));
}

std::uint8_t Claims::mark(std::int64_t point) const {
  std::uint8_t mark = 0;
  if (::pread(file_, &mark, 1, point) != 1) fail("cannot read");
  return mark;
}

std::vector<std::uint8_t> Claims::marks() const {
  std::vector<std::uint8_t> marks(static_cast<std::size_t>(points_));
  std::size_t at = 0;
  while (at < marks.size()) {
    const ssize_t count = ::pread(file_, marks.data() + at, marks.size() - at, static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot read");
    if (count == 0) break;
    at += static_cast<std::size_t>(count);
  }
  return marks;
}

void Claims::set_fate(std::int64_t point, Fate fate) {
  const auto turn = static_cast<std::uint8_t>((mark(point) >> fate_bits) + 1);
  const auto changed = static_cast<std::uint8_t>((turn << fate_bits) | static_cast<std::uint8_t>(fate));
  if (::pwrite(file_, &changed, 1, point) != 1) fail("cannot write");
}

}  // namespace tessera::experiment::sweep
