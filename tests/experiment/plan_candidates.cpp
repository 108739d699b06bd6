// What a plan file says of the candidates that a search tried.
#include <algorithm>
#include <catch2/catch.hpp>

#include "files.hpp"
#include "probe.hpp"

using namespace tessera;
using program::Fidelity;
using program::search::Tried;

namespace {

using Lines = std::vector<std::string>;

Tried tried(const std::string& name, Fidelity fidelity, Time cost, bool accepted, std::int64_t step = 0) {
  return {step, name, fidelity, cost * millisecond, accepted, "", 0, "", 0};
}

/// The lines of [plan.candidates], of an experiment whose search tried these.
Lines lines_of(const std::vector<Tried>& table) {
  test::Folder folder;
  folder.write("x.toml", test::probed_machine + "[strategy]\nname = \"probe\"\n");
  const test::Loaded one = test::loaded(folder.path("x.toml"));
  REQUIRE(one.errors == Lines{});
  one.experiment->searched.table = table;
  config::Diagnostics diagnostics;
  const auto plan =
      config::parse_toml(experiment::plan_text(*one.experiment, *one.source.table, "1"), "p", diagnostics);
  Lines lines;
  for (const auto& [key, value] : plan->find("plan")->table()->find("candidates")->table()->entries())
    lines.push_back(*value.string());
  return lines;
}

Lines taken_of(const Lines& lines) {
  Lines found;
  std::ranges::copy_if(lines, std::back_inserter(found),
                       [](const std::string& line) { return line.find("taken") != std::string::npos; });
  return found;
}

}  // namespace

TEST_CASE("plan files: few candidates stand in the order of the search, simulated ones first") {
  CHECK(lines_of({tried("a", Fidelity::estimate, 1, true), tried("b", Fidelity::simulated, 5, true, 1),
                  tried("c", Fidelity::simulated, 0, false, 2), tried("d", Fidelity::simulated, 4, true, 3)}) ==
        Lines{"5.00 ms simulated: b", "cannot run: c", "4.00 ms simulated, taken: d", "1.00 ms estimate: a"});
}

TEST_CASE("plan files: one candidate is taken, however often a search accepted one like it") {
  CHECK(lines_of({tried("a", Fidelity::simulated, 3, true), tried("b", Fidelity::simulated, 3, true),
                  tried("a", Fidelity::simulated, 3, true, 1)}) ==
        Lines{"3.00 ms simulated, taken: a", "3.00 ms simulated: b", "3.00 ms simulated: a"});
  // 1,000.0 and 1,000.4 s are the same when rounded: how far they are apart is said.
  CHECK(
      lines_of({tried("a", Fidelity::simulated, 1'000'000, true), tried("b", Fidelity::simulated, 1'000'400, false)}) ==
      Lines{"1000 s simulated, taken: a", "1000 s simulated, 0.04 % slower: b"});
  CHECK(taken_of(lines_of({tried("a", Fidelity::simulated, 3, false), tried("b", Fidelity::simulated, 0, false)})) ==
        Lines{});
}

TEST_CASE("plan files: of many candidates the best are left, and always the one that is taken") {
  std::vector<Tried> many;
  for (Time i = 0; i < 30; ++i) many.push_back(tried("e", Fidelity::estimate, 1 + i, false));
  for (Time i = 0; i < 10; ++i) many.push_back(tried("s", Fidelity::simulated, 50 - i, i == 4));
  many.push_back(tried("n", Fidelity::simulated, 0, false));
  const Lines lines = lines_of(many);
  REQUIRE(lines.size() == 20);
  CHECK(lines[0] == "41.0 ms simulated: s");
  CHECK(lines[5] == "46.0 ms simulated, taken: s");
  CHECK(lines[10] == "1.00 ms estimate: e");
  CHECK(taken_of(lines).size() == 1);
  // The slowest of 31: the last of those that are left.
  many.clear();
  for (Time i = 0; i < 31; ++i) many.push_back(tried("s", Fidelity::simulated, 1 + i, i == 30));
  const Lines cut = lines_of(many);
  REQUIRE(cut.size() == 20);
  CHECK(cut[18] == "19.0 ms simulated: s");
  CHECK(cut[19] == "31.0 ms simulated, taken: s");
}
