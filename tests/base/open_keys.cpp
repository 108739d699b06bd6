// Keys that are left open: "any", or a list.
#include <catch2/catch.hpp>

#include "tessera/base/config.hpp"

using namespace tessera;
using namespace tessera::config;

namespace {

struct Box {
  std::int64_t count = 0;
  bool fast = false;
  std::string kind;
  std::int64_t closed = 0;
  std::vector<std::string> parts;
};

const Schema<Box>& box_schema() {
  static const Schema<Box> schema = [] {
    Schema<Box> s("box", "A box.");
    s.integer("count", &Box::count, "how many").at_least("1").otherwise("3").may_be_open();
    s.boolean("fast", &Box::fast, "speed").otherwise("false").may_be_open();
    s.choice("kind", &Box::kind, {"ring", "mesh"}, "shape").otherwise("ring").may_be_open();
    s.texts("parts", &Box::parts, "of it").optional().may_be_open();
    s.integer("closed", &Box::closed, "not to be searched").otherwise("0");
    return s;
  }();
  return schema;
}

std::vector<std::string> problems(const std::string& text, std::vector<OpenKey>* open = nullptr, Box* box = nullptr) {
  Diagnostics diagnostics;
  const auto table = parse_toml(text, "box.toml", diagnostics);
  const Box read = box_schema().read(*table, diagnostics);
  if (box != nullptr) *box = read;
  if (open != nullptr) *open = box_schema().open_keys(*table);
  return diagnostics.errors();
}

}  // namespace

TEST_CASE("open keys are found in the order of their declaration, and read as their defaults") {
  std::vector<OpenKey> open;
  Box box;
  CHECK(problems("kind = \"any\"\nfast = true\ncount = [4, 2]", &open, &box).empty());
  REQUIRE(open.size() == 2);
  CHECK(open[0].key == "count");
  CHECK(open[0].allowed.size() == 2);
  CHECK(to_string(open[0].where) == "box.toml:3:9");
  CHECK(open[1].key == "kind");
  CHECK(open[1].allowed.empty());
  CHECK(box.count == 3);
  CHECK(box.kind == "ring");
  CHECK(box.fast);
}

TEST_CASE("all values of a boolean and of a choice are known, those of a number are not") {
  CHECK(box_schema().values_of("fast").size() == 2);
  CHECK(*box_schema().values_of("kind")[1].string() == "mesh");
  CHECK(box_schema().values_of("count").empty());
}

TEST_CASE("a key that is a list is open by a list of lists, and a list of its own is a value") {
  std::vector<OpenKey> open;
  Box box;
  CHECK(problems("parts = [\"lid\", \"lock\"]", &open, &box).empty());
  CHECK(open.empty());
  CHECK(box.parts == std::vector<std::string>{"lid", "lock"});
  CHECK(problems("parts = []", &open, &box).empty());
  CHECK(open.empty());
  CHECK(problems("parts = [[\"lid\"], [\"lid\", \"lock\"]]", &open).empty());
  REQUIRE(open.size() == 1);
  REQUIRE(open.front().allowed.size() == 2);
  CHECK(open.front().allowed[1].array()->size() == 2);
  CHECK(problems("parts = \"any\"", &open).empty());
  REQUIRE(open.size() == 1);
  CHECK(open.front().allowed.empty());
  CHECK(
      problems("parts = [[\"lid\"], \"lock\"]") ==
      std::vector<std::string>{"box.toml:1:19: \"parts\": a string is not allowed here, expected a list of texts such "
                               "as [\"a\", \"b\"], a list of such lists, or \"any\""});
  CHECK(problems("parts = [[\"lid\"], [\"lid\"]]") ==
        std::vector<std::string>{"box.toml:1:19: \"parts\": [\"lid\"] is in the list twice"});
}

TEST_CASE("a bad value of a list is one line with its place") {
  CHECK(problems("count = [2, 0]") ==
        std::vector<std::string>{"box.toml:1:13: \"count\": 0 is out of range, allowed: at least 1"});
  CHECK(problems("kind = [\"rong\"]") ==
        std::vector<std::string>{
            "box.toml:1:9: \"kind\": unknown choice \"rong\" (did you mean \"ring\"?), allowed: ring, mesh"});
  CHECK(problems("count = [2, 4, 2]") == std::vector<std::string>{"box.toml:1:16: \"count\": 2 is in the list twice"});
  CHECK(problems("count = []") ==
        std::vector<std::string>{
            "box.toml:1:9: \"count\" is an empty list, expected a whole number, a list of them, or \"any\""});
  CHECK(problems("closed = \"any\"").size() == 1);  // a key that is not declared so
}
