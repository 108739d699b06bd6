// Who works on which point of a sweep: a file with a byte for each point. Whoever works on a point holds a lock on its
// byte, which ends with the process, however that ends; what has become of it stands in the byte.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::experiment::sweep {

/// What became of a point, as far as progress is concerned.
enum class Fate : std::uint8_t { none, done, refused, failed };

class Claims {
 public:
  /// Opens the file, and makes it where there is none. IoError.
  Claims(const std::string& path, std::int64_t points);
  ~Claims();
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;

  /// Whether the file system has locks; without, claim() always succeeds.
  [[nodiscard]] bool has_locks() const { return has_locks_; }
  /// False: another process works on it. IoError.
  [[nodiscard]] bool claim(std::int64_t point);
  void release(std::int64_t point);
  /// The byte of a point, of which only its holder changes any: another value than before means that somebody has done
  /// the point since.
  [[nodiscard]] std::uint8_t mark(std::int64_t point) const;
  [[nodiscard]] std::vector<std::uint8_t> marks() const;
  void set_fate(std::int64_t point, Fate fate);
  [[nodiscard]] static Fate fate_of(std::uint8_t mark) { return static_cast<Fate>(mark & 3U); }

 private:
  [[nodiscard]] bool lock(std::int64_t at, bool is_lock);
  [[noreturn]] void fail(const char* what) const;

  std::string path_;
  std::int64_t points_;
  int file_ = -1;
  bool has_locks_ = true;
};

}  // namespace tessera::experiment::sweep
