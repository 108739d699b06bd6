// Files that a strategy names are read by rank 0 alone, once.
#include <catch2/catch.hpp>

#include "files.hpp"
#include "probe.hpp"
#include "tessera/base/hash.hpp"
#include "tessera/base/messages.hpp"

using namespace tessera;

TEST_CASE("attachments: all ranks have what rank 0 has read, and open no file") {
  int count = 0;
  char** values = nullptr;
  MpiSession session(count, values);
  Communicator& comm = session.world();
  const std::string content("1,2\n\0three", 10);
  experiment::Source source;
  std::string folder_path;
  if (comm.rank() == 0) {
    test::Folder folder;  // gone before the others go on: they could not open anything in it
    folder.write("t.csv", content);
    folder.write("x.toml", test::probed_machine + "[strategy]\nname = \"probe\"\ntable = \"t.csv\"\n");
    test::Loaded loaded = test::loaded(folder.path("x.toml"));
    REQUIRE(loaded.errors.empty());
    source = loaded.source;
    folder_path = folder.path("");
  }
  source = experiment::shared(std::move(source), comm);
  CHECK_FALSE(std::filesystem::exists(broadcast(comm, folder_path)));
  REQUIRE(source.files.size() == 1);
  CHECK(source.files[0].key == "table");
  CHECK(source.files[0].content == content);
  CHECK(std::stoull(source.files[0].hash, nullptr, 16) == hash_of(content));
  const std::string resolved = config::to_toml(*source.table);
  CHECK(resolved == broadcast(comm, resolved));
  CHECK(source.given == broadcast(comm, source.given));
  config::Diagnostics diagnostics;
  const auto built = experiment::build(*source.table, diagnostics, test::with_probe(), source.files);
  CHECK(diagnostics.errors().empty());
  CHECK(built->plan.description[0].second == content);
}
