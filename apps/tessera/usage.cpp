#include "usage.hpp"

#include <CLI/CLI.hpp>

#include "tessera/base/config.hpp"

namespace tessera::app {
namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::string guess_text(const std::string& word, const std::vector<std::string>& choices) {
  const std::string guess = config::did_you_mean(word, choices);
  return guess.empty() ? "" : " (did you mean " + guess + "?)";
}

}  // namespace

std::string usage_problem(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::string name = chosen.empty() ? "tessera" : "tessera " + command.get_name();
  const std::string where = "; see " + name + " --help";
  std::vector<std::string> left = command.remaining();
  for (const std::string& word : app.remaining()) left.push_back(word);
  if (!left.empty()) {
    const std::string& word = left.front();
    if (word.starts_with("-"))
      return name + ": unknown option " + word + guess_text(word, option_names(command)) + where;
    if (!chosen.empty()) return name + ": unexpected argument '" + word + "'" + where;
    return name + ": unknown command '" + word + "'" + guess_text(word, command_names(app)) +
           ", allowed: " + config::listed(command_names(app));
  }
  if (chosen.empty()) return name + ": a command is needed, one of " + config::listed(command_names(app));
  std::string what = error.what();
  if (const std::size_t end = what.find('\n'); end != std::string::npos) what.resize(end);
  return name + ": " + what + where;
}

}  // namespace tessera::app
