// Folders of sweeps as a kill, a second process or another version leaves them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "../../src/results/points/line_checksum.hpp"
#include "folder.hpp"
#include "sample.hpp"
#include "support/message_of.hpp"
#include "tessera/base/error.hpp"
#include "tessera/results/sweep_folder.hpp"

using namespace tessera;
using namespace tessera::results;
using tessera::test::message_of;
namespace fs = std::filesystem;

namespace {

SweepHead head_of(std::int64_t points) {
  return {"0123456789abcdef",
          "A sweep",
          "0.1.0",
          2,
          points,
          {{"machine.topology.nodes", "", false}, {"machine.topology.latency", "ps", false}}};
}

SweepRow row_of(std::int64_t point, std::int64_t nodes, Time time) {
  SweepRow row{point, "nodes=" + std::to_string(nodes), "fedcba9876543210", "0.1.0", 2, 0, "", {}, {}};
  row.values = {{"machine.topology.nodes", nodes}, {"machine.topology.latency", std::int64_t{500}}};
  row.digest = Digest{{{"title", "a title"}, {"iteration_time_ps", time}, {"model_flops", 0.1 + 0.2}},
                      {{"nvlink", 1.0 / 3, 0.5}},
                      {{"weights", 1'000'000'000'001}}};
  return row;
}

SweepRow refused(std::int64_t point, int code) {
  SweepRow row{point, "refused", "", "0.1.0", 2, code, "file:1:2: it is \"wrong\"\nin two lines", {}, {}};
  row.values = {{"machine.topology.nodes", std::int64_t{9}}};
  return row;
}

/// A folder below `folder` with these lines in files of these names.
struct Sweep {
  Sweep(const sample::Folder& folder, const std::string& name, const SweepHead& head) : path(folder / name) {
    fs::create_directories(path + "/rows");
    std::ofstream(path + "/sweep.json") << to_json(head);
    std::ofstream(path + "/sweep.toml") << "[sweep]\n";
  }
  void add(const std::string& file, const std::string& text) const {
    std::ofstream(path + "/rows/" + file, std::ios::app) << text;
  }
  void add(const std::string& file, const SweepRow& row) const { add(file, to_json(row) + "\n"); }
  std::string path;
};

std::size_t column(const PointsTable& table, const std::string& name) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == name) return i;
  }
  FAIL("there is no column " << name);
  return 0;
}

std::vector<std::int64_t> integers(const PointsTable& table, const std::string& name) {
  std::vector<std::int64_t> values;
  for (const auto& row : table.rows) {
    const auto* value = std::get_if<std::int64_t>(&row[column(table, name)]);
    values.push_back(value == nullptr ? -1 : *value);
  }
  return values;
}

using Numbers = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a head and a row read back as they were written, to the last bit") {
  const sample::Folder folder;
  SweepHead head = head_of(3);
  head.axes.push_back({"strategy.data", "", true});
  const Sweep sweep(folder, "d", head);
  CHECK(read_head(sweep.path) == head);
  sweep.add("a.jsonl", row_of(0, 8, 12));
  sweep.add("a.jsonl", refused(1, 2));
  const std::vector<SweepRow> rows = read_rows(sweep.path, head).rows;
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].digest == row_of(0, 8, 12).digest);  // 0.1 + 0.2 and 1 / 3 among them
  CHECK(rows[0].values == row_of(0, 8, 12).values);
  CHECK(rows[0].identity == "fedcba9876543210");
  CHECK(rows[1].message == refused(1, 2).message);
  CHECK_FALSE(rows[1].digest);
  CHECK(std::ranges::count(to_json(refused(1, 2)), '\n') == 0);
}

TEST_CASE("bytes that are no UTF-8 make a line nevertheless") {
  SweepRow row = refused(0, 2);
  row.message = "\xff\xfe";
  CHECK_NOTHROW(to_json(row));
}

TEST_CASE("the last line of a point counts, in order of files and lines; torn ones are passed over") {
  const sample::Folder folder;
  const Sweep sweep(folder, "d", head_of(8));
  sweep.add("b.jsonl", row_of(0, 1, 30));  // file b comes behind a, though it is older
  sweep.add("a.jsonl", row_of(0, 1, 10));
  sweep.add("a.jsonl", row_of(1, 1, 40));
  sweep.add("a.jsonl", row_of(1, 1, 20));
  sweep.add("a.jsonl", "{\"point\": 2, \"name\": \"cut o");  // a kill; the next process begins a line of its own
  sweep.add("a.jsonl", "\n[1, 2]\n\nnonsense\n{\"point\": \"three\"}\n");
  SweepRow earlier = row_of(1, 1, 99);
  earlier.version = "0.0.9";
  sweep.add("c.jsonl", earlier);
  SweepRow other_schema = row_of(0, 1, 99);
  other_schema.results_schema = 1;
  sweep.add("c.jsonl", other_schema);
  sweep.add("c.jsonl", row_of(8, 1, 99));  // points are 0 to 7
  sweep.add("c.txt", row_of(4, 1, 99));
  const Merged merged = merge({sweep.path});
  CHECK(integers(merged.table, "point") == Numbers{0, 1});
  CHECK(integers(merged.table, "iteration_time_ps") == Numbers{30, 20});
  CHECK(merged.missing == Numbers{2, 3, 4, 5, 6, 7});
}

