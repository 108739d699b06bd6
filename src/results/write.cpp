#include <filesystem>
#include <string>
#include <vector>

#include "big_table.hpp"
#include "disk_file.hpp"
#include "failure.hpp"
#include "run_tables.hpp"
#include "tables.hpp"
#include "temporary_file.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/together.hpp"
#include "tessera/results/results.hpp"
#include "totals.hpp"
#include "whole_file.hpp"

namespace tessera::results {
namespace {

[[noreturn]] void cannot_write(const std::string& path, const std::string& reason) {
  throw IoError("cannot write '" + path + "': " + reason);
}

}  // namespace

Replacing check_output(const std::string& path, bool replace) {
  const std::string problem = why_not_writable(path, replace);
  if (!problem.empty()) cannot_write(path, problem);
  return what_stands_at(path);
}

void check_distinct(const std::string& path, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code none_of_them;
    if (!input.empty() && std::filesystem::equivalent(path, input, none_of_them)) {
      cannot_write(path, "it is '" + input + "', which is read");
    }
  }
}

void write_text(const std::string& path, const std::string& text, const Replacing& replacing) {
  check_output(path, true);
  try {
    TemporaryFile temporary(path);
    DiskFile file = DiskFile::open_to_write(temporary.name());
    file.write(0, reinterpret_cast<const std::byte*>(text.data()), text.size());
    file.flush();
    file.close();
    temporary.become(path, replacing);
  } catch (const Failure& failure) {
    cannot_write(path, failure.what());
  }
}

std::int64_t file_schema_version() { return schema_version; }

void write(const std::string& path, const RunResults& results, const Provenance& provenance, Communicator& comm,
           Transport transport, const Replacing& replacing) {
  const h5::QuietErrors quiet;
  together(comm, [&] {
    check_rows(results);
    if (comm.rank() == 0) check_output(path, true);
  });
  const std::vector<BigTable> tables = big_tables(results, comm);
  const SummaryRow summary = total(results, provenance.seed, comm);
  const std::vector<CollectiveRow> collectives = total_collectives(results.collective_rows, comm);
  write_whole_file(
      path, tables, [&](h5::File& file) { add_run(file, summary, collectives, provenance); }, comm, transport,
      replacing);
}

}  // namespace tessera::results
