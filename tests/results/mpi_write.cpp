// The file does not show how many ranks wrote it, how the devices were spread over them, or how the rows travelled.
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "../../src/results/parallel_file.hpp"
#include "../../src/results/temporary_file.hpp"
#include "sample.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/messages.hpp"

using namespace tessera;
using namespace tessera::results;
namespace fs = std::filesystem;

namespace {

struct Fixture {
  Fixture() {
    std::string name = (fs::temp_directory_path() / "tessera-results-mpi-XXXXXX").string();
    if (comm.rank() == 0) name = mkdtemp(name.data());
    folder = broadcast(comm, name);
  }
  ~Fixture() {
    comm.barrier();
    if (comm.rank() == 0) fs::remove_all(folder);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder + "/" + name; }

  int argc = 0;
  char** argv = nullptr;
  MpiSession session{argc, argv};
  Communicator& comm = session.world();
  std::string folder;
};

/// Spreads of ids over ranks: as the partitioners make them, and worse.
std::vector<std::pair<std::string, sample::Owner>> spreads(int ranks, std::uint32_t devices) {
  const auto size = static_cast<std::uint32_t>(ranks);
  return {
      {"blocks", [=](std::uint32_t id) { return static_cast<int>(std::min(size - 1, id * size / devices)); }},
      {"tiles", [=](std::uint32_t id) { return static_cast<int>(id / 2 % size); }},
      {"dealt out", [=](std::uint32_t id) { return static_cast<int>(id % size); }},
      {"all on the first", [](std::uint32_t) { return 0; }},
      {"all on the last, none on the others", [=](std::uint32_t) { return ranks - 1; }},
      {"uneven", [=](std::uint32_t id) { return id == 3 ? 0 : ranks - 1; }},
  };
}

int h5diff(const std::string& a, const std::string& b) {
  const int status = std::system(("h5diff '" + a + "' '" + b + "' > /dev/null 2>&1").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

using Spreads = std::vector<std::pair<std::string, sample::Owner>>;

/// Writes the run with each spread and both transports and compares each file with that of one process without MPI.
void expect_same_as_serial(Fixture& f, const sample::Size& size, const Spreads& chosen) {
  const std::string serial = f.path("serial.h5");
  if (f.comm.rank() == 0) {
    const auto alone = make_serial_communicator();
    write(serial, sample::make(size), sample::provenance(), *alone);
  }
  for (const auto& [name, owner] : chosen) {
    for (const Transport transport : {Transport::automatic, Transport::gather}) {
      INFO(name << (transport == Transport::gather ? ", gathered" : ", collectively"));
      const std::string parallel = f.path("parallel.h5");
      write(parallel, sample::make(size, f.comm.rank(), owner), sample::provenance(), f.comm, transport);
      if (f.comm.rank() == 0) {
        CHECK(h5diff(serial, parallel) == 0);
        CHECK(sample::files_in(f.folder).size() == 2);
      }
      f.comm.barrier();
    }
  }
}

}  // namespace

TEST_CASE("the same file on any number of ranks") {
  Fixture f;
  expect_same_as_serial(f, {8, 20, 6}, spreads(f.comm.size(), 8));
}

TEST_CASE("the same file when some tables are empty") {
  Fixture f;
  expect_same_as_serial(f, {1, 0, 0}, spreads(f.comm.size(), 1));
}

TEST_CASE("the same file when rows of ranks alternate more often than regions can be joined") {
  // 6,000 rows dealt out singly: the writer selects them row by row.
  Fixture f;
  expect_same_as_serial(f, {3000, 6000, 2}, {spreads(f.comm.size(), 3000)[2]});
}

TEST_CASE("the same file when a table is written in several pieces") {
  // 140,000 intervals of 32 B are 4.5 MB, in pieces of 4 MiB.
  Fixture f;
  expect_same_as_serial(f, {20, 10, 7'000}, {spreads(f.comm.size(), 20)[3]});
}

TEST_CASE("a failure is the same error on every rank and leaves no file") {
  Fixture f;
  const auto owner = [ranks = f.comm.size()](std::uint32_t id) { return static_cast<int>(id) % ranks; };
  RunResults r = sample::make({}, f.comm.rank(), owner);
  if (f.comm.rank() == 0) std::ofstream(f.path("plain")) << "x";
  f.comm.barrier();
  SECTION("a path below a plain file") {
    const std::string path = f.path("plain/out.h5");
    CHECK_THROWS_AS(write(path, r, sample::provenance(), f.comm), IoError);
    CHECK_THROWS_WITH(write(path, r, sample::provenance(), f.comm),
                      "cannot write '" + path + "': '" + f.path("plain") + "' is not a directory");
  }
  SECTION("a directory") {
    CHECK_THROWS_WITH(write(f.folder, r, sample::provenance(), f.comm),
                      "cannot write '" + f.folder + "': it is a directory");
  }
  SECTION("a bad row on the last rank alone") {
    if (f.comm.rank() == f.comm.size() - 1) r.device_rows.front().activity.clear();
    const std::string message =
        "device " + std::to_string(f.comm.size() - 1) + " has times of 0 activities, of which there are 4";
    CHECK_THROWS_WITH(write(f.path("out.h5"), r, sample::provenance(), f.comm), message);
  }
  SECTION("a device on two ranks") {
    if (f.comm.size() > 1) {
      if (f.comm.rank() == 1) r.device_rows.insert(r.device_rows.begin(), sample::device(0));
      CHECK_THROWS_AS(write(f.path("out.h5"), r, sample::provenance(), f.comm), InternalError);
    }
  }
  f.comm.barrier();
  if (f.comm.rank() == 0) CHECK(sample::files_in(f.folder) == std::vector<std::string>{"plain"});
}

TEST_CASE("a file that one rank does not find is opened by none, and nobody waits") {
  // As a folder of one computer's own: rank 0 has made the file, the last rank looks elsewhere.
  Fixture f;
  if (f.comm.size() == 1) return;
  if (f.comm.rank() == 0) std::ofstream(f.path("here")) << "x";
  f.comm.barrier();
  const bool is_last = f.comm.rank() == f.comm.size() - 1;
  CHECK(ParallelFile::open(f.path(is_last ? "elsewhere" : "here"), f.comm) == nullptr);
}

TEST_CASE("a temporary file that a killed run has left is in no rank's way") {
  Fixture f;
  const std::string left = broadcast(f.comm, temporary_name(f.path("out.h5")));
  if (f.comm.rank() == 0) std::ofstream(left) << "theirs";
  const RunResults results = sample::make({6, 2, 3}, f.comm.rank(), [](std::uint32_t) { return 0; });
  for (const Transport transport : {Transport::automatic, Transport::gather})
    write(f.path("out.h5"), results, sample::provenance(), f.comm, transport);
  if (f.comm.rank() == 0) {
    CHECK_NOTHROW(summary(f.path("out.h5")));
    CHECK(fs::file_size(left) == 6);
    CHECK(std::distance(fs::directory_iterator(f.folder), fs::directory_iterator{}) == 2);
  }
}

namespace signal_test {

std::string temporary;
int ticks_left = 0;

/// Every 50 us: some ticks after the temporary file is there, the signal that a batch system sends.
void strike(int) {
  const int interrupted_error = errno;
  if (ticks_left >= 0 && access(temporary.c_str(), F_OK) == 0 && ticks_left-- == 0) std::raise(SIGTERM);
  errno = interrupted_error;
}

}  // namespace signal_test

TEST_CASE("a signal to one rank while all open the file: the same error everywhere, no file, nobody waits") {
  Fixture f;
  const auto before = std::signal(SIGTERM, [](int) {});  // an application that goes on, as ours does
  std::signal(SIGALRM, signal_test::strike);
  signal_test::temporary = broadcast(f.comm, temporary_name(f.path("out.h5")));
  const RunResults results = sample::make({6, 2, 3}, f.comm.rank(), [](std::uint32_t) { return 0; });
  for (int i = 0; i < 40; ++i) {
    signal_test::ticks_left = i / 2;
    const bool is_struck = f.comm.rank() == i % f.comm.size();
    const itimerval every{{0, 50}, {0, is_struck ? 50 : 0}};
    setitimer(ITIMER_REAL, &every, nullptr);
    std::string message;
    try {
      write(f.path("out.h5"), results, sample::provenance(), f.comm);
    } catch (const IoError& error) {
      message = error.what();
    }
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    for (const std::string& other : all_gather(f.comm, message)) CHECK(other == message);
    if (f.comm.rank() == 0) {
      // It may have been renamed before the signal came.
      CHECK(fs::exists(f.path("out.h5")) == message.empty());
      fs::remove(f.path("out.h5"));
      CHECK(fs::is_empty(f.folder));
    }
  }
  std::signal(SIGALRM, SIG_DFL);
  std::signal(SIGTERM, before);
}
