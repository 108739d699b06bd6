// The file of tessera plan --history: /search, and what was asked.
#include "h5/file.hpp"
#include "h5/handle.hpp"
#include "run_tables.hpp"
#include "tessera/results/results.hpp"
#include "whole_file.hpp"

namespace tessera::results {

void write_history(const std::string& path, const RunResults& results, const Provenance& provenance,
                   const Replacing& replacing) {
  const h5::QuietErrors quiet;
  check_output(path, true);
  const auto alone = make_serial_communicator();
  write_whole_file(
      path, {}, [&](h5::File& file) { add_history(file, results, provenance); }, *alone, Transport::automatic,
      replacing);
}

}  // namespace tessera::results
