#include "row_sink.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "disk_file.hpp"

namespace tessera::results {
namespace {

/// All ranks write their own rows, in one collective call.
class CollectiveSink : public RowSink {
 public:
  explicit CollectiveSink(std::unique_ptr<ParallelFile> file) : file_(std::move(file)) {}
  void write(const RowBlock& block) override { file_->write(block.extents, block.rows); }
  [[nodiscard]] std::int64_t piece_bytes() const override { return std::int64_t{4} << 20; }
  [[nodiscard]] bool seen_by_all() const override { return true; }
  void close() override { file_->close(); }

 private:
  std::unique_ptr<ParallelFile> file_;
};

/// Number of extents, extents, rows.
std::vector<std::byte> encode(const RowBlock& block) {
  const std::size_t count = block.extents.size();
  const std::size_t extent_bytes = count * sizeof(Extent);
  std::vector<std::byte> bytes(sizeof count + extent_bytes);
  std::memcpy(bytes.data(), &count, sizeof count);
  if (count > 0) std::memcpy(bytes.data() + sizeof count, block.extents.data(), extent_bytes);
  bytes.insert(bytes.end(), block.rows.begin(), block.rows.end());
  return bytes;
}

RowBlock decode(const std::vector<std::byte>& bytes) {
  std::size_t count = 0;
  std::memcpy(&count, bytes.data(), sizeof count);
  RowBlock block;
  block.extents.resize(count);
  if (count > 0) std::memcpy(block.extents.data(), bytes.data() + sizeof count, count * sizeof(Extent));
  block.rows.assign(bytes.begin() + static_cast<std::ptrdiff_t>(sizeof count + count * sizeof(Extent)), bytes.end());
  return block;
}

/// Rank 0 writes what the others hand it; the file is open on rank 0 alone.
class GatheringSink : public RowSink {
 public:
  GatheringSink(const std::string& name, Communicator& comm) : comm_(&comm) {
    if (comm.rank() == 0) file_.emplace(DiskFile::open_to_write(name));
  }
  void write(const RowBlock& block) override {
    if (comm_->size() == 1) {
      put(block);
      return;
    }
    // On rank 0 every rank's bytes, elsewhere none.
    for (const std::vector<std::byte>& bytes : comm_->gather(encode(block))) put(decode(bytes));
  }
  /// All ranks' pieces meet on rank 0, which has room for 256 MiB of them.
  [[nodiscard]] std::int64_t piece_bytes() const override {
    return std::clamp<std::int64_t>((std::int64_t{256} << 20) / comm_->size(), 64 << 10, 4 << 20);
  }
  [[nodiscard]] bool seen_by_all() const override { return comm_->size() == 1; }
  void close() override {
    if (file_) file_->close();
  }

 private:
  void put(const RowBlock& block) {
    const std::byte* rows = block.rows.data();
    for (const Extent& extent : block.extents) {
      file_->write(extent.offset, rows, static_cast<std::size_t>(extent.count));
      rows += extent.count;
    }
  }

  Communicator* comm_;
  std::optional<DiskFile> file_;
};

}  // namespace

std::unique_ptr<RowSink> make_row_sink(const std::string& name, Transport transport, Communicator& comm) {
  if (comm.size() > 1 && transport == Transport::automatic) {
    std::unique_ptr<ParallelFile> file = ParallelFile::open(name, comm);
    if (file) return std::make_unique<CollectiveSink>(std::move(file));
  }
  return std::make_unique<GatheringSink>(name, comm);
}

}  // namespace tessera::results
