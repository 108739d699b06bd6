// tessera help: every parameter of an experiment, from the schemas that also read it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <set>

#include "command.hpp"
#include "tessera/base/foreign_words.hpp"
#include "tessera/experiment/experiment.hpp"

namespace tessera::app {
namespace {

using Schemas = std::vector<config::SchemaPointer>;

constexpr std::size_t text_width = 100;

/// Words on lines of text_width characters, all but the first indented.
std::string wrapped(const std::string& text, std::size_t indent) {
  std::string result;
  std::size_t column = indent;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (begin > 0 && column + 1 + (end - begin) > text_width) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (begin > 0) {
      result += ' ';
      ++column;
    }
    result += text.substr(begin, end - begin);
    column += end - begin;
    begin = end + 1;
  }
  return result;
}

std::string entry_line(std::size_t width, const std::string& name, const std::string& help) {
  return fmt::format("  {:<{}}  {}\n", name, width, wrapped(help, width + 4));
}

std::string overview(const Schemas& schemas) {
  std::size_t width = 0;
  for (const auto& schema : schemas) width = std::max(width, schema->path().size());
  std::string text =
      "tessera help SECTION... prints the parameters of a section: type, unit, range, default, meaning; tessera help "
      "KEY...\nthose of all sections that have the key; tessera help VALUE... the keys that can be that word."
      "\n\nSections:\n";
  for (const auto& schema : schemas) text += entry_line(width, schema->path(), schema->help());
  text += entry_line(width, "units", "the units that quantities are written in");
  std::string family;
  for (const auto& choice : experiment::choices()) {
    if (choice.family != family) text += "\nChoices of " + choice.family + ":\n";
    family = choice.family;
    text += entry_line(width, choice.name, choice.help);
  }
  return text;
}

std::string parameter_text(const config::ParameterHelp& p) {
  std::string facts = p.type + (p.unit.empty() ? "" : " (" + p.unit + ")");
  for (const auto& [label, value] : {std::pair{"", p.range}, std::pair{"default ", p.fallback}}) {
    const bool plain = value == "required" || value == "optional";
    if (!value.empty()) facts += (facts.empty() ? "" : ", ") + (plain ? "" : std::string(label)) + value;
  }
  return "  " + p.name + (facts.empty() ? "" : ": " + wrapped(facts, p.name.size() + 4)) + "\n      " +
         wrapped(p.help, 6) + "\n";
}

std::string section(const config::SchemaBase& schema) {
  std::string text = schema.path() + ": " + wrapped(schema.help(), schema.path().size() + 2) + "\n";
  for (const auto& p : schema.parameters()) text += "\n" + parameter_text(p);
  return text;
}

/// Of a key in all sections that have it, or, as "strategy.tensor", in those at that path and below it.
std::string key_text(const std::string& path, const Schemas& schemas) {
  const std::size_t dot = path.rfind('.');
  const std::string name = path.substr(dot + 1), above = dot == std::string::npos ? "" : path.substr(0, dot);
  std::string text;
  for (const auto& schema : schemas) {
    if (!above.empty() && schema->path() != above && !schema->path().starts_with(above + ".")) continue;
    for (const auto& parameter : schema->parameters()) {
      if (parameter.name != name) continue;
      text += (text.empty() ? "[" : "\n[") + schema->path() + "]\n" + parameter_text(parameter);
    }
  }
  return text;
}

/// Of the keys that can be this word.
std::string value_text(const std::string& word, const Schemas& schemas) {
  std::string text;
  for (const auto& schema : schemas) {
    std::string keys;
    for (const auto& parameter : schema->parameters()) {
      const std::vector<config::Value> values = schema->values_of(parameter.name);
      const auto is_word = [&](const config::Value& value) { return value.string() && *value.string() == word; };
      if (std::ranges::any_of(values, is_word)) keys += parameter_text(parameter);
    }
    if (!keys.empty()) text += (text.empty() ? "[" : "\n[") + schema->path() + "]\n" + keys;
  }
  return text;
}

std::string units() {
  using config::Unit;
  std::string text =
      "units: A quantity is a text: a number and a unit, \"150 GB/s\". k, M, G, T, P are powers of 1000 (GB = 10^9 "
      "bytes), Ki, Mi, "
      "Gi, Ti, Pi of 1024\n(GiB = 2^30 bytes), b are bits (Gb/s = 10^9 bits per second, which may be written Gbps "
      "or Gbit/s). Bandwidths are per\ndirection. A micro sign is a u.\n\n";
  for (const auto& [name, unit] : {std::pair{"time", Unit::time}, std::pair{"size", Unit::bytes},
                                   std::pair{"bandwidth", Unit::bandwidth}, std::pair{"compute rate", Unit::compute},
                                   std::pair{"frequency", Unit::frequency}, std::pair{"length", Unit::length}}) {
    text += entry_line(14, name, fmt::format("{}", fmt::join(config::unit_suffixes(unit), " ")));
  }
  return text;
}

bool is_path(const std::string& path, const Schemas& schemas) {
  return std::any_of(schemas.begin(), schemas.end(), [&](const auto& schema) { return schema->path() == path; });
}

/// Paths of the sections that tell of a part by its name alone: of "megatron" strategy.megatron, of a collective
/// algorithm the section in which it is chosen.
std::vector<std::string> paths_of(const std::string& name, const Schemas& schemas) {
  std::set<std::string> paths;
  for (const auto& schema : schemas) {
    if (schema->path().ends_with("." + name)) paths.insert(schema->path());
  }
  for (const auto& choice : experiment::choices()) {
    if (choice.name != name) continue;
    std::string path = choice.family + "." + name;
    while (!is_path(path, schemas) && path.find('.') != std::string::npos) path.resize(path.rfind('.'));
    if (is_path(path, schemas)) paths.insert(path);
  }
  return {paths.begin(), paths.end()};
}

/// What can be asked for: sections first, then their keys and what can be chosen.
std::vector<std::string> known_words(const Schemas& schemas) {
  std::vector<std::string> known{"units"};
  for (const auto& schema : schemas) known.push_back(schema->path());
  for (const auto& choice : experiment::choices()) known.push_back(choice.name);
  for (const auto& schema : schemas) {
    for (const auto& parameter : schema->parameters()) known.push_back(parameter.name);
  }
  return known;
}

/// A path is one of this program's own.
bool is_word(const std::string& word) { return word.find('.') == std::string::npos; }

/// Of a word that other tools have for a key or a value: what that is called here, and the key.
std::string translated(const std::string& word, const Schemas& schemas) {
  const config::ForeignWord* row = is_word(word) ? config::find_foreign_word(word) : nullptr;
  if (row == nullptr) return "";
  std::string text;
  for (const std::string& name : config::names_here(*row))
    text += (text.empty() ? "" : "\n") + (is_word(name) ? value_text(name, schemas) : key_text(name, schemas));
  return text.empty() ? "" : word + ": " + config::foreign_hint(word) + "\n\n" + text;
}

[[noreturn]] void refuse_word(const std::string& word, const Schemas& schemas) {
  const std::string foreign = is_word(word) ? config::foreign_hint(word) : "";
  if (!foreign.empty()) throw InputError("tessera help: \"" + word + "\": " + foreign);
  throw InputError("tessera help: unknown section or key \"" + word + "\"" +
                   config::suggestion(word, known_words(schemas)) +
                   ", allowed: a key, a word that is the value of one, or a section that `tessera help` lists");
}

/// One section, by its path or by the last part of it; those below a path when it is none itself ("strategy"); a key of
/// whatever sections; a value of whatever keys.
std::string find_help(const std::string& path, const Schemas& schemas) {
  if (path == "units") return units();
  std::string text;
  for (const auto& schema : schemas) {
    if (schema->path() == path) return section(*schema);
    if (schema->path().starts_with(path + ".")) text += (text.empty() ? "" : "\n") + section(*schema);
  }
  if (!text.empty()) return text;
  const std::vector<std::string> paths = paths_of(path, schemas);
  text = key_text(path, schemas);
  if (paths.size() == 1) return text + (text.empty() ? "" : "\n") + find_help(paths.front(), schemas);
  const std::string of_values = value_text(path, schemas);
  text += (text.empty() || of_values.empty() ? "" : "\n") + of_values;
  if (paths.size() > 1)
    text += fmt::format("{}{} is in the sections {}\n", text.empty() ? "" : "\n", path, fmt::join(paths, ", "));
  if (text.empty()) text = translated(path, schemas);
  if (text.empty()) refuse_word(path, schemas);
  return text;
}

}  // namespace

Command add_help(CLI::App& app) {
  auto sections = std::make_shared<std::vector<std::string>>();
  CLI::App* options =
      app.add_subcommand("help", "Print each parameter of an experiment: type, unit, range, default, meaning.");
  options->add_option(
      "WORD", *sections,
      "a section, a key or a value, such as machine.gpu, global_batch or dualpipe; none: the list of sections");
  return {options, [sections] {
            return guarded(false, [&] {
              const Schemas schemas = experiment::schemas();
              std::string text = sections->empty() ? overview(schemas) : "";
              for (const std::string& path : *sections) text += (text.empty() ? "" : "\n") + find_help(path, schemas);
              print(text);
              return ExitCode::done;
            });
          }};
}

}  // namespace tessera::app
