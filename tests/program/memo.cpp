// What a search knows, from one run to the next.
#include <catch2/catch.hpp>

#include "tessera/program/search/evaluations.hpp"

using namespace tessera;
using namespace tessera::program;
using search::key_of;
using search::Memo;

namespace {

Program summing(std::int64_t bytes) {
  Program program;
  program.labels = {""};
  program.devices.resize(2);
  program.groups = {{{0, 1}}};
  Collective all_reduce;
  all_reduce.bytes = Bytes{bytes};
  const BlockId block = BlockBuilder(program, "sum").collective(all_reduce).done();
  for (DeviceProgram& device : program.devices) device = {{block}, {}, {0}, 0};
  return program;
}

Evaluation of_time(Time time) { return {true, {}, time, {1, 2}, {3}, {4, 5, 6}}; }

}  // namespace

TEST_CASE("memo: a program is known by what it does, not by its names, and by how it was evaluated") {
  const std::uint64_t key = key_of(summing(100), Fidelity::simulated);
  CHECK(key == key_of(summing(100), Fidelity::simulated));
  CHECK(key != key_of(summing(102), Fidelity::simulated));
  CHECK(key != key_of(summing(100), Fidelity::estimate));
  Program renamed = summing(100);
  renamed.blocks[0].name = "other";
  renamed.labels.push_back("a label");
  renamed.blocks[0].code[0].label = 1;
  CHECK(key == key_of(renamed, Fidelity::simulated));
  Program twice = summing(100);
  twice.blocks[0].code.push_back(twice.blocks[0].code[0]);
  CHECK(key != key_of(twice, Fidelity::simulated));
  Program busier = summing(100);
  busier.channels = 1;
  CHECK(key != key_of(busier, Fidelity::simulated));
}

TEST_CASE("memo: what is known goes from one text to the next") {
  Memo first;
  CHECK(first.added().empty());
  first.add(7, of_time(70));
  first.add(9, {false, "does not fit"});
  REQUIRE(first.added().size() == 2);
  CHECK(first.added()[0].key == 7);
  Memo second;
  REQUIRE(second.read(first.text()));
  CHECK(second.text() == first.text());
  CHECK(second.added().empty());
  REQUIRE(second.find(7) != nullptr);
  CHECK(second.find(7)->time == 70);
  CHECK(second.find(7)->peak_memory == std::vector<std::int64_t>{1, 2});
  CHECK(second.find(7)->link_bytes == std::vector<std::int64_t>{4, 5, 6});
  CHECK(second.find(9) == nullptr);  // its reason may name what another program calls otherwise
  CHECK(second.find(8) == nullptr);
  second.add(7, of_time(70));
  second.learn(8, of_time(80));
  CHECK(second.added().empty());  // one was there, the other is another rank's
  CHECK(second.find(8)->time == 80);
}

TEST_CASE("memo: a text that is not whole adds nothing") {
  Memo known;
  known.add(7, of_time(70));
  const std::string whole = known.text();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    Memo cut;
    CAPTURE(length);
    REQUIRE_FALSE(cut.read(whole.substr(0, length)));
    REQUIRE(cut.find(7) == nullptr);
  }
  std::string changed = whole;
  changed.back() = static_cast<char>(changed.back() + 1);
  CHECK_FALSE(Memo().read(changed));
  CHECK_FALSE(Memo().read("# What searches measured, in ps. Hash of the lines below: 1\n70 ring of 2\n"));
}