TEST_CASE("a refused point has its code and message, and no results") {
  const sample::Folder folder;
  const Sweep sweep(folder, "d", head_of(2));
  sweep.add("a.jsonl", refused(1, 3));
  sweep.add("a.jsonl", row_of(0, 4, 10));
  const PointsTable table = merge({sweep.path}).table;
  CHECK(integers(table, "code") == Numbers{0, 3});
  CHECK(integers(table, "iteration_time_ps") == Numbers{10, -1});
  CHECK(integers(table, "nodes") == Numbers{4, 9});
  CHECK(table.rows[1][column(table, "message")] == PointCell{refused(1, 3).message});
  CHECK(table.rows[1][column(table, "link_nvlink_mean_use")] == PointCell{});
  CHECK(table.rows[0][column(table, "link_nvlink_peak_use")] == PointCell{0.5});
  CHECK(integers(table, "memory_weights") == Numbers{1'000'000'000'001, -1});
  CHECK(table.columns[column(table, "memory_weights")].units == "B");
  CHECK(table.columns[column(table, "model_flops")].units == "FLOP");
  CHECK(table.provenance[0].value == "[sweep]\n");
}

TEST_CASE("a sweep of which no point is done has the columns of the summary nevertheless") {
  const sample::Folder folder;
  const Sweep sweep(folder, "d", head_of(1));
  sweep.add("a.jsonl", refused(0, 2));
  CHECK(integers(merge({sweep.path}).table, "iteration_time_ps") == Numbers{-1});
}

TEST_CASE("columns of axes have the last part of the key where it is the only one, and the unit") {
  const sample::Folder folder;
  SweepHead head = head_of(1);
  head.axes = {{"machine.topology.nodes", "", false},
               {"machine.nic.latency", "ps", false},
               {"machine.nvlink.latency", "ps", false},
               {"machine.link.bandwidth", "B/s", false},
               {"machine", "name", false},
               {"simulation.seed", "", false},
               {"strategy.overlap", "", false},
               {"cost.efficiency", "", false},
               {"strategy.data", "", true}};
  const Sweep sweep(folder, "d", head);
  SweepRow row = row_of(0, 1, 1);
  row.digest->summary = {{"machine", "a"}, {"seed", std::int64_t{1}}, {"iteration_time_ps", std::int64_t{1}}};
  row.values = {{"machine.nic.latency", std::int64_t{7}}, {"machine", "a"}, {"cost.efficiency", 0.5}};
  std::string line = to_json(row);
  line.replace(line.find("\"values\":{") + 10, 0, "\"strategy.overlap\":true,");
  line = with_checksum(line.substr(0, line.rfind(',')) + "}");
  sweep.add("a.jsonl", line + "\n");
  const PointsTable table = merge({sweep.path}).table;
  std::vector<std::string> names, units;
  for (const PointAxis& axis : table.axes) {
    names.push_back(axis.column);
    units.push_back(table.columns[column(table, axis.column)].units);
  }
  // Two latencies; a machine and a seed that /summary has as well.
  CHECK(names == std::vector<std::string>{"nodes", "machine_nic_latency_ps", "machine_nvlink_latency_ps", "bandwidth",
                                          "axis_machine", "simulation_seed", "overlap", "efficiency", "data"});
  CHECK(units == std::vector<std::string>{"1", "ps", "ps", "B/s", "text", "1", "text", "1", "1"});
  CHECK(table.rows[0][column(table, "overlap")] == PointCell{"true"});
  CHECK(table.axes.back().follows);
}

