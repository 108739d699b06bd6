// What bad model files in TOML get: the exact message.
#include "models_from.hpp"

namespace tessera::workload {
namespace {

/// Six lines: keys that a test adds start in line 7.
const std::string good = "name = \"m\"\nlayers = 2\nhidden = 64\nheads = 4\nvocabulary = 100\nmax_positions = 32\n";

TEST_CASE("the smallest model file is accepted, and what it leaves out is filled in") {
  config::Diagnostics diagnostics;
  const Model model = read_model_file(good, "m.toml", diagnostics);
  CHECK(diagnostics.ok());
  CHECK(model.kv_heads == 4);
  CHECK(model.head_dim == 16);
  CHECK(model.ffn_hidden == 256);
}

TEST_CASE("heads, and heads of keys and values") {
  CHECK(errors_of("name = \"m\"\nlayers = 2\nhidden = 64\nheads = 7\nvocabulary = 100\nmax_positions = 32\n") ==
        Names{"m.toml:4:9: \"heads\": 7 does not divide hidden, which is 64; give head_dim where a model means it so"});
  CHECK(errors_of(good + "kv_heads = 3\n") == Names{"m.toml:7:12: \"kv_heads\": 3 does not divide heads, which is 4"});
  // A head size of its own makes any number of heads right.
  CHECK(errors_of("name = \"m\"\nlayers = 2\nhidden = 64\nheads = 7\nhead_dim = 16\nvocabulary = 100\n"
                  "max_positions = 32\n") == Names{});
}

TEST_CASE("experts") {
  CHECK(errors_of(good + "experts_per_token = 2\n") ==
        Names{"m.toml:7:21: \"experts_per_token\": 2 in a model without experts, allowed: 0"});
  CHECK(errors_of(good + "shared_experts = 1\n") ==
        Names{"m.toml:7:18: \"shared_experts\": 1 in a model without experts, allowed: 0"});
  CHECK(errors_of(good + "experts = 8\nexperts_per_token = 9\n") ==
        Names{"m.toml:8:21: \"experts_per_token\": 9 is out of range, allowed: 1 to 8 (experts)"});
  CHECK(errors_of(good + "experts = 8\n") ==
        Names{"m.toml:1:1: \"experts_per_token\": 0 is out of range, allowed: 1 to 8 (experts)"});
}

TEST_CASE("kinds of layers, and their sequence") {
  const std::string kinds = "[[layer_kinds]]\nname = \"a\"\n[[layer_kinds]]\nname = \"b\"\nheads = 8\n";
  CHECK(errors_of(good + "layer_sequence = [\"a\", \"b\"]\n" + kinds) == Names{});
  CHECK(errors_of(good + "layer_sequence = [\"a\"]\n") ==
        Names{"m.toml:7:18: \"layer_sequence\": it names kinds, and the model has none"});
  CHECK(errors_of(good + kinds) == Names{"m.toml:1:1: \"layer_sequence\": no layer is of kind \"a\""});
  CHECK(errors_of(good + "layer_sequence = [\"a * 2\"]\n" + kinds) ==
        Names{"m.toml:7:18: \"layer_sequence\": no layer is of kind \"b\""});
  CHECK(errors_of(good + "layer_sequence = [\"a\", \"b * 2\"]\n" + kinds) ==
        Names{"m.toml:7:18: \"layer_sequence\": it lists 3 layers, allowed: up to 2"});
  const auto wrong = [](const std::string& text) {
    return Names{"m.toml:7:18: \"layer_sequence\": \"" + text +
                 "\", allowed: a, b, and how many of them, such as \"a * 2\", up to 2"};
  };
  for (const std::string text : {"c", "a * 0", "a * x", "a * 3", "* 2", "a * 1 * 1", "a * 9999999999999999999"})
    CHECK(errors_of(good + "layer_sequence = [\"" + text + "\"]\n" + kinds) == wrong(text));
  // A key of a kind is named where it stands.
  CHECK(errors_of(good + "layer_sequence = [\"a\"]\n[[layer_kinds]]\nname = \"a\"\nkv_heads = 3\n") ==
        Names{"m.toml:10:12: \"kv_heads\": 3 does not divide heads, which is 4"});
  CHECK(errors_of(good + "layer_sequence = [\"a\"]\n[[layer_kinds]]\nname = \"a\"\nlayers = 3\n") ==
        Names{"m.toml:10:1: unknown key \"layers\" in [model.layer_kinds], it is \"layers\" of [model] here"});
  CHECK(errors_of(good + "causal = false\nsliding_window = 3\n") ==
        Names{"m.toml:8:18: \"sliding_window\": a token sees those before it: causal = true, or 0"});
}

TEST_CASE("values out of range, missing and misspelt keys") {
  CHECK(errors_of("name = \"m\"\nlayers = 0\nhidden = -64\nheads = 4\nvocabulary = 100\nmax_positions = 32\n") ==
        Names{"m.toml:2:10: \"layers\": 0 is out of range, allowed: 1 to 100000",
              "m.toml:3:10: \"hidden\": -64 is out of range, allowed: 1 to 10000000"});
  CHECK(errors_of(good + "hiden = 3\n") ==
        Names{"m.toml:7:1: unknown key \"hiden\" in [model], did you mean \"hidden\"?"});
  CHECK(errors_of("name = \"m\"\nlayers = 2\nhidden = 64\nvocabulary = 100\n") ==
        Names{"m.toml:1:1: missing key \"heads\" in [model], expected a whole number"});
  CHECK(
      errors_of(good + "position = \"rotory\"\n") ==
      Names{
          "m.toml:7:12: \"position\": unknown choice \"rotory\" (did you mean \"rotary\"?), allowed: learned, rotary, "
          "alibi, none"});
  CHECK(errors_of("name = \"m\"\nlayers = 2\nhidden = 64\nheads = 4\nvocabulary = 100\n") ==
        Names{"m.toml:1:1: \"max_positions\": 0 is out of range where positions are learned, allowed: at least 1"});
  CHECK(errors_of(
            "name = \"m\"\nlayers = 100000\nhidden = 10000000\nheads = 4\nvocabulary = 100\nmax_positions = 32\n") ==
        Names{"m.toml:3:10: \"hidden\": a model of more than 10^16 parameters (100000 layers, hidden 10000000, 0 "
              "experts)"});
}

TEST_CASE("truncated TOML") {
  const Names errors = errors_of("name = \"m\"\nlayers = ");
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].rfind("m.toml:2:", 0) == 0);
}

}  // namespace
}  // namespace tessera::workload
