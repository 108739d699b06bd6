// The file of tessera plan --history: /search, and what was asked.
#include "h5/file.hpp"
#include "run_tables.hpp"
#include "tessera/results/results.hpp"
#include "whole_file.hpp"

namespace tessera::results {

void write_history(const std::string& path, const RunResults& results, const Provenance& provenance,
                   const Replacing& replacing) {
  check_tables(results.tables);
  write_whole_file(
      path, {}, [&](h5::File& file) { add_history(file, results, provenance); }, replacing);
}

}  // namespace tessera::results
