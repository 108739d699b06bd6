// A JSON array in Chrome's trace event format, one element a line.
#pragma once

#include <cstdint>
#include <string>

#include "disk_file.hpp"

namespace tessera::results {

/// Every function throws a Failure where the file cannot be written.
class TraceFile {
 public:
  /// Into an empty file of that name.
  explicit TraceFile(const std::string& name);
  void event(const std::string& json);
  /// Flushes to the disk and closes.
  void finish();

 private:
  void flush();

  DiskFile file_;
  std::string waiting_;  ///< for the next write
  std::int64_t written_ = 0;
  bool first_ = true;
};

}  // namespace tessera::results
