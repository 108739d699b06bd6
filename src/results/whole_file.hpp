// A result file written on all ranks together, whole or not at all.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "big_table.hpp"
#include "frame.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/results/results.hpp"

namespace tessera::results {

/// What `fill` makes (Frame) and the rows of `tables`, under a temporary name, read again, and renamed to `path`.
/// IoError as for write(), on every rank. Every rank calls it; `fill` is called on rank 0.
void write_whole_file(const std::string& path, const std::vector<BigTable>& tables,
                      const std::function<void(h5::File&)>& fill, Communicator& comm, Transport transport,
                      const Replacing& replacing);

/// The same by this process alone.
void write_whole_file(const std::string& path, const std::vector<BigTable>& tables,
                      const std::function<void(h5::File&)>& fill, const Replacing& replacing);

}  // namespace tessera::results
