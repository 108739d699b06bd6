// Files that a strategy names.
#include <algorithm>
#include <catch2/catch.hpp>

#include "files.hpp"
#include "probe.hpp"
#include "tessera/base/error.hpp"
#include "tessera/experiment/input_files.hpp"

using namespace tessera;
using namespace tessera::experiment;
using tessera::test::Folder;
using tessera::test::Loaded;
using tessera::test::loaded;
using tessera::test::says;

namespace {

using Lines = std::vector<std::string>;

const std::string probing = "[strategy]\nname = \"probe\"\ntable = \"data/t.csv\"\n";

}  // namespace

TEST_CASE("attachments: a file beside the experiment is read once, and its hash stands in the resolved experiment") {
  Folder folder;
  std::filesystem::create_directories(folder.path("data"));
  folder.write("data/t.csv", std::string("1,2\n\0three", 10));
  folder.write("x.toml", test::probed_machine + probing);
  Loaded first = loaded(folder.path("x.toml"));
  REQUIRE(first.errors == Lines{});
  CHECK(first.experiment->plan.description[0].second == std::string("1,2\n\0three", 10));
  REQUIRE(first.source.files.size() == 1);
  CHECK(first.source.files[0].key == "table");
  CHECK(first.source.files[0].hash.size() == 16);
  CHECK(changed_files(first.source.files).empty());
  const std::string resolved = config::to_toml(*first.source.table);
  CHECK(resolved.find("[attachments]\ntable = \"" + first.source.files[0].hash + "\"") != std::string::npos);
  // The resolved experiment runs beside the file, and refuses another one.
  folder.write("resolved.toml", resolved);
  CHECK(loaded(folder.path("resolved.toml")).errors == Lines{});
  folder.write("data/t.csv", "1,3\n");
  CHECK(says(loaded(folder.path("resolved.toml")), "is not the file that this experiment was resolved with"));
  const Lines changed = changed_files(first.source.files);
  REQUIRE(changed.size() == 1);
  CHECK(changed[0].find("t.csv has changed since it was read") != std::string::npos);
  std::filesystem::remove(folder.path("data/t.csv"));
  CHECK(changed_files(first.source.files).size() == 1);
}

TEST_CASE("attachments: names on the command line are relative to the current folder") {
  Folder folder;
  folder.write("x.toml", test::probed_machine + "[strategy]\nname = \"probe\"\n");
  folder.write("here.csv", "here");
  CHECK(loaded(folder.path("x.toml")).experiment->plan.description[0].second == "none");
  const Loaded set =
      loaded(folder.path("x.toml"), {{"strategy.table", folder.path("here.csv"), "--set strategy.table"}});
  REQUIRE(set.errors == Lines{});
  CHECK(set.experiment->plan.description[0].second == "here");
}

TEST_CASE("attachments: a file of any format is bytes, and tensors are read of those of a training alone") {
  Folder folder;
  Tensors learnt{{{"sigma", "1"}}, {{"input", "weights", 1, 2, {0.5F, 2.0F}}}};
  results::write_policy(folder.path("policy.h5"), {"t", "m", "s", learnt, {}}, {});
  const std::string bytes = *InputFiles().read(folder.path("policy.h5"));
  folder.write("x.toml", test::probed_machine + "[strategy]\nname = \"probe\"\ntable = \"policy.h5\"\n");
  const Loaded whole = loaded(folder.path("x.toml"));
  REQUIRE(whole.errors == Lines{});
  CHECK(whole.source.files[0].content == bytes);
  CHECK(whole.experiment->plan.description[2].second == "input: 0.5 2");
  // A file that only begins as HDF5 does is bytes like any other; who asks for tensors is told what is wrong with it.
  folder.write("policy.h5", bytes.substr(0, 100));
  CHECK(loaded(folder.path("x.toml")).experiment->plan.description[2].second ==
        "\"table\": cannot read '" + folder.path("policy.h5") + "': the file is damaged or cut short");
  folder.write("policy.h5", "1,2\n");
  CHECK(loaded(folder.path("x.toml")).experiment->plan.description[2].second ==
        folder.path("policy.h5") + " is not a policy (tessera train)");
}

TEST_CASE("attachments: what cannot be read is one line with its place") {
  Folder folder;
  folder.write("x.toml", test::probed_machine + probing);
  const Loaded missing = loaded(folder.path("x.toml"));
  CHECK(says(missing, "x.toml:14:9: \"table\": "));
  CHECK(says(missing, "there is no such file"));
  std::filesystem::create_directories(folder.path("data/t.csv"));
  CHECK(says(loaded(folder.path("x.toml")), "is a directory, expected a file"));
  std::filesystem::remove_all(folder.path("data"));
  std::filesystem::create_directories(folder.path("data"));
  folder.write("data/t.csv", "");
  std::filesystem::resize_file(folder.path("data/t.csv"), (std::uintmax_t{1} << 30U) + 1);  // a hole: takes no room
  CHECK(says(loaded(folder.path("x.toml")), "is longer than 1024 MiB"));
}
