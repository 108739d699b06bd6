// The one place where results meet MPI.
#pragma once

#include <optional>
#include <string>

#include "file.hpp"
#include "tessera/base/comm.hpp"

namespace tessera::results::h5 {

/// An existing file opened by all ranks together through MPI-IO. Nothing, on every rank, when `comm` is not MPI's or
/// when the file system cannot do it on any of them; the caller then gathers. Every rank calls it.
[[nodiscard]] std::optional<File> open_collectively(const std::string& path, Communicator& comm);

/// A data transfer property list for collective writes.
[[nodiscard]] Handle collective_transfer();

}  // namespace tessera::results::h5
