#include "row_sink.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "h5/file.hpp"
#include "h5/parallel.hpp"

namespace tessera::results {
namespace {

/// All ranks write their own rows, in one collective call.
class CollectiveSink : public RowSink {
 public:
  explicit CollectiveSink(h5::File file) : file_(std::move(file)), transfer_(h5::collective_transfer()) {}
  void write(const TableSchema& schema, const RowBlock& block) override {
    file_.write(schema, block.runs, block.rows, transfer_.get());
  }
  [[nodiscard]] std::int64_t piece_bytes() const override { return std::int64_t{4} << 20; }
  void close() override { file_.close(); }

 private:
  h5::File file_;
  h5::Handle transfer_;
};

/// Number of runs, runs, rows.
std::vector<std::byte> encode(const RowBlock& block) {
  const std::size_t count = block.runs.size();
  const std::size_t run_bytes = count * sizeof(Run);
  std::vector<std::byte> bytes(sizeof count + run_bytes);
  std::memcpy(bytes.data(), &count, sizeof count);
  if (count > 0) std::memcpy(bytes.data() + sizeof count, block.runs.data(), run_bytes);
  bytes.insert(bytes.end(), block.rows.begin(), block.rows.end());
  return bytes;
}

RowBlock decode(const std::vector<std::byte>& bytes) {
  std::size_t count = 0;
  std::memcpy(&count, bytes.data(), sizeof count);
  RowBlock block;
  block.runs.resize(count);
  if (count > 0) std::memcpy(block.runs.data(), bytes.data() + sizeof count, count * sizeof(Run));
  block.rows.assign(bytes.begin() + static_cast<std::ptrdiff_t>(sizeof count + count * sizeof(Run)), bytes.end());
  return block;
}

/// Rank 0 writes what the others hand it; the file is open on rank 0 alone.
class GatheringSink : public RowSink {
 public:
  GatheringSink(const std::string& name, Communicator& comm) : comm_(&comm) {
    if (comm.rank() == 0) file_.emplace(h5::File::open(name));
  }
  void write(const TableSchema& schema, const RowBlock& block) override {
    if (comm_->size() == 1) {
      file_->write(schema, block.runs, block.rows);
      return;
    }
    // On rank 0 every rank's bytes, elsewhere none.
    for (const std::vector<std::byte>& bytes : comm_->gather(encode(block))) {
      const RowBlock of_rank = decode(bytes);
      if (!of_rank.rows.empty()) file_->write(schema, of_rank.runs, of_rank.rows);
    }
  }
  /// All ranks' pieces meet on rank 0, which has room for 256 MiB of them.
  [[nodiscard]] std::int64_t piece_bytes() const override {
    return std::clamp<std::int64_t>((std::int64_t{256} << 20) / comm_->size(), 64 << 10, 4 << 20);
  }
  void close() override {
    if (file_) file_->close();
  }

 private:
  Communicator* comm_;
  std::optional<h5::File> file_;
};

}  // namespace

std::unique_ptr<RowSink> make_row_sink(const std::string& name, Transport transport, Communicator& comm) {
  if (comm.size() > 1 && transport == Transport::automatic) {
    std::optional<h5::File> file = h5::open_collectively(name, comm);
    if (file) return std::make_unique<CollectiveSink>(std::move(*file));
  }
  return std::make_unique<GatheringSink>(name, comm);
}

}  // namespace tessera::results
