#include <catch2/catch.hpp>

#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::config;

namespace {

std::shared_ptr<Table> parsed(const std::string& text) {
  Diagnostics diagnostics;
  auto table = parse_toml(text, "x.toml", diagnostics);
  REQUIRE(diagnostics.errors() == std::vector<std::string>{});
  return table;
}

}  // namespace

TEST_CASE("keys keep the order and the positions of the file") {
  const auto table = parsed("zebra = 1\napple = \"2\"\n\n[middle]\n  inner = [1, 2]\n");
  REQUIRE(table->entries().size() == 3);
  CHECK(table->entries()[0].first == "zebra");
  CHECK(table->entries()[1].first == "apple");
  CHECK(table->entries()[2].first == "middle");
  CHECK(to_string(table->find("apple")->where()) == "x.toml:2:9");
  CHECK(to_string(table->find("apple")->key_where()) == "x.toml:2:1");
  CHECK(to_string(table->find("middle")->table()->find("inner")->where()) == "x.toml:5:11");
}

TEST_CASE("what is not TOML is one line with its position") {
  Diagnostics diagnostics;
  (void)parse_toml("a = 1\nb = [1,\n", "x.toml", diagnostics);
  REQUIRE(diagnostics.errors().size() == 1);
  CHECK(diagnostics.errors()[0] == "x.toml:2:9: not valid TOML: Error while parsing array: encountered end-of-file");
  Diagnostics dates;
  (void)parse_toml("day = 2022-05-01\n", "x.toml", dates);
  CHECK(dates.errors() ==
        std::vector<std::string>{
            "x.toml:1:7: dates and times of day have no meaning here, durations are texts such as \"500 ns\""});
}

TEST_CASE("text made from a table reads back as the same table") {
  const std::string text = R"(
title = "quotes \" and \\ and \n and \u0001 and é"
whole = -9223372036854775807
real = 0.1
round = 3.0
large = 1e+300
flag = true
empty = []
mixed = [1, "two", [3.5, { four = 4 }], {}]
"odd key" = 1
[a]
b.c = 1
[a.d]
[[a.list]]
x = 1
[[a.list]]
x = 2
[[a.list.deeper]]
y = 3
[last]
)";
  const auto table = parsed(text);
  const std::string printed = to_toml(*table);
  INFO(printed);
  const auto again = parsed(printed);
  CHECK(same_content(*table, *again));
  CHECK(to_toml(*again) == printed);
}

TEST_CASE("tables merge key by key and share nothing afterwards") {
  const auto base = parsed("a = 1\n[t]\nx = 1\ny = 2\n[kept]\nz = 1\n");
  const auto over = parsed("a = 5\n[t]\ny = 3\n[new]\nw = 1\n");
  merge(*base, *over);
  CHECK(same_content(*base, *parsed("a = 5\n[t]\nx = 1\ny = 3\n[kept]\nz = 1\n[new]\nw = 1\n")));
  base->find("new")->table()->set("w", Value(std::int64_t{9}, {}));
  CHECK(same_content(*over, *parsed("a = 5\n[t]\ny = 3\n[new]\nw = 1\n")));
}

TEST_CASE("content compares whatever the order, and tells differences apart") {
  CHECK(same_content(*parsed("a = 1\nb = [1, 2]"), *parsed("b = [1, 2]\na = 1")));
  CHECK_FALSE(same_content(*parsed("a = 1"), *parsed("a = 1.0")));
  CHECK_FALSE(same_content(*parsed("a = [1, 2]"), *parsed("a = [2, 1]")));
  CHECK_FALSE(same_content(*parsed("a = [1]"), *parsed("a = [1, 2]")));
  CHECK_FALSE(same_content(*parsed("a = 1"), *parsed("b = 1")));
  CHECK_FALSE(same_content(*parsed("[t]\na = true"), *parsed("[t]\na = false")));
}

TEST_CASE("problems come sorted by position, without repeats, and all at once") {
  Diagnostics diagnostics;
  diagnostics.error({"b.toml", 9, 1}, "third");
  diagnostics.error({"b.toml", 2, 7}, "second");
  diagnostics.error({"b.toml", 2, 3}, "first");
  diagnostics.error({"a.toml", 1, 1}, "another file");
  diagnostics.error({"b.toml", 2, 7}, "second");
  diagnostics.warn({"b.toml", 1, 1}, "only a warning");
  CHECK_THROWS_AS(diagnostics.throw_if_errors(), InputError);
  CHECK_THROWS_WITH(diagnostics.throw_if_errors(),
                    "b.toml:2:3: first\nb.toml:2:7: second\nb.toml:9:1: third\na.toml:1:1: another file");
  Diagnostics clean;
  clean.warn({"--set a.b", 0, 0}, "harmless");
  CHECK_NOTHROW(clean.throw_if_errors());
  CHECK(clean.warnings() == std::vector<std::string>{"--set a.b: harmless"});
}