TEST_CASE("numbers of an axis that are whole in some points alone are all real ones, texts make it a column of texts") {
  const sample::Folder folder;
  SweepHead head = head_of(2);
  head.axes = {{"a.x", "", false}, {"a.y", "", false}};
  const Sweep sweep(folder, "d", head);
  SweepRow first = row_of(0, 1, 1), second = row_of(1, 1, 1);
  first.values = {{"a.x", std::int64_t{1}}, {"a.y", std::int64_t{1}}};
  second.values = {{"a.x", 1.5}, {"a.y", "any"}};
  sweep.add("a.jsonl", first);
  sweep.add("a.jsonl", second);
  const PointsTable table = merge({sweep.path}).table;
  CHECK(table.rows[0][column(table, "x")] == PointCell{1.0});
  CHECK(table.rows[0][column(table, "y")] == PointCell{"1"});
}

TEST_CASE("classes and activities that some points alone have are columns of all") {
  const sample::Folder folder;
  const Sweep sweep(folder, "d", head_of(2));
  SweepRow first = row_of(0, 1, 1), second = row_of(1, 2, 1);
  second.digest->summary.emplace_back("mean_own_thing_ps", std::int64_t{5});
  second.digest->links = {{"die-to-die", 0.25, 0.5}, {"die_to_die", 0.125, 0.5}};
  sweep.add("a.jsonl", first);
  sweep.add("a.jsonl", second);
  const PointsTable table = merge({sweep.path}).table;
  CHECK(integers(table, "mean_own_thing_ps") == Numbers{-1, 5});
  CHECK(table.columns[column(table, "mean_own_thing_ps")].units == "ps");
  CHECK(table.rows[1][column(table, "link_die_to_die_mean_use")] == PointCell{0.25});
  CHECK(table.rows[1][column(table, "link_die_to_die_mean_use_")] == PointCell{0.125});
  CHECK(table.rows[1][column(table, "link_nvlink_mean_use")] == PointCell{});
  CHECK_NOTHROW(write_points(folder / "all.h5", table));
}

TEST_CASE("folders of one sweep are one table: what is done goes before what is not") {
  const sample::Folder folder;
  const Sweep a(folder, "a", head_of(4)), b(folder, "b", head_of(4));
  a.add("x.jsonl", row_of(0, 1, 10));
  a.add("x.jsonl", row_of(1, 2, 20));
  a.add("x.jsonl", refused(2, 4));
  b.add("x.jsonl", refused(0, 4));
  b.add("x.jsonl", row_of(1, 2, 21));
  b.add("x.jsonl", row_of(2, 4, 30));
  const Merged merged = merge({a.path, b.path});
  CHECK(integers(merged.table, "iteration_time_ps") == Numbers{10, 21, 30});
  CHECK(merged.missing == Numbers{3});
}

TEST_CASE("folders that do not belong together are refused") {
  const sample::Folder folder;
  const Sweep a(folder, "a", head_of(4));
  a.add("x.jsonl", row_of(0, 1, 10));
  SweepHead head = head_of(4);
  std::string reason;
  SECTION("another sweep") {
    head.identity = "1111111111111111";
    reason = "are of different sweeps (\"A sweep\", 0123456789abcdef and \"A sweep\", 1111111111111111)";
  }
  SECTION("another version") {
    head.version = "0.2.0";
    reason = "has points of version 0.1.0";
  }
  SECTION("another schema") {
    head.results_schema = 1;
    reason = "has results of schema 2";
  }
  const Sweep b(folder, "b", head);
  b.add("x.jsonl", row_of(1, 1, 10));
  CHECK_THAT(message_of<InputError>([&] { (void)merge({a.path, b.path}); }), Catch::Contains(reason));
}

TEST_CASE("a merge of nothing, of no sweep and of a later one is refused in one line") {
  const sample::Folder folder;
  const Sweep empty(folder, "empty", head_of(4));
  empty.add("a.jsonl", "{\"point\": 0, ");
  CHECK(message_of<InputError>([&] { (void)merge({empty.path}); }) ==
        "there is nothing to merge: no point of '" + empty.path + "' is done");
  CHECK(message_of<InputError>([] { (void)merge({}); }) == "there is nothing to merge: no folder of a sweep is named");
  CHECK(message_of<InputError>([&] { (void)merge({folder.path}); }) ==
        "'" + folder.path + "' is not the folder of a sweep: there is no sweep.json in it");
  CHECK_THROWS_AS(merge({folder / "nowhere"}), IoError);
  SweepHead later = head_of(1);
  later.results_schema = 3;
  const Sweep of_later(folder, "later", later);
  CHECK(message_of<InputError>([&] { (void)merge({of_later.path}); }) ==
        "'" + of_later.path + "' has results of schema 3, this program merges 1 to 2");
  for (const char* text : {"", "[]", "{\"schema\": 1}", "{\"schema\": \"x\"}"}) {
    std::ofstream(empty.path + "/sweep.json") << text;
    CHECK(message_of<InputError>([&] { (void)merge({empty.path}); }) ==
          "'" + empty.path + "/sweep.json' is not the description of a sweep");
  }
  std::ofstream(empty.path + "/sweep.json") << with_checksum("{\"schema\":3}");
  CHECK(message_of<InputError>([&] { (void)merge({empty.path}); }) ==
        "'" + empty.path + "/sweep.json' has schema 3, this program reads 1 to 2");
}

