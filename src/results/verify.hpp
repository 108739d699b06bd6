// The rows of the big tables as they stand in the file, read again from the file system.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "big_table.hpp"
#include "tessera/base/comm.hpp"

namespace tessera::results {

/// The exclusive or of every rank's values, element by element, on every rank. Every rank calls it with equally many.
[[nodiscard]] std::vector<std::uint32_t> join(const std::vector<std::uint32_t>& own, Communicator& comm);

/// Failure, on rank 0, that names a table whose rows have another CRC-32 in the file than `checksums` say. `offsets`:
/// where its rows begin. Every rank calls it: where all see the file, each reads a part of every table, else rank 0
/// reads them.
void verify_rows(const std::string& name, const std::vector<BigTable>& tables, const std::vector<std::int64_t>& offsets,
                 const std::vector<std::uint32_t>& checksums, bool seen_by_all, Communicator& comm);

}  // namespace tessera::results
