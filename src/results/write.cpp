#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "big_table.hpp"
#include "h5/file.hpp"
#include "row_sink.hpp"
#include "tables.hpp"
#include "temporary_file.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/together.hpp"
#include "tessera/results/results.hpp"
#include "totals.hpp"

namespace tessera::results {
namespace {

[[noreturn]] void cannot_write(const std::string& path, const std::string& reason) {
  throw IoError("cannot write '" + path + "': " + reason);
}

/// `step` on every rank; what HDF5 refuses becomes the user's message, on every rank.
void write_together(const std::string& path, Communicator& comm, const std::function<void()>& step) {
  together(comm, [&] {
    try {
      step();
    } catch (const h5::Failure& failure) {
      cannot_write(path, TemporaryFile::interrupted() ? "interrupted by a signal" : failure.what());
    }
  });
}

template <class Row>
void add_small_table(h5::File& file, const Table<Row>& table, const std::vector<Row>& rows) {
  file.table(table.schema(), static_cast<std::int64_t>(rows.size()));
  std::vector<std::byte> packed(rows.size() * table.schema().row_bytes);
  for (std::size_t i = 0; i < rows.size(); ++i) table.pack(rows[i], packed.data() + i * table.schema().row_bytes);
  if (!rows.empty()) file.write(table.schema(), {{0, static_cast<std::int64_t>(rows.size())}}, packed);
}

std::vector<NameRow> name_rows(const std::vector<std::string>& names) {
  std::vector<NameRow> rows;
  for (const std::string& name : names) rows.push_back({static_cast<std::int64_t>(rows.size()), name});
  return rows;
}

void add_names(h5::File& file, const RunResults& r) {
  file.group("/names", "Names of what other tables give by index.");
  const auto add = [&](const std::string& path, const char* index, const char* what,
                       const std::vector<std::string>& names) {
    add_small_table(file, names_table(path, index, what, names), name_rows(names));
  };
  add("/names/activities", "activity", "What a device's time is counted as.", r.activities);
  add("/names/categories", "category", "What memory holds.", r.categories);
  add("/names/nodes", "node", "Nodes of the network: the machine's devices, then its switches.", r.node_names);
  add("/names/labels", "label", "What instructions are for.", r.labels);
}

void add_provenance(h5::File& file, const Provenance& p) {
  file.group("/provenance", "What depends on how the run was carried out, and what it was asked for.");
  add_small_table(file, provenance_table(p), std::vector<Provenance>{p});
  file.text("/provenance/command", p.command, "The command line.");
  file.text("/provenance/experiment_given", p.experiment_given,
            "The experiment as given: the file and what --set changed.");
  file.text("/provenance/experiment_resolved", p.experiment_resolved,
            "The experiment with every default and included file written out: a valid experiment itself.");
}

/// Everything but the rows of the big tables, for which there is room. By rank 0.
void write_frame(const std::string& name, const std::vector<BigTable>& big, const SummaryRow& summary,
                 const std::vector<CollectiveRow>& collectives, const Provenance& provenance) {
  const RunResults& r = *summary.results;
  h5::File file = h5::File::create(name);
  file.attribute("/", "format", format_name);
  file.attribute("/", "schema_version", schema_version);
  file.attribute("/", "description",
                 "Results of one run of Tessera. Times are picoseconds, sizes bytes; see docs/results.md.");
  add_small_table(file, summary_table(r), std::vector<SummaryRow>{summary});
  add_small_table(file, collective_table(r), collectives);
  add_small_table(file, plan_table(r), r.plan);
  add_names(file, r);
  for (const BigTable& table : big) file.table(table.schema, table.layout.total);
  add_provenance(file, provenance);
  file.close();
}

RowBlock pack_piece(const BigTable& table, std::int64_t first, std::int64_t most_rows) {
  const std::int64_t count = std::clamp<std::int64_t>(table.layout.local - first, 0, most_rows);
  RowBlock block{part_of(table.layout.runs, first, count), {}};
  block.rows.resize(static_cast<std::size_t>(count) * table.schema.row_bytes);
  table.pack(first, count, block.rows.data());
  return block;
}

/// Rows are packed and written piece by piece, so that the packed copy of a long timeline never lies in memory as a
/// whole.
void write_rows(const BigTable& table, RowSink& sink, const std::string& path, Communicator& comm) {
  const auto row_bytes = static_cast<std::int64_t>(table.schema.row_bytes);
  const std::int64_t rows = std::max<std::int64_t>(1, sink.piece_bytes() / row_bytes);
  const std::int64_t pieces = comm.max((table.layout.local + rows - 1) / rows);
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    write_together(path, comm, [&] {
      sink.write(table.schema, pack_piece(table, piece * rows, rows));
      if (TemporaryFile::interrupted()) cannot_write(path, "interrupted by a signal");
    });
  }
}

}  // namespace

void check_output(const std::string& path, bool replace) {
  const std::string problem = why_not_writable(path, replace);
  if (!problem.empty()) cannot_write(path, problem);
}

void write_text(const std::string& path, const std::string& text) {
  check_output(path, true);
  TemporaryFile temporary(temporary_name(path), true);
  std::FILE* file = std::fopen(temporary.name().c_str(), "w");
  if (file == nullptr) cannot_write(path, std::strerror(errno));
  const bool is_whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !is_whole) cannot_write(path, std::strerror(errno));
  temporary.become(path);
}

void write(const std::string& path, const RunResults& results, const Provenance& provenance, Communicator& comm,
           Transport transport) {
  const h5::QuietErrors quiet;
  const bool first = comm.rank() == 0;
  together(comm, [&] {
    check_rows(results);
    if (first) check_output(path, true);
  });
  TemporaryFile temporary(comm.broadcast(first ? temporary_name(path) : ""), first);

  const std::vector<BigTable> tables = big_tables(results, comm);
  const SummaryRow summary = total(results, provenance.seed, comm);
  const std::vector<CollectiveRow> collectives = total_collectives(results.collective_rows, comm);
  write_together(path, comm, [&] {
    if (first) write_frame(temporary.name(), tables, summary, collectives, provenance);
  });
  std::unique_ptr<RowSink> sink;
  write_together(path, comm, [&] { sink = make_row_sink(temporary.name(), transport, comm); });
  for (const BigTable& table : tables) write_rows(table, *sink, path, comm);
  write_together(path, comm, [&] { sink->close(); });
  together(comm, [&] {
    if (first) temporary.become(path);
  });
}

}  // namespace tessera::results
