// Tables as plain data: what they hold, what is wrong with them, and how they travel.
#include "tessera/base/data_table.hpp"

#include <catch2/catch.hpp>

#include "tessera/base/messages.hpp"

using namespace tessera;
using Catch::Contains;

namespace {

DataTable load_table() {
  DataTable table{"load", "Work of the devices.", {}};
  table.index("device", "its number", {0, 1})
      .integer("busy_ps", "ps", "in which it computes", {70, 50})
      .number("share", "1", "of the whole", {0.7, 0.5})
      .text("name", "its name", {"gpu 0", "gpu 1"});
  return table;
}

}  // namespace

TEST_CASE("a table gives its columns by name and type") {
  const DataTable table = load_table();
  CHECK(problem_of(table).empty());
  CHECK(table.rows() == 2);
  CHECK(table.values<std::int64_t>("busy_ps") == std::vector<std::int64_t>{70, 50});
  CHECK(table.values<std::string>("name")[1] == "gpu 1");
  CHECK(table.columns[0].unit == "1");
  CHECK(table.columns[3].unit == "text");
  CHECK_THROWS_WITH(table.values<double>("busy_ps"),
                    "table \"load\" has no column \"busy_ps\" of the type that is expected");
  CHECK_THROWS_AS(table.values<double>("idle_ps"), InputError);
}

TEST_CASE("a table travels as it is") {
  const DataTable table = load_table();
  const auto again = messages::from_bytes<DataTable>(messages::to_bytes(table));
  CHECK(again.name == table.name);
  CHECK(again.description == table.description);
  REQUIRE(again.columns.size() == table.columns.size());
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    CHECK(again.columns[i].name == table.columns[i].name);
    CHECK(again.columns[i].unit == table.columns[i].unit);
    CHECK(again.columns[i].description == table.columns[i].description);
    CHECK(again.columns[i].values == table.columns[i].values);
  }
}

TEST_CASE("what no file can keep is said") {
  DataTable table = load_table();
  SECTION("a name that leads out of the root") {
    table.name = "names/nodes";
    CHECK_THAT(problem_of(table), Contains("is no name of a table"));
  }
  SECTION("no name") {
    table.name.clear();
    CHECK_THAT(problem_of(table), Contains("\"\" is no name of a table"));
  }
  SECTION("no columns") {
    table.columns.clear();
    CHECK(problem_of(table) == "table \"load\" has no columns");
    CHECK(table.rows() == 0);
  }
  SECTION("a column of another length") {
    table.integer("idle_ps", "ps", "in which it does not", {1});
    CHECK(problem_of(table) == "table \"load\" has 2 rows, and 1 in column \"idle_ps\"");
  }
  SECTION("two columns of one name") {
    table.number("share", "1", "once more", {0, 0});
    CHECK(problem_of(table) == "table \"load\" has two columns \"share\"");
  }
  SECTION("no unit") {
    table.integer("idle_ps", "", "in which it does not", {1, 2});
    CHECK(problem_of(table) == "table \"load\" has a column \"idle_ps\" without a unit");
  }
  SECTION("a column's name") {
    table.integer("idle time", "ps", "in which it does not", {1, 2});
    CHECK_THAT(problem_of(table), Contains("has a column \"idle time\": expected letters, digits and _"));
  }
}
