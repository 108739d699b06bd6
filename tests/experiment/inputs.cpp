#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

#include "files.hpp"
#include "tessera/base/error.hpp"
#include "tessera/experiment/experiment.hpp"

using namespace tessera;
using namespace tessera::experiment;
using tessera::test::Folder;
using tessera::test::ring;

namespace {

const std::string job = "machine = \"ring\"\n[strategy]\nname = \"script\"\n";

/// What reading this file as an experiment is refused with.
std::string refusal(const std::string& path) {
  config::Diagnostics diagnostics;
  try {
    (void)load(path, {}, {}, diagnostics);
  } catch (const InputError& error) {
    return error.what();
  }
  return diagnostics.ok() ? "" : diagnostics.errors().front();
}

}  // namespace

TEST_CASE("only files and pipes that somebody writes into are read, and nothing is waited for") {
  Folder folder;
  CHECK(refusal("/dev/zero") == "/dev/zero: is a device, expected a file");
  CHECK(refusal("/dev/null") == "/dev/null: is a device, expected a file");
  CHECK(refusal(folder.path("")).ends_with(": is a directory, expected a file"));
  REQUIRE(mkfifo(folder.path("pipe").c_str(), 0600) == 0);
  CHECK(refusal(folder.path("pipe")) == folder.path("pipe") + ": is a pipe into which nobody writes, expected a file");

  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, folder.path("socket").c_str(), sizeof(address.sun_path) - 1);
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  REQUIRE(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  CHECK(refusal(folder.path("socket")) == folder.path("socket") + ": is a socket, expected a file");
  close(listener);
}

TEST_CASE("an experiment comes through a pipe, also a slow one") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::thread writer([&] {
    for (const char c : job) {
      if (c == '\n') usleep(20'000);
      REQUIRE(write(ends[1], &c, 1) == 1);
    }
    close(ends[1]);
  });
  config::Diagnostics diagnostics;
  Folder folder;
  folder.write("machines/ring.toml", ring);
  const Source source = load("/dev/fd/" + std::to_string(ends[0]), {}, {folder.path("")}, diagnostics);
  writer.join();
  close(ends[0]);
  CHECK(diagnostics.errors() == std::vector<std::string>{});
  CHECK(source.given == job);
}

TEST_CASE("an input ends after 64 MiB") {
  Folder folder;
  folder.write("large.toml", "");
  REQUIRE(truncate(folder.path("large.toml").c_str(), (64LL << 20) + 1) == 0);  // zeros that take no place on a disk
  CHECK(refusal(folder.path("large.toml")).ends_with(": is longer than 64 MiB, the limit for an input"));
}

TEST_CASE("machines, models and plans are read as carefully, and named where they are asked for") {
  Folder folder;
  REQUIRE(mkfifo(folder.path("pipe").c_str(), 0600) == 0);
  folder.write("x.toml", "machine = \"./pipe\"\n");
  CHECK(refusal(folder.path("x.toml")) == folder.path("x.toml") + ":1:11: " + folder.path("./pipe") +
                                              ": is a pipe into which nobody writes, expected a file");
  folder.write("x.toml", "[model]\nhugging_face = \"/dev/zero\"\n");
  CHECK(refusal(folder.path("x.toml")) == folder.path("x.toml") + ":2:16: /dev/zero: is a device, expected a file");
  folder.write("x.toml", "[strategy]\nname = \"script\"\n");
  config::Diagnostics diagnostics;
  CHECK_THROWS_WITH(load(folder.path("x.toml"), {}, {}, diagnostics, "/dev/zero"),
                    "/dev/zero: is a device, expected a file");
}

TEST_CASE("a machine that includes itself by another way is seen") {
  Folder folder;
  folder.write("x.toml", "machine = \"a/m.toml\"\n");
  folder.write("a/m.toml", "[machine]\ninclude = \"../a/m.toml\"\n");
  CHECK(refusal(folder.path("x.toml")).find("includes itself") != std::string::npos);
}

TEST_CASE("a key of --set has at most 256 parts") {
  std::string key = "a";
  for (int i = 1; i < 256; ++i) key += ".a";
  CHECK(parse_setting(key + "=1").value == "1");
  CHECK_THROWS_WITH(parse_setting(key + ".a=1"), Catch::Contains("a key of more than 256 parts, allowed: 256"));
  Folder folder;
  folder.write("x.toml", job);
  config::Diagnostics diagnostics;
  const Source source =
      load(folder.path("x.toml"), {parse_setting(key + "=" + std::string(250, '[') + std::string(250, ']'))}, {},
           diagnostics);
  CHECK(config::to_toml(*source.table).size() > 1000);  // walked over without trouble
}

TEST_CASE("list says what can be named, and why something cannot") {
  Folder folder;
  folder.write("machines/ring.toml", ring);
  folder.write("machines/broken.toml", "[machine]\nname = 1\n");
  folder.write("models/tiny.toml",
               "name = \"tiny\"\nlayers = 2\nhidden = 64\nheads = 4\nvocabulary = 128\nmax_positions = 32\n");
  folder.write("experiments/sub/job.toml", "title = \"A job\"\n" + job);
  const std::vector<std::filesystem::path> folders{folder.path("")};
  const std::vector<Listed> machines = list(Listing::machines, folders);
  REQUIRE(machines.size() == 2);
  CHECK(machines[0].calibrated.empty());
  CHECK(machines[1].calibrated == "no");
  CHECK(machines[0].name == "broken");
  CHECK(machines[0].description.starts_with("cannot be used: " + folder.path("machines/broken.toml") + ":1:1: "));
  CHECK(machines[1].name == "ring");
  CHECK(machines[1].description == "ring of 4, gpu, 100 TFLOP/s fp16, 40.0 GB at 1.00 TB/s");
  const std::vector<Listed> models = list(Listing::models, folders);
  REQUIRE(models.size() == 1);
  // 2 layers of 12 h^2 + 13 h, 128 + 32 rows of h, a norm of 2 h: 110,336.
  CHECK(models[0].description == "110 k parameters, 2 layers, hidden 64, 4 heads, tiny");
  const std::vector<Listed> experiments = list(Listing::experiments, folders);
  REQUIRE(experiments.size() == 1);
  CHECK(experiments[0].name == folder.path("experiments/sub/job.toml"));
  CHECK(experiments[0].description == "A job");
  folder.write("sweeps/b.toml", "title = \"A sweep\"\n[sweep]\n");
  folder.write("sweeps/a/untitled.toml", "[sweep]\n");
  const std::vector<Listed> sweeps = list(Listing::sweeps, folders);
  REQUIRE(sweeps.size() == 2);
  CHECK(sweeps[0].name == folder.path("sweeps/a/untitled.toml"));
  CHECK(sweeps[0].description.empty());
  CHECK(sweeps[1].description == "A sweep");
}