TEST_CASE("collected problems can be handed on") {
  Diagnostics all, part;
  all.error({"main.toml", 5, 1}, "late");
  part.error({"other.toml", 1, 1}, "elsewhere");
  part.error({"main.toml", 2, 1}, "early");
  part.warn({"main.toml", 1, 1}, "warning");
  all.add(part);
  CHECK(all.errors() ==
        std::vector<std::string>{"main.toml:2:1: early", "main.toml:5:1: late", "other.toml:1:1: elsewhere"});
  CHECK(all.warnings() == std::vector<std::string>{"main.toml:1:1: warning"});
}

namespace {

// const: g++ 12 warns of its own code where a literal is put in front of a temporary (GCC bug 105651).
const std::string repeated(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

/// The one problem of a text, or nothing.
std::string problem_of(const std::string& text) {
  Diagnostics diagnostics;
  const auto table = parse_toml(text, "x.toml", diagnostics);
  if (diagnostics.ok()) {
    // What is accepted can be walked over.
    auto merged = clone(*table);
    merge(*merged, *table);
    CHECK(same_content(*merged, *table));
    const auto again = parse_toml(to_toml(*merged), "x.toml", diagnostics);
    CHECK((diagnostics.ok() && same_content(*again, *table)));
    return {};
  }
  CHECK(diagnostics.errors().size() == 1);
  return diagnostics.errors().front();
}

const std::string too_many = "more than 256 levels of tables and lists within each other, allowed: 256";

}  // namespace

TEST_CASE("tables and lists nest 256 levels deep, however they are written") {
  // 256 tables within each other, then a value; one more is too many.
  CHECK(problem_of(repeated("a.", 256) + "b = 1\n").empty());
  CHECK(problem_of("x = 1\n" + repeated("a.", 257) + "b = 1\n") == "x.toml:2:515: " + too_many);
  CHECK(problem_of("[" + repeated("a.", 255) + "b]\nc = 1\n").empty());
  CHECK(problem_of("[" + repeated("a.", 255) + "b]\nc.d = 1\n") == "x.toml:2:1: " + too_many);
  CHECK(problem_of("[" + repeated("a.", 200) + "b]\n" + repeated("c.", 200) + "d = 1\n").find(too_many) !=
        std::string::npos);
  CHECK(problem_of("a = " + repeated("[", 256) + repeated("]", 256) + "\n").empty());
  CHECK(problem_of("a = " + repeated("[", 257) + repeated("]", 257) + "\n").find(too_many) != std::string::npos);
  CHECK(problem_of("a = " + repeated("{ a = ", 255) + "1" + repeated(" }", 255) + "\n").empty());
  CHECK(problem_of("a = " + repeated("{ a = ", 257) + "1" + repeated(" }", 257) + "\n").find(too_many) !=
        std::string::npos);
  CHECK(problem_of("a = " + repeated("{ a.b.c = [", 80) + repeated("] }", 80) + "\n").find(too_many) !=
        std::string::npos);
}

TEST_CASE("a hundred thousand levels are one line, not a full stack") {
  for (const int levels : {5'000, 100'000}) {
    CHECK(problem_of(repeated("a.", levels) + "b = 1\n").find(too_many) != std::string::npos);
    CHECK(problem_of(repeated("\"a\" . ", levels) + "b = 1\n").find(too_many) != std::string::npos);
    CHECK(problem_of("[" + repeated("a.", levels) + "b]\n").find(too_many) != std::string::npos);
    CHECK(problem_of("[[" + repeated("a.", levels) + "b]]\n").find(too_many) != std::string::npos);
    CHECK(problem_of("a = " + repeated("[", levels)).find(too_many) != std::string::npos);
    CHECK(problem_of("a = " + repeated("{ a = ", levels)).find(too_many) != std::string::npos);
    CHECK(problem_of(repeated("a.", 100) + "a = " + repeated("{" + repeated("a.", 100) + "a = ", levels / 100))
              .find(too_many) != std::string::npos);
  }
}

TEST_CASE("points and brackets in texts, comments and numbers are no levels") {
  const std::string points = repeated("[.a.", 400);
  CHECK(problem_of("a = \"" + points + "\"\n").empty());
  CHECK(problem_of("a = '" + points + "'\n").empty());
  CHECK(problem_of("a = \"\"\"\n\\\"\"" + points + "\n\"\"\"\nb = \"\"\n").empty());
  CHECK(problem_of("a = '''\n" + points + "\n'''\n").empty());
  CHECK(problem_of("a = 1 # " + points + "\nb = 2\n").empty());
  CHECK(problem_of("a = [" + repeated("1.5, ", 1000) + "]\n").empty());
  CHECK(problem_of("a = [" + repeated("{ b.c = 1.5 }, ", 1000) + "]\n").empty());
  CHECK(problem_of("a = [" + repeated("\"]\", ", 300) + "]\n").empty());
  CHECK(problem_of(repeated("[[a.b]]\nc.d = 1\n", 400)).empty());
}
