#include "verify.hpp"

#include <algorithm>
#include <optional>

#include "checksum.hpp"
#include "disk_file.hpp"
#include "failure.hpp"
#include "tessera/base/messages.hpp"

namespace tessera::results {
namespace {

constexpr std::int64_t piece_bytes = std::int64_t{4} << 20;

/// What bytes first .. end - 1 of a table contribute to its checksum.
std::uint32_t part_of_table(const DiskFile& file, std::int64_t offset, std::int64_t first, std::int64_t end,
                            std::int64_t total) {
  std::uint32_t crc = 0;
  std::vector<std::byte> bytes;
  for (std::int64_t at = first; at < end; at += piece_bytes) {
    const std::int64_t count = std::min(piece_bytes, end - at);
    bytes.resize(static_cast<std::size_t>(count));
    file.read(offset + at, bytes.data(), bytes.size());
    crc ^= crc32_part(bytes.data(), bytes.size(), total - at - count);
  }
  return crc;
}

/// This rank's share of every table, the same number of bytes for each rank.
std::vector<std::uint32_t> read_share(const DiskFile& file, const std::vector<BigTable>& tables,
                                      const std::vector<std::int64_t>& offsets, int rank, int ranks) {
  std::vector<std::uint32_t> parts;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const std::int64_t total = tables[i].layout.total * static_cast<std::int64_t>(tables[i].schema.row_bytes);
    const std::int64_t share = (total + ranks - 1) / ranks;
    const std::int64_t first = std::min(total, share * rank);
    parts.push_back(part_of_table(file, offsets[i], first, std::min(total, first + share), total));
  }
  return parts;
}

}  // namespace

std::vector<std::uint32_t> join(const std::vector<std::uint32_t>& own, Communicator& comm) {
  std::vector<std::uint32_t> sums(own.size());
  for (const std::vector<std::uint32_t>& of_rank : all_gather(comm, own)) {
    for (std::size_t i = 0; i < own.size(); ++i) sums[i] ^= of_rank[i];
  }
  return sums;
}

void verify_rows(const std::string& name, const std::vector<BigTable>& tables, const std::vector<std::int64_t>& offsets,
                 const std::vector<std::uint32_t>& checksums, bool seen_by_all, Communicator& comm) {
  std::vector<std::uint32_t> parts(tables.size());
  std::optional<Failure> failure;  // of this rank alone, thrown when the others wait no more
  try {
    if (seen_by_all || comm.rank() == 0) {
      parts = read_share(DiskFile::open_to_read(name), tables, offsets, comm.rank(), seen_by_all ? comm.size() : 1);
    }
  } catch (const Failure& of_this_rank) {
    failure = of_this_rank;
  }
  const std::vector<std::uint32_t> found = join(parts, comm);
  if (failure) throw Failure(*failure);
  for (std::size_t i = 0; i < tables.size() && comm.rank() == 0; ++i) {
    if (found[i] != checksums[i]) {
      throw Failure("table " + tables[i].schema.path +
                    " reads back otherwise than it was written (a full or failing disk?)");
    }
  }
}

}  // namespace tessera::results
