// The part of YAML that configurations are written in.
#include <catch2/catch.hpp>

#include "experiment/import/yaml.hpp"

namespace tessera::experiment::importing {
namespace {

using Lines = std::vector<std::string>;

std::string as_toml(const std::string& text) {
  config::Diagnostics diagnostics;
  const auto table = parse_yaml(text, "c.yaml", diagnostics);
  CHECK(diagnostics.errors() == Lines{});
  return table == nullptr ? "" : config::to_toml(*table);
}

Lines yaml_errors(const std::string& text) {
  config::Diagnostics diagnostics;
  CHECK(parse_yaml(text, "c.yaml", diagnostics) == nullptr);
  return diagnostics.errors();
}

}  // namespace

TEST_CASE("scalars of YAML have the types of TOML, and null is absent") {
  CHECK(as_toml("---\na: 8 # eight\nb: 0.5\nc: 1.0e-05\nd: True\ne: false\nf: null\ng: ~\nh:\ni: 'x # y'\nj: \"8\"\nk: "
                "fast-swiglu\n") ==
        "a = 8\nb = 0.5\nc = 1e-05\nd = true\ne = false\ni = \"x # y\"\nj = \"8\"\nk = \"fast-swiglu\"\n");
}

TEST_CASE("mappings and lists by indentation or in brackets") {
  CHECK(as_toml("m:\n  a: 1\n  n:\n    b: 2\n  c: 3\nl:\n- 1\n- [2, 'x, y']\nk:\n  - p: 1\n    q: 2\n  - r\nf: {a: 1, "
                "b: [2,\n   3]}\n") ==
        "l = [1, [2, \"x, y\"]]\nk = [{ p = 1, q = 2 }, \"r\"]\n\n[m]\na = 1\nc = 3\n\n[m.n]\nb = 2\n\n[f]\na = 1\nb = "
        "[2, 3]\n");
  CHECK(as_toml("t: |\n  one\n  two: 3\nu: 1\n") == "t = \"one\\ntwo: 3\"\nu = 1\n");
}

TEST_CASE("of a key that is there twice the last counts, with a warning") {
  config::Diagnostics diagnostics;
  const auto table = parse_yaml("a: 1\na: 2\n", "c.yaml", diagnostics);
  CHECK(config::to_toml(*table) == "a = 2\n");
  CHECK(diagnostics.warnings() == Lines{"c.yaml:2:1: \"a\" is there twice, the last one counts as it does in PyYAML"});
}

TEST_CASE("places are those of keys and values") {
  config::Diagnostics diagnostics;
  const auto table = parse_yaml("a:\n  bcd: 8\n", "c.yaml", diagnostics);
  const config::Value* value = table->find("a")->table()->find("bcd");
  CHECK(config::to_string(value->key_where()) == "c.yaml:2:3");
  CHECK(config::to_string(value->where()) == "c.yaml:2:8");
}

TEST_CASE("what else YAML has is refused at its place") {
  CHECK(yaml_errors("a: &x 1\n") == Lines{"c.yaml:1:4: YAML: \"&x 1\": anchors and tags are not read here"});
  CHECK(yaml_errors("a:\n    b: 1\n  c: 2\n") == Lines{"c.yaml:3:3: YAML: indented more than its neighbours"});
  CHECK(yaml_errors("a: 1\n   b: 2\n") == Lines{"c.yaml:2:4: YAML: indented more than its neighbours"});
  CHECK(yaml_errors("a: [1, 2\n") == Lines{"c.yaml:1:4: YAML: a bracket that nothing closes"});
  CHECK(yaml_errors("just words\n") == Lines{"c.yaml:1:1: YAML: expected \"key: value\", found \"just words\""});
  CHECK(yaml_errors("- 1\n") == Lines{"c.yaml:1:1: YAML: expected a mapping, such as \"model:\""});
  CHECK(yaml_errors("# nothing\n") == Lines{"c.yaml:1:1: YAML: expected a mapping, such as \"model:\""});
  CHECK(yaml_errors("<<: *x\n") == Lines{"c.yaml:1:1: YAML: \"<<\" is no key that is read here"});
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  CHECK(yaml_errors(deep).front().find("more than 256 levels") != std::string::npos);
}

}  // namespace tessera::experiment::importing
