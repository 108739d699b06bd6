// Tables that a strategy hands over: written, read, printed, and refused.
#include <catch2/catch.hpp>

#include "../../src/results/data_tables.hpp"
#include "folder.hpp"
#include "sample.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::results;
using Catch::Contains;

namespace {

DataTable load_table() {
  DataTable table{"load", "Work of the devices.", {}};
  table.index("device", "its number", {7, 12})
      .integer("busy_ps", "ps", "in which it computes", {70, 5'000'000'000})
      .number("share", "1", "of the whole", {0.75, 0.5})
      .text("name", "its name", {"gpu", "the other\ngpu"});
  return table;
}

RunResults with_tables(std::vector<DataTable> tables) {
  RunResults results = sample::make();
  results.tables = std::move(tables);
  return results;
}

void write_serial(const std::string& path, const RunResults& results) {
  const auto comm = make_serial_communicator();
  write(path, results, sample::provenance(), *comm);
}

}  // namespace

TEST_CASE("a strategy's table comes back from the file, whole integers as int64") {
  const sample::Folder folder;
  const DataTable none{"nothing", "Of no rows.", {{"what", "1", "is not", std::vector<double>{}}}};
  write_serial(folder / "out.h5", with_tables({load_table(), none}));
  const h5::Reader file(folder / "out.h5");
  CHECK(data_tables_of(file) == std::vector<std::string>{"load", "nothing"});
  const DataTable read = read_data_table(file, "load");
  const DataTable made = load_table();
  CHECK(read.description == made.description);
  REQUIRE(read.columns.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(read.columns[i].name == made.columns[i].name);
    CHECK(read.columns[i].unit == made.columns[i].unit);
    CHECK(read.columns[i].description == made.columns[i].description);
  }
  CHECK(read.values<std::int64_t>("device") == std::vector<std::int64_t>{7, 12});
  for (const std::size_t i : {1U, 2U, 3U}) CHECK(read.columns[i].values == made.columns[i].values);
  CHECK(read_data_table(file, "nothing").rows() == 0);
}

TEST_CASE("a file of which everything is recorded has no table that is taken for the strategy's") {
  const sample::Folder folder;
  RunResults results = sample::make({4, 4, 3});
  results.search.push_back({});
  results.predicted.push_back({"all", 1});
  results.kernel_rows.push_back({});
  results.traffic_classes = {"gemm_read"};
  results.traffic_rows.push_back({});
  results.traffic_bins.push_back({});
  write_serial(folder / "out.h5", results);
  const h5::Reader file(folder / "out.h5");
  CHECK(file.has("/memory_traffic_timeline"));
  CHECK(file.has("/timeline"));
  CHECK(data_tables_of(file).empty());
}

TEST_CASE("the summary lists a strategy's tables, and each is printed by its name") {
  const sample::Folder folder;
  write_serial(folder / "out.h5", with_tables({load_table()}));
  CHECK_THAT(summary(folder / "out.h5"), Contains("\n\ntables (show --table)           rows\n"
                                                  "  load                             2    Work of the devices.\n\n"));
  CHECK(table_text(folder / "out.h5", "load") ==
        "/load, 2 rows: Work of the devices.\n"
        "  device     busy_ps  share  name\n"
        "                  ps\n"
        "       7          70   0.75  gpu\n"
        "      12  5000000000    0.5  the other\\ngpu\n");
  CHECK_THAT(table_text(folder / "out.h5", "names/nodes"), Contains("/names/nodes, ") && Contains("gpu 0"));
  CHECK_THROWS_WITH(table_text(folder / "out.h5", "laod"), Contains("unknown table \"laod\" (did you mean \"load\"?)"));
  CHECK_THROWS_WITH(table_text(folder / "out.h5", "names"), Contains("unknown table \"names\""));
  CHECK_THROWS_AS(table_text(folder / "out.h5", "provenance/command"), InputError);
}

TEST_CASE("tables that files cannot keep are refused before anything is written") {
  const sample::Folder folder;
  const auto refused = [&](std::vector<DataTable> tables, const std::string& message) {
    CHECK_THROWS_WITH(write_serial(folder / "out.h5", with_tables(std::move(tables))), message);
  };
  DataTable devices = load_table();
  devices.name = "devices";
  refused({devices}, "a table cannot be called \"devices\": results have one");
  refused({load_table(), load_table()}, "two tables are called \"load\"");
  refused({{"load", "Without columns.", {}}}, "table \"load\" has no columns");
  CHECK(sample::files_in(folder.path).empty());
  CHECK_THROWS_AS(check_tables({devices}), InternalError);
}
