#include "row_sink.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "disk_file.hpp"
#include "tessera/base/messages.hpp"

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

/// Rank 0 writes what the others hand it; the file is open on rank 0 alone.
class GatheringSink : public RowSink {
 public:
  GatheringSink(const std::string& name, Communicator& comm) : comm_(&comm) {
    if (comm.rank() == 0) file_.emplace(DiskFile::open_to_write(name));
  }
  void write(const RowBlock& block) override {
    if (comm_->size() == 1) {
      put(block.extents, block.rows);
      return;
    }
    // On rank 0 every rank's, elsewhere none.
    const std::vector<std::vector<Extent>> extents = gather(*comm_, block.extents);
    const std::vector<ByteVector> rows = gather(*comm_, block.rows);
    for (std::size_t rank = 0; rank < extents.size(); ++rank) put(extents[rank], rows[rank]);
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
  void put(const std::vector<Extent>& extents, const ByteVector& packed) {
    const std::byte* rows = packed.data();
    for (const Extent& extent : extents) {
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
