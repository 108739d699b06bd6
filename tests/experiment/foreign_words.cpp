// The table of other tools' words against what there is: rows name keys and values that exist, and no word is one.
#include "tessera/base/foreign_words.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "support/source_folder.hpp"
#include "tessera/experiment/experiment.hpp"

namespace tessera::experiment {
namespace {

std::set<std::string> keys() {
  std::set<std::string> all;
  for (const auto& schema : schemas())
    for (const auto& parameter : schema->parameters()) all.insert(schema->path() + "." + parameter.name);
  return all;
}

/// Names that an experiment can give: parts by registration, values of choices, machines, datatypes.
std::set<std::string> values() {
  std::set<std::string> all;
  for (const Choice& choice : choices()) all.insert(choice.name);
  for (const Listed& machine : list(Listing::machines, {tessera::test::source_folder() + "/inputs"}))
    all.insert(machine.name);
  for (const auto& schema : schemas())
    for (const auto& parameter : schema->parameters())
      for (const config::Value& value : schema->values_of(parameter.name))
        if (value.string() != nullptr) all.insert(*value.string());
  return all;
}

}  // namespace

TEST_CASE("what other tools' words are said to be is there") {
  const std::set<std::string> known_keys = keys(), known_values = values();
  for (const config::ForeignWord& row : config::foreign_words()) {
    for (const std::string& name : config::names_here(row)) {
      INFO(name);
      CHECK((name.find('.') == std::string::npos ? known_values : known_keys).contains(name));
    }
  }
}

TEST_CASE("no value that can be given is said to be another one, or not modelled") {
  for (const std::string& value : values()) {
    INFO(value);
    const config::ForeignWord* row = config::find_foreign_word(value);
    if (row == nullptr) continue;
    // A key may be called as a value is, such as "tensor"; that row translates a key.
    CHECK((!row->here.empty() && row->here.find('.') != std::string_view::npos));
  }
}

}  // namespace tessera::experiment
