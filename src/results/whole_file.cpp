#include "whole_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "checksum.hpp"
#include "disk_file.hpp"
#include "failure.hpp"
#include "h5/handle.hpp"
#include "row_sink.hpp"
#include "temporary_file.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/messages.hpp"
#include "tessera/base/together.hpp"
#include "verify.hpp"

namespace tessera::results {
namespace {

/// What the user is told: a signal to another rank shows here as a temporary file that is gone.
std::string reason_of(const Failure& failure) {
  if (TemporaryFile::interrupted() || failure.what() == std::string(std::strerror(ENOENT))) {
    return "interrupted by a signal (the temporary file is gone)";
  }
  return failure.what();
}

/// `step` on every rank; what the system or HDF5 refuses becomes the user's message, on every rank.
void write_together(const std::string& path, Communicator& comm, const std::function<void()>& step) {
  together(comm, [&] {
    try {
      step();
    } catch (const Failure& failure) {
      throw IoError("cannot write '" + path + "': " + reason_of(failure));
    }
  });
}

/// This rank's rows first .. first + most_rows - 1 of a table that begins at `offset` in the file, in place of those in
/// the block before, and what they contribute to the table's checksum.
void pack_piece(const BigTable& table, std::int64_t offset, std::int64_t first, std::int64_t most_rows, RowBlock& block,
                std::uint32_t& checksum) {
  const std::int64_t count = std::clamp<std::int64_t>(table.layout.local - first, 0, most_rows);
  const auto row_bytes = static_cast<std::int64_t>(table.schema.row_bytes);
  block.extents.clear();
  block.rows.resize(static_cast<std::size_t>(count * row_bytes));
  table.pack(first, count, block.rows.data());
  const std::byte* rows = block.rows.data();
  for (const Run& run : part_of(table.layout.runs, first, count)) {
    const Extent extent{offset + run.position * row_bytes, run.count * row_bytes};
    const std::int64_t behind = (table.layout.total - run.position - run.count) * row_bytes;
    checksum ^= crc32_part(rows, static_cast<std::size_t>(extent.count), behind);
    rows += extent.count;
    block.extents.push_back(extent);
  }
}

/// Rows are packed and written piece by piece, so that the packed copy of a long timeline never lies in memory as a
/// whole. Returns what this rank's rows contribute to the table's checksum.
std::uint32_t write_rows(const BigTable& table, std::int64_t offset, RowSink& sink, const std::string& path,
                         Communicator& comm) {
  const auto row_bytes = static_cast<std::int64_t>(table.schema.row_bytes);
  const std::int64_t rows = std::max<std::int64_t>(1, sink.piece_bytes() / row_bytes);
  const std::int64_t pieces = comm.max((table.layout.local + rows - 1) / rows);
  std::uint32_t checksum = 0;
  RowBlock block;  // one for all: fresh memory costs more than what is written to it
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    write_together(path, comm, [&] {
      pack_piece(table, offset, piece * rows, rows, block, checksum);
      sink.write(block);
      if (TemporaryFile::interrupted()) throw Failure("interrupted");
    });
  }
  return checksum;
}

/// The whole file under its temporary name, written and read again.
void write_file(const std::string& name, const std::string& path, const std::vector<BigTable>& tables,
                std::optional<Frame>& frame, Transport transport, Communicator& comm) {
  bool reserved = true;
  write_together(path, comm, [&] {
    if (!frame) return;
    DiskFile file = DiskFile::open_to_write(name);
    reserved = file.reserve(frame->bytes());
    file.close();
  });
  // Where space cannot be reserved, a write may fail on one rank alone, and MPI-IO (Open MPI 4.1's vulcan) then waits
  // for ever: rank 0 writes for all.
  if (comm.min(reserved ? 1 : 0) == 0) transport = Transport::gather;
  const std::vector<std::int64_t> offsets = broadcast(comm, frame ? frame->offsets() : std::vector<std::int64_t>());
  std::unique_ptr<RowSink> sink;
  write_together(path, comm, [&] { sink = make_row_sink(name, transport, comm); });
  std::vector<std::uint32_t> checksums;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    checksums.push_back(write_rows(tables[i], offsets[i], *sink, path, comm));
  }
  write_together(path, comm, [&] { sink->close(); });
  checksums = join(checksums, comm);
  write_together(path, comm, [&] {
    if (!frame) return;
    frame->finish(checksums);
    DiskFile file = DiskFile::open_to_write(name);
    frame->write(file);
    file.flush();
    file.close();
  });
  write_together(path, comm, [&] {
    verify_rows(name, tables, offsets, checksums, sink->seen_by_all(), comm);
    if (frame) frame->compare(DiskFile::open_to_read(name));
  });
}

}  // namespace

void write_whole_file(const std::string& path, const std::vector<BigTable>& tables,
                      const std::function<void(h5::File&)>& fill, Communicator& comm, Transport transport,
                      const Replacing& replacing) {
  const bool first = comm.rank() == 0;
  std::optional<TemporaryFile> temporary;
  write_together(path, comm, [&] {
    if (first) temporary.emplace(path);
  });
  // The name is known when the file is there: the others take the one that rank 0 found free.
  std::string name = broadcast(comm, first ? temporary->name() : std::string());
  if (!first) temporary.emplace(std::move(name), false);
  std::optional<Frame> frame;
  write_together(path, comm, [&] {
    if (first) frame.emplace(tables, fill);
  });
  write_file(temporary->name(), path, tables, frame, transport, comm);
  together(comm, [&] {
    if (first) temporary->become(path, replacing);
  });
}

void write_whole_file(const std::string& path, const std::vector<BigTable>& tables,
                      const std::function<void(h5::File&)>& fill, const Replacing& replacing) {
  const h5::QuietErrors quiet;
  check_output(path, true);
  const auto alone = make_serial_communicator();
  write_whole_file(path, tables, fill, *alone, Transport::automatic, replacing);
}

}  // namespace tessera::results
