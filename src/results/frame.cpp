#include "frame.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "checksum.hpp"
#include "failure.hpp"
#include "h5/types.hpp"

namespace tessera::results {
namespace {

/// HDF5 keeps texts of attributes in blocks that begin so, and, unlike everything else of its own, have no checksum.
constexpr std::string_view text_block_mark{"GCOL\1\0\0\0", 8};
constexpr std::size_t text_block_header = 16;  ///< mark and size of the block

}  // namespace

Frame::Frame(const std::vector<BigTable>& big, const std::function<void(h5::File&)>& fill)
    : big_(&big), image_(std::make_unique<h5::Image>()), file_(h5::File::create(*image_)) {
  fill(file_);
  for (const BigTable& table : big) {
    file_.table(table.schema, table.layout.total);
    file_.checksum(table.schema.path, 0);  // its place; the value comes when the rows are written
    offsets_.push_back(table.layout.total > 0 ? file_.offset(table.schema.path) : 0);
  }
  note_text_blocks();
  bytes_ = bytes();
}

void Frame::note_text_blocks() {
  file_.flush();
  std::vector<std::int64_t> blocks;
  for (const Part& part : parts()) {
    const std::vector<std::byte> bytes = bytes_of(part);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (std::size_t at = 0; (at = text.find(text_block_mark, at)) != std::string_view::npos; ++at) {
      std::uint64_t size = 0;
      if (text.size() - at < text_block_header) break;
      std::memcpy(&size, bytes.data() + at + text_block_mark.size(), sizeof size);
      if (size <= text.size() - at) {
        blocks.insert(blocks.end(), {part.offset + static_cast<std::int64_t>(at), static_cast<std::int64_t>(size),
                                     crc32_of(bytes.data() + at, size)});
      }
    }
  }
  file_.attribute("/provenance", h5::text_blocks_attribute, blocks, 3);
  file_.attribute("/provenance", h5::file_bytes_attribute, 0);  // its place
  file_.flush();
  file_.attribute("/provenance", h5::file_bytes_attribute, bytes());
}

void Frame::finish(const std::vector<std::uint32_t>& checksums) {
  for (std::size_t i = 0; i < big_->size(); ++i) file_.checksum((*big_)[i].schema.path, checksums[i]);
  file_.close();
}

std::int64_t Frame::bytes() const { return bytes_ > 0 ? bytes_ : static_cast<std::int64_t>(image_->size()); }

std::vector<Frame::Part> Frame::parts() const {
  std::vector<Part> holes;
  for (std::size_t i = 0; i < offsets_.size(); ++i) {
    const BigTable& table = (*big_)[i];
    holes.push_back({offsets_[i], table.layout.total * static_cast<std::int64_t>(table.schema.row_bytes)});
  }
  std::sort(holes.begin(), holes.end(), [](const Part& a, const Part& b) { return a.offset < b.offset; });
  holes.push_back({bytes(), 0});
  std::vector<Part> parts;
  std::int64_t at = 0;
  for (const Part& hole : holes) {
    if (hole.offset > at) parts.push_back({at, hole.offset - at});
    at = std::max(at, hole.offset + hole.count);
  }
  return parts;
}

std::vector<std::byte> Frame::bytes_of(const Part& part) const {
  std::vector<std::byte> bytes(static_cast<std::size_t>(part.count));
  image_->read(static_cast<std::uint64_t>(part.offset), bytes.data(), bytes.size());
  return bytes;
}

void Frame::write(DiskFile& file) const {
  for (const Part& part : parts()) {
    const std::vector<std::byte> bytes = bytes_of(part);
    file.write(part.offset, bytes.data(), bytes.size());
  }
}

void Frame::compare(const DiskFile& file) const {
  for (const Part& part : parts()) {
    std::vector<std::byte> found(static_cast<std::size_t>(part.count));
    file.read(part.offset, found.data(), found.size());
    if (found != bytes_of(part)) throw Failure("the file reads back otherwise than it was written");
  }
}

}  // namespace tessera::results
