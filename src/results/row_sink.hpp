// How the rows of all ranks get into the file: each rank by itself through MPI-IO, or by way of rank 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "parallel_file.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/results/results.hpp"

namespace tessera::results {

/// Some packed rows of one rank and where they stand in the file: extents ascend.
struct RowBlock {
  std::vector<Extent> extents;
  std::vector<std::byte> rows;
};

class RowSink {
 public:
  virtual ~RowSink() = default;
  /// Every rank calls it equally often, perhaps with an empty block.
  virtual void write(const RowBlock& block) = 0;
  /// Packed rows that a rank should write at a time, B.
  [[nodiscard]] virtual std::int64_t piece_bytes() const = 0;
  /// Whether every rank sees the file.
  [[nodiscard]] virtual bool seen_by_all() const = 0;
  /// Every rank calls it once, after the last write.
  virtual void close() = 0;
};

/// For the existing file `name`. Every rank calls it.
[[nodiscard]] std::unique_ptr<RowSink> make_row_sink(const std::string& name, Transport transport, Communicator& comm);

}  // namespace tessera::results
