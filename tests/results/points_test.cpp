// A table of points, written, read again, damaged and refused.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "../../src/results/temporary_file.hpp"
#include "folder.hpp"
#include "sample.hpp"
#include "support/message_of.hpp"
#include "tessera/base/error.hpp"
#include "tessera/results/points.hpp"

using namespace tessera;
using namespace tessera::results;
using tessera::test::message_of;

namespace {

/// Four points over two axes: 1 and 2 nodes, 1 or 2 GB/s. The last does not fit.
PointsTable made_up() {
  PointsTable t;
  t.title = "Nodes and \"bandwidth\"";
  t.columns = {{"point", "1", "its number", PointKind::integer},
               {"name", "text", "what it sets", PointKind::text},
               {"nodes", "1", "axis: machine.topology.nodes", PointKind::integer},
               {"bandwidth", "B/s", "axis: machine.topology.bandwidth", PointKind::integer},
               {"code", "1", "exit code", PointKind::integer},
               {"message", "text", "why not", PointKind::text},
               {"iteration_time_ps", "ps", "its time", PointKind::integer},
               {"model_flops", "FLOP", "of an iteration", PointKind::number}};
  const auto done = [&](std::int64_t point, std::int64_t nodes, std::int64_t gigabytes, std::int64_t milliseconds) {
    t.rows.push_back({point, "point " + std::to_string(point), nodes, gigabytes * 1'000'000'000, std::int64_t{0}, "",
                      milliseconds * millisecond, 1.5e20});
  };
  done(0, 1, 1, 800);
  done(1, 1, 2, 600);
  done(2, 2, 1, 500);
  t.rows.push_back({std::int64_t{3}, "point 3", std::int64_t{2}, std::int64_t{2'000'000'000}, std::int64_t{3},
                    "gpu 0, \"full\"", PointCell{}, PointCell{}});
  t.axes = {{"nodes", "machine.topology.nodes", false}, {"bandwidth", "machine.topology.bandwidth", false}};
  t.provenance = {{"command", "tessera merge DIR", "The command line."}, {"empty", "", "Nothing."}};
  return t;
}

/// Puts `now` in the place of the first `before` that the file has.
void replace_in(const std::string& path, const std::string& before, const std::string& now) {
  std::string bytes = sample::read_text(path);
  const std::size_t at = bytes.find(before);
  REQUIRE(at != std::string::npos);
  bytes.replace(at, now.size(), now);
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

TEST_CASE("a table of points reads back as it was written") {
  const sample::Folder folder;
  const PointsTable written = made_up();
  write_points(folder / "all.h5", written);
  CHECK(is_points(folder / "all.h5"));
  const PointsTable read = read_points(folder / "all.h5");
  CHECK(read.title == written.title);
  REQUIRE(read.columns.size() == written.columns.size());
  for (std::size_t i = 0; i < read.columns.size(); ++i) {
    const PointColumn &a = read.columns[i], &b = written.columns[i];
    CHECK(std::tie(a.name, a.units, a.description, a.kind) == std::tie(b.name, b.units, b.description, b.kind));
  }
  REQUIRE(read.rows.size() == 4);
  for (std::size_t i = 0; i < 3; ++i) CHECK(read.rows[i] == written.rows[i]);
  // What the last has not comes as 0 and as no number.
  CHECK(read.rows[3][6] == PointCell{std::int64_t{0}});
  CHECK(std::isnan(std::get<double>(read.rows[3][7])));
  REQUIRE(read.axes.size() == 2);
  CHECK(read.axes[1].key == "machine.topology.bandwidth");
  REQUIRE(read.provenance.size() == 2);
  CHECK(read.provenance[0].value == "tessera merge DIR");
  CHECK(read.provenance[1].description == "Nothing.");
  CHECK(sample::files_in(folder.path).size() == 1);
}

TEST_CASE("equal tables make equal bytes, and an existing file stays unless it may be replaced") {
  const sample::Folder folder;
  write_points(folder / "a.h5", made_up());
  write_points(folder / "b.h5", made_up());
  CHECK(sample::read_text(folder / "a.h5") == sample::read_text(folder / "b.h5"));
  PointsTable other = made_up();
  other.rows.pop_back();
  CHECK_THROWS_AS(write_points(folder / "a.h5", other, {false}), IoError);
  std::filesystem::remove(temporary_name(folder / "a.h5"));  // what was to be there
  CHECK(read_points(folder / "a.h5").rows.size() == 4);
  CHECK_NOTHROW(write_points(folder / "a.h5", other));
  CHECK(read_points(folder / "a.h5").rows.size() == 3);
}

TEST_CASE("a table without rows is a file too") {
  const sample::Folder folder;
  PointsTable none = made_up();
  none.rows.clear();
  none.axes.clear();
  write_points(folder / "all.h5", none);
  CHECK(read_points(folder / "all.h5").rows.empty());
  CHECK_NOTHROW(points_summary(folder / "all.h5"));
}

TEST_CASE("what is no table is an internal error, and no file") {
  const sample::Folder folder;
  PointsTable t = made_up();
  SECTION("a cell too few") { t.rows[1].pop_back(); }
  SECTION("a text among whole numbers") { t.rows[1][2] = "two"; }
  SECTION("a real number among whole ones") { t.rows[1][2] = 2.0; }
  SECTION("a number among texts") { t.rows[1][1] = std::int64_t{1}; }
  SECTION("two columns of one name") { t.columns[3].name = "nodes"; }
  SECTION("an axis without a column") { t.axes[0].column = "knots"; }
  SECTION("no columns") { t = {}; }
  CHECK_THROWS_AS(write_points(folder / "all.h5", t), InternalError);
  CHECK(sample::files_in(folder.path).empty());
}

TEST_CASE("a damaged table is refused by its name") {
  const sample::Folder folder;
  const std::string path = folder / "all.h5";
  write_points(path, made_up());
  const std::string cannot = "cannot read '" + path + "': ";
  SECTION("a cell") {
    replace_in(path, "point 2", "point 7");
    CHECK(message_of<Error>([&] { (void)points_summary(path); }) ==
          cannot + "table /points is damaged: it differs from its checksum");
  }
  SECTION("an axis") {
    replace_in(path, "machine.topology.nodes", "machine.topology.knots");
    CHECK(message_of<Error>([&] { (void)read_points(path); }).starts_with(cannot));
  }
  SECTION("a unit") {
    replace_in(path, "axis: machine.topology.bandwidth", "axis: machine.topology.bandwidht");
    CHECK(message_of<Error>([&] { (void)read_points(path); }) ==
          cannot + "the file is damaged: units and descriptions differ from their checksum");
  }
  SECTION("a file cut short") {
    std::filesystem::resize_file(path, 2000);
    CHECK(message_of<Error>([&] { (void)read_points(path); }) == cannot + "the file is damaged or cut short");
  }
}

TEST_CASE("a table of points is no result of a run, and the other way round") {
  const sample::Folder folder;
  write_points(folder / "all.h5", made_up());
  const auto alone = make_serial_communicator();
  write(folder / "out.h5", sample::make(), sample::provenance(), *alone);
  std::ofstream(folder / "text") << "text";
  CHECK_FALSE(is_points(folder / "out.h5"));
  CHECK_FALSE(is_points(folder / "text"));
  CHECK_FALSE(is_points(folder / "nowhere"));
  CHECK_FALSE(is_points(folder.path));
  CHECK(message_of<Error>([&] { (void)summary(folder / "all.h5"); }) ==
        "'" + folder / "all.h5" +
            "' is not a result file of tessera run, but a table of points: tessera show prints it");
  CHECK(message_of<Error>([&] { (void)read_points(folder / "out.h5"); }) ==
        "'" + folder / "out.h5" + "' is not a table of points (tessera merge)");
  CHECK(unchecked(folder / "all.h5").empty());
}

TEST_CASE("the summary of a table: the best first, the others by code, and each axis") {
  const sample::Folder folder;
  write_points(folder / "all.h5", made_up());
  const std::string text = points_summary(folder / "all.h5");
  INFO(text);
  CHECK_THAT(text, Catch::StartsWith("Nodes and \"bandwidth\"\n4 points, 3 of them with a time\n"));
  // 500 ms, 600 ms (1.2 times as long), 800 ms (1.6 times).
  const std::size_t first = text.find("2: point 2"), second_best = text.find("1: point 1"),
                    last = text.find("0: point 0");
  CHECK(first < second_best);
  CHECK(second_best < last);
  CHECK_THAT(text, Catch::Matches(R"([^]*1: point 1 +600\.0 ms +1\.20[^]*)"));
  CHECK_THAT(text, Catch::Matches(R"([^]*\n  3, cannot be carried out +1  3: gpu 0, "full"\n[^]*)"));
  // One node: 800 and 600 ms, both done; two nodes: 500 ms, one of two.
  CHECK_THAT(text, Catch::Matches(R"([^]*time by nodes[^]*\n  1 +2 of 2 +600\.0 ms +700\.0 ms\n[^]*)"));
  CHECK_THAT(text, Catch::Matches(R"([^]*\n  2 +1 of 2 +500\.0 ms +500\.0 ms\n[^]*)"));
  CHECK_THAT(text, Catch::Matches(R"([^]*\n  2\.00 GB/s +1 of 2 +600\.0 ms +600\.0 ms\n[^]*)"));
}

TEST_CASE("points that make tokens are ranked by tokens a second, and so are the values of axes") {
  // Batches of 8, 16 and 64 that make 4 tokens a sequence: the slowest makes the most a second.
  PointsTable t = made_up();
  t.columns.push_back({"phase", "text", "what was run", PointKind::text});
  t.columns.push_back({"tokens_per_second", "1/s", "of all users", PointKind::number});
  t.columns.push_back({"tokens_per_second_per_user", "1/s", "of each", PointKind::number});
  t.columns.push_back({"time_to_first_token_ps", "ps", "its time", PointKind::integer});
  const std::vector<std::int64_t> batches{64, 16, 8};
  for (std::size_t i = 0; i < 3; ++i) {
    const double seconds = static_cast<double>(std::get<std::int64_t>(t.rows[i][6])) * 1e-12;
    const double rate = 4.0 * static_cast<double>(batches[i]) / seconds;
    t.rows[i].insert(t.rows[i].end(), {PointCell{"prompt-and-generation"}, PointCell{rate}, PointCell{4 / seconds},
                                       PointCell{100 * millisecond}});
  }
  t.rows[3].resize(t.columns.size());
  const auto summary_of = [](const PointsTable& table) {
    const sample::Folder folder;
    write_points(folder / "all.h5", table);
    return points_summary(folder / "all.h5");
  };
  // 256 / 0.8 s, 64 / 0.6 s, 32 / 0.5 s.
  const std::string text = summary_of(t);
  CHECK(text.find(R"(
best points                                             tokens/s  to best   of a user  first token  devices   peak memory
  0: point 0                                               320.0     1.00         5.0       100 ms        -             -
  1: point 1                                               106.7     3.00         6.7       100 ms        -             -
  2: point 2                                                64.0     5.00         8.0       100 ms        -             -
)") != std::string::npos);
  CHECK(text.find(R"(
tokens/s by nodes                             done        best      median
  1                                         2 of 2       320.0       213.3
  2                                         1 of 2        64.0        64.0
)") != std::string::npos);
  // Where one of them makes none, times are what all have.
  t.rows[1][8] = PointCell{"prompt"};
  CHECK(summary_of(t).find("\n  2: point 2                                            500.0 ms     1.00") !=
        std::string::npos);
}

TEST_CASE("points of machines that are not calibrated are marked beside those that are") {
  const sample::Folder folder;
  PointsTable t = made_up();
  t.columns.push_back({"calibration", "text", "what the machine's rates come from", PointKind::text});
  const auto summary_with = [&](const std::vector<std::string>& calibrations) {
    PointsTable table = t;
    for (std::size_t i = 0; i < table.rows.size(); ++i) table.rows[i].push_back(calibrations[i]);
    write_points(folder / "all.h5", table);
    return points_summary(folder / "all.h5");
  };
  const std::string calibrated = "calibrated, within 12.4 % of 20 measured", peaks = "uncalibrated: peak rates";
  // Point 2 is the fastest, with two nodes alone; of one node there is one of each kind.
  const std::string text = summary_with({calibrated, peaks, peaks, ""});
  CHECK(text.find(R"(
best points                                                 time  to best  devices model FLOPs   peak memory  calibrated
  2: point 2                                            500.0 ms     1.00        -           -             -          no
  1: point 1                                            600.0 ms     1.20        -           -             -          no
  0: point 0                                            800.0 ms     1.60        -           -             -         yes
  not calibrated: with the peak rates of data sheets, bounds that do not rank beside the others
)") != std::string::npos);
  CHECK_THAT(text, Catch::Contains("\n  1                                         2 of 2    600.0 ms    700.0 ms\n"));
  CHECK_THAT(text,
             Catch::Contains(
                 "\n  2                                         1 of 2    500.0 ms    500.0 ms  not calibrated\n"));
  // Where all are alike there is nothing to tell apart.
  const std::string none = summary_with({peaks, peaks, peaks, ""});
  CHECK_THAT(none, Catch::Contains("\n  none is calibrated: all are with the peak rates of data sheets, so bounds\n"));
  CHECK_THAT(none, !Catch::Contains("not calibrated"));
  CHECK_THAT(summary_with({calibrated, calibrated, calibrated, ""}), !Catch::Contains("calibrated"));
}

TEST_CASE("candidates of a search that nobody simulated are neither done nor refused") {
  const sample::Folder folder;
  PointsTable t = made_up();
  t.rows[2][6] = PointCell{};  // code 0, and no time
  write_points(folder / "all.h5", t);
  const std::string text = points_summary(folder / "all.h5");
  INFO(text);
  CHECK_THAT(text, Catch::Contains("4 points, 2 of them with a time"));
  CHECK_THAT(text, Catch::Matches(R"([^]*\n  0, not simulated +1  2\n[^]*)"));
  CHECK_THAT(text, Catch::Matches(R"([^]*time by nodes[^]*\n  2 +0 of 2 +- +-\n[^]*)"));
}

TEST_CASE("long tables are cut, and say so") {
  const sample::Folder folder;
  PointsTable t = made_up();
  const std::vector<PointCell> one = t.rows[0];
  t.rows.clear();
  for (std::int64_t i = 0; i < 30; ++i) {
    t.rows.push_back(one);
    t.rows.back()[0] = t.rows.back()[2] = i;
  }
  write_points(folder / "all.h5", t);
  const std::string text = points_summary(folder / "all.h5");
  CHECK_THAT(text, Catch::Contains("and 20 more in /points"));
  CHECK_THAT(text, Catch::Contains("and 14 more values"));
  // An axis with one value does nothing to the time.
  CHECK_THAT(text, !Catch::Contains("time by bandwidth"));
}

TEST_CASE("comma-separated values: quoted where they must be, nothing where there is nothing") {
  const std::string csv = to_csv(made_up());
  CHECK_THAT(csv, Catch::StartsWith("point,name,nodes,bandwidth,code,message,iteration_time_ps,model_flops\r\n"
                                    "0,point 0,1,1000000000,0,,800000000000,1.5e+20\r\n"));
  CHECK_THAT(csv, Catch::EndsWith("\r\n3,point 3,2,2000000000,3,\"gpu 0, \"\"full\"\"\",,\r\n"));
}
