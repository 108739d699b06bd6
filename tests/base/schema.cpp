#include <catch2/catch.hpp>

#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::config;

namespace {

enum class Colour { red, green };

struct Port {
  std::string name;
  std::int64_t bandwidth = 0;
};

struct Box {
  std::int64_t latency = 7;
  std::int64_t memory = 0;
  std::int64_t count = 0;
  int small = 0;
  double ratio = 0;
  bool fast = false;
  std::string label = "unset";
  std::string kind;
  Colour colour = Colour::green;
  std::vector<std::int64_t> sizes;
  std::vector<std::string> tags;
  Port port;
  Port spare;
  std::vector<Port> ports;
};

const Schema<Port>& port_schema() {
  static const Schema<Port> schema = [] {
    Schema<Port> s("box.port", "Where links end.");
    s.text("name", &Port::name, "shown in results").otherwise("p");
    s.quantity("bandwidth", &Port::bandwidth, Unit::bandwidth, "per direction").at_least("1 B/s");
    return s;
  }();
  return schema;
}

const Schema<Box>& box_schema() {
  static const Schema<Box> schema = [] {
    Schema<Box> s("box", "A box of everything.");
    s.quantity("latency", &Box::latency, Unit::time, "delay").at_most("1 ms").otherwise("500 ns");
    s.quantity("memory", &Box::memory, Unit::bytes, "capacity").optional();
    s.integer("count", &Box::count, "how many").at_least("1").at_most("64");
    s.integer("small", &Box::small, "fits an int").otherwise("-3");
    s.number("ratio", &Box::ratio, "share").at_least("0").at_most("1").otherwise("0.5");
    s.boolean("fast", &Box::fast, "speed").otherwise("true");
    s.text("label", &Box::label, "name").optional();
    s.choice("kind", &Box::kind, {"ring", "mesh"}, "shape").otherwise("ring");
    s.choice<Colour>("colour", &Box::colour, {{"red", Colour::red}, {"green", Colour::green}}, "paint")
        .otherwise("red");
    s.integers("sizes", &Box::sizes, "sizes").at_least("1").otherwise("[1, 2]");
    s.texts("tags", &Box::tags, "tags").optional();
    s.table("port", &Box::port, port_schema(), "the port").otherwise("{ bandwidth = \"1 GB/s\" }");
    s.table("spare", &Box::spare, port_schema(), "another port").optional();
    s.tables("ports", &Box::ports, port_schema(), "more ports").otherwise("[]");
    s.also_accept("include", "another file");
    return s;
  }();
  return schema;
}

std::shared_ptr<Table> table_of(const std::string& text) {
  Diagnostics diagnostics;
  auto table = parse_toml(text, "b.toml", diagnostics);
  REQUIRE(diagnostics.ok());
  return table;
}

Box read(const std::string& text) {
  Diagnostics diagnostics;
  Box box = box_schema().read(*table_of(text), diagnostics);
  REQUIRE(diagnostics.errors() == std::vector<std::string>{});
  return box;
}

std::vector<std::string> errors_of(const std::string& text) {
  Diagnostics diagnostics;
  (void)box_schema().read(*table_of(text), diagnostics);
  return diagnostics.errors();
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("absent keys take their defaults") {
  const Box box = read("count = 4");
  CHECK(box.latency == 500'000);
  CHECK(box.memory == 0);
  CHECK(box.count == 4);
  CHECK(box.small == -3);
  CHECK(box.ratio == 0.5);
  CHECK(box.fast);
  CHECK(box.label == "unset");
  CHECK(box.kind == "ring");
  CHECK(box.colour == Colour::red);
  CHECK(box.sizes == std::vector<std::int64_t>{1, 2});
  CHECK(box.port.name == "p");
  CHECK(box.port.bandwidth == 1'000'000'000);
  CHECK(box.spare.name.empty());
  CHECK(box.ports.empty());
}

TEST_CASE("every kind of field is read") {
  const Box box = read(R"(
include = "other"
latency = "1 us"
memory = "1 GiB"
count = 64
small = 2147483647
ratio = 1
fast = false
label = ""
kind = "mesh"
colour = "green"
sizes = [3]
tags = ["a", "b"]
port.bandwidth = "2 B/s"
spare = { name = "s", bandwidth = "3 B/s" }
[[ports]]
bandwidth = "4 B/s"
[[ports]]
name = "second"
bandwidth = "5 B/s"
)");
  CHECK(box.latency == 1'000'000);
  CHECK(box.memory == 1LL << 30);
  CHECK(box.small == 2147483647);
  CHECK(box.ratio == 1.0);
  CHECK_FALSE(box.fast);
  CHECK(box.label.empty());
  CHECK(box.kind == "mesh");
  CHECK(box.colour == Colour::green);
  CHECK(box.tags == Lines{"a", "b"});
  CHECK(box.port.bandwidth == 2);
  CHECK(box.spare.name == "s");
  REQUIRE(box.ports.size() == 2);
  CHECK(box.ports[1].name == "second");
  CHECK(box.ports[0].name == "p");
}

TEST_CASE("read(write(x)) is x, and optional fields that were left out stay out") {
  for (const std::string text : {"count = 4",
                                 "count = 1\nmemory = \"5 B\"\nlabel = \"x\"\nspare.bandwidth = \"9 B/s\"\n"
                                 "tags = []\nsizes = []\n[[ports]]\nbandwidth = \"1.5 GB/s\""}) {
    const Box box = read(text);
    Table first;
    box_schema().write(box, first);
    const std::string printed = to_toml(first);
    INFO(printed);
    Table second;
    box_schema().write(read(printed), second);
    CHECK(to_toml(second) == printed);
    CHECK(same_content(*table_of(printed), first));
  }
  Table plain;
  box_schema().write(read("count = 4"), plain);
  CHECK(plain.find("memory") == nullptr);
  CHECK(plain.find("spare") == nullptr);
  CHECK(*plain.find("latency")->string() == "500 ns");
}

TEST_CASE("all problems of a table are reported at once, each with its position and what is allowed") {
  CHECK(errors_of("latencey = \"1 us\"\nbanana = 1\n") ==
        Lines{"b.toml:1:1: unknown key \"latencey\" in [box], did you mean \"latency\"?",
              "b.toml:1:1: missing key \"count\" in [box], expected a whole number",
              "b.toml:2:1: unknown key \"banana\" in [box], allowed: include, latency, memory, count, small, ratio, "
              "fast, label, kind, "
              "colour, sizes, tags, port, spare, ports"});
  CHECK(errors_of("count = 65\nlatency = \"2 ms\"\nratio = -0.5\nsizes = [1, 0, \"x\"]") ==
        Lines{"b.toml:1:9: \"count\": 65 is out of range, allowed: 1 to 64",
              "b.toml:2:11: \"latency\": \"2 ms\" is out of range, allowed: 0 ps to 1 ms",
              "b.toml:3:9: \"ratio\": -0.5 is out of range, allowed: 0 to 1",
              "b.toml:4:13: element of \"sizes\": 0 is out of range, allowed: at least 1",
              "b.toml:4:16: element of \"sizes\": a string is not allowed here, expected a whole number"});
  CHECK(
      errors_of("count = 4.0\nlatency = 5\nfast = 1\nlabel = true\nport = 3\nports = [1]\nsizes = 2\ntags = [1]\nkind "
                "= 2\nratio = nan") ==
      Lines{
          "b.toml:1:9: \"count\": a number with a fraction is not allowed here, expected a whole number",
          "b.toml:2:11: \"latency\": a whole number is not allowed here, expected a time such as \"500 ns\"",
          "b.toml:3:8: \"fast\": a whole number is not allowed here, expected true or false",
          "b.toml:4:9: \"label\": a boolean is not allowed here, expected a text in quotes",
          "b.toml:5:8: \"port\": a whole number is not allowed here, expected a table [box.port]",
          "b.toml:6:10: element of \"ports\": a whole number is not allowed here, expected a table",
          "b.toml:7:9: \"sizes\": a whole number is not allowed here, expected a list of whole numbers such as [1, 2]",
          "b.toml:8:9: element of \"tags\": a whole number is not allowed here, expected a text in quotes",
          "b.toml:9:8: \"kind\": a whole number is not allowed here, expected one of ring, mesh",
          "b.toml:10:9: \"ratio\": is not finite, expected a number"});
  CHECK(errors_of("count = 1\nkind = \"rign\"\ncolour = \"blue\"\nmemory = \"-1 B\"\n[[ports]]\nbandwidth = \"0 "
                  "B/s\"\n[[ports]]\n") ==
        Lines{"b.toml:2:8: \"kind\": unknown choice \"rign\" (did you mean \"ring\"?), allowed: ring, mesh",
              "b.toml:3:10: \"colour\": unknown choice \"blue\", allowed: red, green",
              "b.toml:4:10: \"memory\": \"-1 B\" is out of range, allowed: at least 0 B",
              "b.toml:6:13: \"bandwidth\": \"0 B/s\" is out of range, allowed: at least 1 B/s",
              "b.toml:7:1: missing key \"bandwidth\" in [box.port], expected a bandwidth such as \"150 GB/s\""});
  CHECK(errors_of("count = 1\nsmall = 2147483648") ==
        Lines{"b.toml:2:9: \"small\": 2147483648 is out of range, allowed: -2147483648 to 2147483647"});
}

TEST_CASE("completing a table adds the defaults it leaves out and changes nothing else") {
  const auto table = table_of("count = 4\nlatency = \"1000 ns\"\n[[ports]]\nbandwidth = \"5 B/s\"\n");
  box_schema().complete(*table);
  CHECK(*table->find("latency")->string() == "1000 ns");
  CHECK(*table->find("kind")->string() == "ring");
  CHECK(*table->find("port")->table()->find("name")->string() == "p");
  CHECK(*(*table->find("ports")->array())[0].table()->find("name")->string() == "p");
  CHECK(table->find("memory") == nullptr);
  // What was completed reads as the same object, and a second completion adds nothing.
  const std::string printed = to_toml(*table);
  box_schema().complete(*table);
  CHECK(to_toml(*table) == printed);
  CHECK(read(printed).port.bandwidth == 1'000'000'000);
}

TEST_CASE("help says type, unit, range, default and meaning") {
  std::map<std::string, ParameterHelp> help;
  for (const auto& parameter : box_schema().parameters()) help[parameter.name] = parameter;
  CHECK(help.size() == 15);
  CHECK(help["latency"].type == "time");
  CHECK(help["latency"].unit == "ps");
  CHECK(help["latency"].range == "0 ps to 1 ms");
  CHECK(help["latency"].fallback == "500 ns");
  CHECK(help["latency"].help == "delay");
  CHECK(help["count"].range == "1 to 64");
  CHECK(help["count"].fallback == "required");
  CHECK(help["memory"].fallback == "optional");
  CHECK(help["kind"].range == "ring | mesh");
  CHECK(help["ports"].range == "see box.port");
  CHECK(help["include"].help == "another file");
}

TEST_CASE("a schema that contradicts itself is an internal error where it is declared") {
  Schema<Box> s("box", "");
  CHECK_THROWS_AS(s.integer("count", &Box::count, "").otherwise("many"), InternalError);
  CHECK_THROWS_AS(s.integer("count", &Box::count, ""), InternalError);
  CHECK_THROWS_AS(s.quantity("memory", &Box::memory, Unit::bytes, "").otherwise("5 s"), InternalError);
  CHECK_THROWS_AS(s.quantity("latency", &Box::latency, Unit::time, "").at_least("5 B"), InternalError);
  CHECK_THROWS_AS(s.boolean("fast", &Box::fast, "").at_least("1"), InternalError);
  CHECK_THROWS_AS(s.choice("kind", &Box::kind, {"a", "b"}, "").otherwise("c"), InternalError);
  CHECK_THROWS_AS(s.choice("label", &Box::label, {}, ""), InternalError);
  CHECK_THROWS_AS(s.integers("sizes", &Box::sizes, "").otherwise("3"), InternalError);
  CHECK_THROWS_AS(s.number("ratio", &Box::ratio, "").at_most("1").otherwise("2"), InternalError);
}

struct Named {
  std::string table;
};

TEST_CASE("a key that names a file says so, and what is in it") {
  Schema<Named> schema("strategy.named", "For this test.");
  schema.text("table", &Named::table, "rows of two numbers").names_file();
  CHECK(schema.parameters()[0].type == "name of a file, relative to the one that it stands in");
  CHECK(schema.parameters()[0].help == "rows of two numbers");
  Diagnostics diagnostics;
  schema.check(Table({"x.toml", 3, 1}), diagnostics);
  CHECK(diagnostics.errors() == std::vector<std::string>{"x.toml:3:1: missing key \"table\" in [strategy.named], "
                                                         "expected the name of a file: rows of two numbers"});
}
