// A file written by one rank, read again with the same library and judged from outside with the distribution's h5diff.
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>

#include "../../src/results/h5/reader.hpp"
#include "../../src/results/temporary_file.hpp"
#include "folder.hpp"
#include "sample.hpp"
#include "support/message_of.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::results;
using tessera::test::message_of;
namespace fs = std::filesystem;

namespace {

void write_serial(const std::string& path, const RunResults& results) {
  const auto comm = make_serial_communicator();
  write(path, results, sample::provenance(), *comm);
}

int exit_of(const std::string& command) {
  const int status = std::system((command + " > /dev/null 2>&1").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a file stands under its name when it is complete, and nothing else is left") {
  const sample::Folder folder;
  write_serial(folder / "out.h5", sample::make());
  CHECK(sample::files_in(folder.path) == std::vector<std::string>{"out.h5"});
  SECTION("and replaces an earlier one") {
    write_serial(folder / "out.h5", sample::make({4, 4, 0}));
    CHECK(sample::files_in(folder.path) == std::vector<std::string>{"out.h5"});
    CHECK_THAT(summary(folder / "out.h5"), Catch::Matches(R"([^]*devices +4\n[^]*)"));
  }
}

TEST_CASE("sums beyond 2^63 are written as the real numbers next to them") {
  const sample::Folder folder;
  RunResults results = sample::make({2, 1, 0});
  const Int128 large = Int128{1} << 63U;  // one more than 64 bits with a sign hold
  for (DeviceRow& row : results.device_rows) row.flops = row.bytes_sent = row.bytes_received = large;
  results.link_rows[0].bytes = large;
  for (CollectiveRow& row : results.collective_rows) {
    row.bytes = large * row.calls;
    row.total = Int128{never} * row.calls;  // to the nearest real number the same
  }
  write_serial(folder / "out.h5", results);
  const h5::Reader file(folder / "out.h5");
  const double expected = 9223372036854775808.0;
  const h5::Rows devices = file.read("/devices");
  for (const char* column : {"flops", "bytes_sent", "bytes_received"}) CHECK(devices.number(1, column) == expected);
  CHECK(file.read("/summary").number(0, "bytes_sent") == 2 * expected);
  CHECK(file.read("/links").number(0, "bytes") == expected);
  const h5::Rows collectives = file.read("/collectives");
  REQUIRE(collectives.size() > 0);
  for (std::size_t i = 0; i < collectives.size(); ++i) {
    const auto calls = static_cast<double>(collectives.integer(i, "calls"));
    CHECK(collectives.number(i, "total_ps") == calls * expected);
    CHECK(collectives.number(i, "bytes") == calls * expected);
  }
  CHECK(summary(folder / "out.h5").find("9.22 EB") != std::string::npos);
}

TEST_CASE("what a run was started with does not show outside /provenance") {
  const sample::Folder folder;
  write_serial(folder / "a.h5", sample::make());
  Provenance other = sample::provenance();
  other.ranks = 64;
  other.host = "another machine with a longer name";
  other.command = "other";
  other.experiment_given += "# a comment\n";
  other.wall_seconds = 1;
  const auto comm = make_serial_communicator();
  write(folder / "b.h5", sample::make(), other, *comm);
  CHECK(exit_of("h5diff --exclude-path /provenance " + folder / "a.h5" + " " + folder / "b.h5") == 0);
  CHECK(exit_of("h5diff " + folder / "a.h5" + " " + folder / "b.h5") == 1);
}

TEST_CASE("the same results make the same bytes") {
  // No times of creation, no uninitialised padding.
  const sample::Folder folder;
  write_serial(folder / "a.h5", sample::make());
  sleep(1);
  write_serial(folder / "b.h5", sample::make());
  CHECK(sample::read_text(folder / "a.h5") == sample::read_text(folder / "b.h5"));
}

TEST_CASE("rows come in order of their ids, in whatever order they were counted") {
  const sample::Folder folder;
  RunResults r = sample::make();
  write_serial(folder / "a.h5", r);
  std::reverse(r.device_rows.begin(), r.device_rows.end());
  std::reverse(r.link_rows.begin(), r.link_rows.end());
  std::reverse(r.memory_rows.begin(), r.memory_rows.end());
  std::vector<Interval> intervals = r.intervals.rows();
  std::reverse(intervals.begin(), intervals.end());
  std::ranges::stable_sort(intervals, std::ranges::greater{}, &Interval::device);
  r.intervals = {};
  for (auto one = intervals.begin(), next = one; one != intervals.end(); one = next) {
    while (next != intervals.end() && next->device == one->device) ++next;
    r.intervals.add({one->device, std::vector<Interval>(one, next)});
  }
  std::reverse(r.memory_changes.begin(), r.memory_changes.end());
  std::reverse(r.collective_rows.begin(), r.collective_rows.end());
  write_serial(folder / "b.h5", r);
  CHECK(exit_of("h5diff " + folder / "a.h5" + " " + folder / "b.h5") == 0);
}

TEST_CASE("an empty run is a file too") {
  const sample::Folder folder;
  write_serial(folder / "out.h5", RunResults{});
  CHECK_NOTHROW(summary(folder / "out.h5"));
}

TEST_CASE("an output that cannot be written is refused before the run and after it, and leaves no file") {
  const sample::Folder folder;
  fs::create_directory(folder / "directory.h5");
  std::ofstream(folder / "plain") << "x";
  const auto refused = [&](const std::string& path, const std::string& reason) {
    const std::string message = "cannot write '" + path + "': " + reason;
    CHECK(message_of<IoError>([&] { check_output(path, false); }) == message);
    CHECK(message_of<IoError>([&] { write_serial(path, sample::make()); }) == message);
  };
  refused(folder / "directory.h5", "it is a directory");
  refused(folder / "plain/out.h5", "'" + folder / "plain" + "' is not a directory");
  refused(folder / "plain/deep/out.h5", "'" + folder / "plain" + "' is not a directory");
  refused(folder / "nowhere/out.h5", "there is no directory '" + folder / "nowhere" + "'");
  refused("/dev/null", "it is not a regular file");
  refused(folder / "out.h5/", "a file name cannot end in '/'");
  CHECK(message_of<IoError>([] { check_output("", false); }) == "cannot write '': the name is empty");
  CHECK(sample::files_in(folder.path).size() == 2);
}

TEST_CASE("an existing file is refused unless it may be replaced") {
  const sample::Folder folder;
  std::ofstream(folder / "out.h5") << "x";
  CHECK(message_of<IoError>([&] { check_output(folder / "out.h5", false); }) ==
        "cannot write '" + folder / "out.h5" + "': it exists already (--force replaces it)");
  CHECK_NOTHROW(check_output(folder / "out.h5", true));
  CHECK_NOTHROW(check_output(folder / "other.h5", false));
  CHECK(sample::files_in(folder.path) == std::vector<std::string>{"out.h5"});
}

TEST_CASE("another user's file in a folder for all cannot be replaced") {
  if (geteuid() != 0) return;  // only root can make a file of another user's
  const sample::Folder folder;
  fs::permissions(folder.path, fs::perms::all | fs::perms::sticky_bit);
  std::ofstream(folder / "out.h5") << "x";
  const uid_t nobody = 65534;
  REQUIRE(seteuid(nobody) == 0);
  const std::string message = message_of<IoError>([&] { check_output(folder / "out.h5", true); });
  CHECK_NOTHROW(check_output(folder / "new.h5", true));
  REQUIRE(seteuid(0) == 0);
  CHECK(message == "cannot write '" + folder / "out.h5" + "': Operation not permitted");
}

TEST_CASE("only what stood there at the beginning is replaced in the end") {
  const sample::Folder folder;
  const std::string path = folder / "out.txt", other = folder / "other.txt";
  write_text(path, "old");
  const Replacing standing = check_output(path, true);
  write_text(path, "new", standing);
  CHECK(sample::read_text(path) == "new");
  // A second process that had seen the old one, too.
  const std::string kept = temporary_name(path);
  CHECK(message_of<IoError>([&] { write_text(path, "newer", standing); }) ==
        "cannot write '" + path + "': somebody else has written it meanwhile; what was to be there is '" + kept + "'");
  CHECK(sample::read_text(path) == "new");
  CHECK(sample::read_text(kept) == "newer");
  fs::remove(kept);
  // Of two that have seen none the first one wins; where the file has gone since, it is written.
  const Replacing none = check_output(other, true);
  write_text(other, "first", none);
  CHECK_THROWS_AS(write_text(other, "second", none), IoError);
  CHECK(sample::read_text(other) == "first");
  fs::remove(temporary_name(other));
  const Replacing first = check_output(other, true);
  fs::remove(other);
  write_text(other, "third", first);
  CHECK(sample::read_text(other) == "third");
  CHECK(std::distance(fs::directory_iterator(fs::path(path).parent_path()), fs::directory_iterator{}) == 2);
}

TEST_CASE("what somebody else has written meanwhile stays, and so does what was to be there") {
  const sample::Folder folder;
  const std::string path = folder / "out.h5";
  std::ofstream(path) << "x";
  const std::string kept = temporary_name(path);
  CHECK(message_of<IoError>([&] { write_text(path, "text", {false}); }) ==
        "cannot write '" + path + "': somebody else has written it meanwhile; what was to be there is '" + kept + "'");
  CHECK(sample::read_text(path) == "x");
  CHECK(sample::read_text(kept) == "text");
  fs::remove(kept);
  const auto comm = make_serial_communicator();
  const RunResults results = sample::make();
  CHECK_THROWS_AS(write(path, results, sample::provenance(), *comm, Transport::automatic, {false}), IoError);
  CHECK(sample::read_text(path) == "x");
  CHECK_NOTHROW(summary(kept));
  fs::remove(kept);
  fs::remove(path);
  CHECK_NOTHROW(write(path, results, sample::provenance(), *comm, Transport::automatic, {false}));
  CHECK_NOTHROW(summary(path));
}

TEST_CASE("a temporary file that somebody has left is in nobody's way, and stays") {
  // As of a run of the same host and number that was killed, or that lives in another container: its name, and the
  // next.
  const sample::Folder folder;
  const std::string path = folder / "out.h5", first = temporary_name(path), second = first + "-2";
  std::ofstream(first) << "theirs";
  std::ofstream(second) << "theirs, too";
  CHECK_NOTHROW(check_output(path, false));
  write_serial(path, sample::make());
  CHECK_NOTHROW(summary(path));
  const std::string text = folder / "out.txt";
  std::ofstream(temporary_name(text)) << "theirs";
  write_text(text, "ours");
  CHECK(sample::read_text(text) == "ours");
  CHECK(sample::read_text(first) == "theirs");
  CHECK(sample::read_text(second) == "theirs, too");
  CHECK(sample::files_in(folder.path).size() == 5);
  {
    const TemporaryFile file(path);
    CHECK(file.name() == first + "-3");
    CHECK(fs::file_size(file.name()) == 0);
  }
  CHECK_FALSE(fs::exists(first + "-3"));
}

TEST_CASE("a full disk is an IoError that says so, and leaves no file") {
  // A limit on the size of files stands for the full disk; the signal that comes with it is ignored, as MPI programs
  // do.
  const sample::Folder folder;
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{20'000, 20'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string message = message_of<IoError>([&] { write_serial(folder / "out.h5", sample::make()); });
    _exit(message == "cannot write '" + folder / "out.h5" + "': File too large" ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(sample::files_in(folder.path).empty());
}

namespace signal_test {

std::string temporary;

/// Every 10 ms of computing: as soon as the temporary file is there, the signal that a batch system sends.
void strike(int) {
  if (access(temporary.c_str(), F_OK) == 0) std::raise(SIGTERM);
}

}  // namespace signal_test

TEST_CASE("a signal in the middle of writing leaves no file") {
  const sample::Folder folder;
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGTERM, SIG_DFL);  // not the test framework's
    signal_test::temporary = temporary_name(folder / "out.h5");
    std::signal(SIGVTALRM, signal_test::strike);
    const itimerval every{{0, 10'000}, {0, 10'000}};
    setitimer(ITIMER_VIRTUAL, &every, nullptr);
    // A timeline of 5 million intervals takes much longer than that to write.
    RunResults r = sample::make({1, 1, 0});
    r.intervals.add({0, std::vector<Interval>(5'000'000, {0, 0, 0, 0, 0, 1})});
    write_serial(folder / "out.h5", r);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
  CHECK(sample::files_in(folder.path).empty());
}

TEST_CASE("a signal that the process survives removes the file, but not while ranks need its name") {
  const sample::Folder folder;
  const auto before = std::signal(SIGTERM, [](int) {});
  {
    const TemporaryFile file(folder / "out.h5.tmp", false);
    std::ofstream(file.name()) << "x";
    {
      const TemporaryFile::NameIsNeeded opening;
      std::raise(SIGTERM);
      CHECK(fs::exists(file.name()));
    }
    CHECK_FALSE(fs::exists(file.name()));
    CHECK(TemporaryFile::interrupted());
  }
  std::signal(SIGTERM, before);
}

TEST_CASE("a signal that is ignored while a file is written stays without effect") {
  // As under nohup.
  const sample::Folder folder;
  const auto before = std::signal(SIGHUP, SIG_IGN);
  {
    const TemporaryFile file(folder / "out.h5.tmp", true);
    std::ofstream(file.name()) << "x";
    std::raise(SIGHUP);
    CHECK(fs::exists(file.name()));
    CHECK_FALSE(TemporaryFile::interrupted());
  }
  std::signal(SIGHUP, before);
}

TEST_CASE("rows that name what has no name are an internal error") {
  const sample::Folder folder;
  RunResults r = sample::make();
  SECTION("link class") { r.link_rows[0].link_class = 9; }
  SECTION("category") { r.memory_rows[0].category = 9; }
  SECTION("label") { r.collective_rows[0].label = 9; }
  SECTION("activity") { r.intervals.add({999, {{999, 0, 0, 9, 0, 1}}}); }
  SECTION("missing activity") { r.device_rows[3].activity.pop_back(); }
  CHECK_THROWS_AS(write_serial(folder / "out.h5", r), InternalError);
  CHECK(sample::files_in(folder.path).empty());
}

TEST_CASE("reading refuses what is not a result") {
  const sample::Folder folder;
  std::ofstream(folder / "text.h5") << "not HDF5";
  CHECK_THROWS_WITH(summary(folder / "text.h5"), "'" + folder / "text.h5" + "' is not an HDF5 file");
  CHECK_THROWS_AS(summary(folder / "text.h5"), InputError);
  CHECK_THROWS_WITH(summary(folder / "none.h5"), "cannot read '" + folder / "none.h5" + "': No such file or directory");
  CHECK_THROWS_AS(summary(folder / "none.h5"), IoError);
  CHECK_THROWS_WITH(summary(folder.path), "cannot read '" + folder.path + "': it is a directory");
  CHECK_THROWS_WITH(summary("/dev/zero"), "cannot read '/dev/zero': it is not a regular file");
  SECTION("a file cut short") {
    write_serial(folder / "out.h5", sample::make());
    fs::resize_file(folder / "out.h5", 3000);
    CHECK_THROWS_WITH(summary(folder / "out.h5"),
                      "cannot read '" + folder / "out.h5" + "': the file is damaged or cut short");
    CHECK_THROWS_AS(summary(folder / "out.h5"), IoError);
  }
}
