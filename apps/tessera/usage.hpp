// Mistakes on the command line, in one line each.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace tessera::app {

/// What is wrong and what is allowed: "tessera run: unknown option --forse (did you mean --force?); see tessera run
/// --help".
[[nodiscard]] std::string usage_problem(const CLI::App& app, const CLI::ParseError& error);

}  // namespace tessera::app
