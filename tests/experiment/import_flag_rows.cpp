// Rows of options: each has a key that is there, or a word that says why not.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "experiment/import/flags.hpp"
#include "tessera/base/foreign_words.hpp"
#include "tessera/experiment/experiment.hpp"

namespace tessera::experiment {

TEST_CASE("every row of options has a key that is there, and every choice is one") {
  std::set<std::string> keys;
  std::map<std::string, std::set<std::string>> choices_of;
  for (const auto& schema : schemas()) {
    for (const auto& parameter : schema->parameters()) {
      std::string path = schema->path() + "." + parameter.name;
      if (path.starts_with("strategy.megatron.")) path.erase(8, 9);
      keys.insert(path);
      for (const config::Value& value : schema->values_of(parameter.name)) {
        if (const std::string* text = value.string()) choices_of[path].insert(*text);
        if (const bool* truth = std::get_if<bool>(&value.content())) choices_of[path].insert(*truth ? "true" : "false");
      }
    }
  }
  for (const importing::FlagRow& row : importing::flag_rows()) {
    if (row.key.empty() || row.key == "-") continue;
    INFO(row.flags << " -> " << row.key);
    CHECK(keys.contains(std::string(row.key)));
    std::string_view words = row.words;
    while (!words.empty()) {
      const std::size_t end = std::min(words.find(' '), words.size());
      const std::string_view word = words.substr(0, end);
      const std::size_t equals = word.find('=');
      const bool is_fixed = row.conversion == importing::Conversion::fixed;
      if (is_fixed || equals != std::string_view::npos)
        CHECK(choices_of[std::string(row.key)].contains(std::string(is_fixed ? word : word.substr(equals + 1))));
      words.remove_prefix(std::min(end + 1, words.size()));
    }
  }
}

TEST_CASE("a row without a key has one of other tools' words, or is said not to be modelled") {
  using importing::Conversion;
  for (const importing::FlagRow& row : importing::flag_rows()) {
    const bool converts = row.conversion == Conversion::whole || row.conversion == Conversion::on ||
                          row.conversion == Conversion::off || row.conversion == Conversion::word ||
                          row.conversion == Conversion::fixed;
    if (!converts || !row.key.empty()) continue;
    std::string_view flags = row.flags;
    while (!flags.empty()) {
      const std::size_t end = std::min(flags.find(' '), flags.size());
      INFO(flags.substr(0, end));
      const config::ForeignWord* word = config::find_foreign_word(flags.substr(0, end));
      REQUIRE(word != nullptr);
      CHECK(config::names_here(*word).size() <= 1);
      flags.remove_prefix(std::min(end + 1, flags.size()));
    }
  }
}

}  // namespace tessera::experiment
