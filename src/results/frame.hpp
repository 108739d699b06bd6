// Everything of a result file but the rows of the big tables, which have room in it: built in memory, and written when
// the checksums of those rows are known.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "big_table.hpp"
#include "disk_file.hpp"
#include "h5/file.hpp"
#include "h5/image.hpp"

namespace tessera::results {

class Frame {
 public:
  /// `fill` makes everything else, a group /provenance among it. `big` outlives the frame. Rank 0's business.
  Frame(const std::vector<BigTable>& big, const std::function<void(h5::File&)>& fill);
  /// Of the whole file, rows of the big tables included.
  [[nodiscard]] std::int64_t bytes() const;
  /// Where the rows of each big table begin in the file.
  [[nodiscard]] const std::vector<std::int64_t>& offsets() const { return offsets_; }
  /// Puts in the CRC-32 of each big table's rows. Once.
  void finish(const std::vector<std::uint32_t>& checksums);
  /// Everything but the rows of the big tables; what is there of those is left alone.
  void write(DiskFile& file) const;
  /// Failure when something of it stands otherwise in the file.
  void compare(const DiskFile& file) const;

 private:
  struct Part {
    std::int64_t offset = 0, count = 0;
  };
  [[nodiscard]] std::vector<Part> parts() const;
  [[nodiscard]] std::vector<std::byte> bytes_of(const Part& part) const;
  void note_text_blocks();

  const std::vector<BigTable>* big_;
  std::unique_ptr<h5::Image> image_;  ///< at one place in memory, for HDF5
  h5::File file_;
  std::vector<std::int64_t> offsets_;
  std::int64_t bytes_ = 0;  ///< fixed when all has its place: HDF5 needs less when it closes the file, or nothing
};

}  // namespace tessera::results
