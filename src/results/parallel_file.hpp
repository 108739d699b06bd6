// The one place where results meet MPI: a file that all ranks write together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tessera/base/comm.hpp"

namespace tessera::results {

/// Bytes that stand together in the file.
struct Extent {
  std::int64_t offset = 0;
  std::int64_t count = 0;
};

/// Every rank calls each function, in the same order. Failures are of this rank: MPI-IO tells each of its own, and some
/// implementations pass over some of them.
class ParallelFile {
 public:
  /// An existing file through MPI-IO. Null, on every rank, when `comm` is not MPI's or when the file system cannot do
  /// it on any of them.
  [[nodiscard]] static std::unique_ptr<ParallelFile> open(const std::string& name, Communicator& comm);
  ~ParallelFile();
  ParallelFile(const ParallelFile&) = delete;
  ParallelFile& operator=(const ParallelFile&) = delete;

  /// This rank's bytes into its extents, which ascend; there may be none.
  void write(const std::vector<Extent>& extents, const std::vector<std::byte>& bytes);
  /// Flushes to the disk and closes.
  void close();

 private:
  struct File;
  explicit ParallelFile(std::unique_ptr<File> file);
  std::unique_ptr<File> file_;
};

}  // namespace tessera::results
