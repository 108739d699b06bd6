// Names of activities and of what memory holds: those of every program, and those that a strategy brings.
#include <catch2/catch.hpp>

#include "tessera/base/error.hpp"
#include "tessera/program/program.hpp"

using namespace tessera;
using namespace tessera::program;

TEST_CASE("names: a program's own come behind those that every program has, each once") {
  Program program;
  CHECK(activities_of(program) == 13);
  CHECK(activity_named(program, "forward") == Activity::forward);
  CHECK(activity_named(program, "idle") == Activity::idle);
  CHECK(category_named(program, "kv_cache") == MemoryCategory::kv_cache);
  CHECK(program.own_activities.empty());
  const Activity reload = activity_named(program, "sram_reload"), other = activity_named(program, "lent");
  CHECK(static_cast<int>(reload) == 13);
  CHECK(static_cast<int>(other) == 14);
  CHECK(activity_named(program, "sram_reload") == reload);
  CHECK(activities_of(program) == 15);
  CHECK(name_of(program, reload) == "sram_reload");
  CHECK(name_of(program, Activity::backward) == "backward");
  const MemoryCategory lent = category_named(program, "lent_memory");
  CHECK(static_cast<int>(lent) == 6);
  CHECK(categories_of(program) == 7);
  CHECK(name_of(program, lent) == "lent_memory");
  CHECK_THROWS_AS(name_of(program, static_cast<Activity>(15)), InternalError);
}

TEST_CASE("names: what cannot be a column of results is refused") {
  Program program;
  for (const char* name : {"", "two words", "Upper", "dash-ed", "a/b"})
    CHECK_THROWS_AS(activity_named(program, name), InternalError);
  for (int i = 0; i < 200; ++i) static_cast<void>(activity_named(program, "own_" + std::to_string(i)));
  CHECK_THROWS_AS(activity_named(program, "one_more"), InternalError);
}

TEST_CASE("names: an activity or a category that the program lacks is a mistake in it") {
  Program program;
  program.devices.resize(1);
  const BlockId block =
      BlockBuilder(program, "b").activity(static_cast<Activity>(13)).allocate(MemoryCategory::weights, Bytes{1}).done();
  program.devices[0].streams = {block};
  machine::Machine machine;
  machine.network.devices = 1;
  machine.speed = {1};
  machine.places = {{0, 0, 0}};
  const auto problems = check_program(program, machine);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].find("an activity that does not exist") != std::string::npos);
  static_cast<void>(activity_named(program, "own"));
  CHECK(check_program(program, machine).empty());
}
