// Positions of rows in tables that several ranks fill.
#include <catch2/catch.hpp>

#include "../../src/results/layout.hpp"
#include "../../src/results/table.hpp"

using namespace tessera;
using namespace tessera::results;

namespace {

std::vector<std::pair<std::int64_t, std::int64_t>> pairs(const std::vector<Run>& runs) {
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (const Run& run : runs) result.emplace_back(run.position, run.count);
  return result;
}

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

}  // namespace

TEST_CASE("one rank's rows are one run") {
  // ids 2, 5 and 9 with 3, 0 and 4 rows: rows 0..6
  const auto comm = make_serial_communicator();
  const Layout layout = make_layout({{2, 3}, {5, 0}, {9, 4}}, *comm);
  CHECK(layout.total == 7);
  CHECK(layout.local == 7);
  CHECK(pairs(layout.runs) == Pairs{{0, 7}});
}

TEST_CASE("a piece of the runs") {
  // Rows 0..2 stand at 10..12, rows 3..7 at 20..24.
  const std::vector<Run> runs = {{10, 3}, {20, 5}};
  CHECK(pairs(part_of(runs, 0, 8)) == Pairs{{10, 3}, {20, 5}});
  CHECK(pairs(part_of(runs, 0, 2)) == Pairs{{10, 2}});
  CHECK(pairs(part_of(runs, 2, 2)) == Pairs{{12, 1}, {20, 1}});
  CHECK(pairs(part_of(runs, 4, 9)) == Pairs{{21, 4}});
  CHECK(pairs(part_of(runs, 8, 1)).empty());
  CHECK(pairs(part_of({}, 0, 1)).empty());
}

TEST_CASE("rows are packed without padding, texts padded with zeros and cut to their width") {
  struct Row {
    std::int64_t id;
    double value;
    std::string text;
  };
  Table<Row> table("/t", "");
  table.index("id", "", [](const Row& r) { return r.id; })
      .text("text", "", 3, [](const Row& r) -> std::string_view { return r.text; })
      .number("value", "1", "", [](const Row& r) { return r.value; });
  REQUIRE(table.schema().row_bytes == 4 + 3 + 8);
  std::vector<std::byte> packed(15, std::byte{0xff});
  table.pack({7, 1.5, "a"}, packed.data());
  CHECK(packed[4] == std::byte{'a'});
  CHECK(packed[5] == std::byte{0});
  CHECK(packed[6] == std::byte{0});
  table.pack({7, 1.5, "abcdef"}, packed.data());
  CHECK(packed[6] == std::byte{'c'});
  double value = 0;
  std::memcpy(&value, packed.data() + 7, sizeof value);
  CHECK(value == 1.5);
}