TEST_CASE("a checksum is that of the text in front of it") {
  // CRC-32 of {"a":1 (six characters), as zlib computes it.
  CHECK(with_checksum("{\"a\":1}") == "{\"a\":1,\"crc32\":\"a702fc6e\"}");
  CHECK(state_of_line(with_checksum("{\"a\":1}")) == LineState::whole);
  CHECK(state_of_line("{\"a\":1}") == LineState::without_checksum);
  CHECK(state_of_line("{\"crc32\":1}") == LineState::damaged);
}

TEST_CASE("no byte of a row can change without being noticed") {
  // Whatever is changed: the point has another value, or none, never a wrong one.
  const sample::Folder folder;
  const SweepHead head = head_of(2);
  const std::string whole = to_json(row_of(0, 8, 1234));
  const Sweep sweep(folder, "d", head);
  std::string all;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char other : {'0', '9', ' ', '"'}) {
      std::string changed = whole;
      if (changed[at] == other) continue;
      changed[at] = other;
      all += changed + "\n";
    }
  }
  sweep.add("a.jsonl", all);
  const SweepRows read = read_rows(sweep.path, head);
  CHECK(read.rows.empty());
  CHECK(read.damaged.size() > whole.size());
  CHECK(read.damaged.front() == sweep.path + "/rows/a.jsonl:1");
}

TEST_CASE("a damaged row is passed over, named, and its point missing") {
  const sample::Folder folder;
  const Sweep sweep(folder, "d", head_of(3));
  sweep.add("a.jsonl", row_of(0, 1, 30));
  std::string best = to_json(row_of(1, 2, 20));
  best.replace(best.find("\"iteration_time_ps\":2"), 21, "\"iteration_time_ps\":1");
  sweep.add("a.jsonl", best + "\n");
  sweep.add("a.jsonl", row_of(2, 4, 40));
  const Merged merged = merge({sweep.path});
  CHECK(integers(merged.table, "iteration_time_ps") == Numbers{30, 40});
  CHECK(merged.missing == Numbers{1});
  CHECK(merged.damaged == std::vector<std::string>{sweep.path + "/rows/a.jsonl:2"});
  CHECK(damage_text(merged.damaged) == "1 row is damaged and passed over: " + sweep.path + "/rows/a.jsonl:2");
}

TEST_CASE("an earlier Tessera's folder has no checksums and is read; in a later one its rows do not count") {
  const sample::Folder folder;
  SweepHead earlier = head_of(2);
  earlier.has_checksums = false;
  std::string row = to_json(row_of(0, 1, 30));
  row = row.substr(0, row.rfind(',')) + "}";
  const Sweep old(folder, "old", earlier);
  old.add("a.jsonl", row + "\n");
  const Merged merged = merge({old.path});
  CHECK(integers(merged.table, "iteration_time_ps") == Numbers{30});
  CHECK(merged.unchecked == std::vector<std::string>{old.path});
  const Sweep later(folder, "later", head_of(2));
  later.add("a.jsonl", row + "\n");
  const SweepRows read = read_rows(later.path, head_of(2));
  CHECK(read.rows.empty());
  CHECK(read.damaged.empty());  // it is what it was
}

TEST_CASE("a damaged sweep.json is no description of a sweep with fewer points") {
  const sample::Folder folder;
  const Sweep sweep(folder, "d", head_of(12));
  std::string text = to_json(head_of(12));
  text.replace(text.find("\"points\":12"), 11, "\"points\":11");
  std::ofstream(sweep.path + "/sweep.json") << text;
  CHECK_THROWS_AS(read_head(sweep.path), IoError);
  text = to_json(head_of(12));
  std::ofstream(sweep.path + "/sweep.json") << text.substr(0, text.rfind(',')) + "}";  // of this schema, without one
  CHECK_THROWS_AS(read_head(sweep.path), IoError);
}

TEST_CASE("numbers in ranges") {
  CHECK(number_ranges({}).empty());
  CHECK(number_ranges({12, 17, 18, 19, 20}) == "12, 17-20");
  CHECK(number_ranges({0, 1, 3, 4, 5}) == "0, 1, 3-5");
}
