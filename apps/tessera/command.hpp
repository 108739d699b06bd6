// What the subcommands share. Each lives in one file and adds itself to the command line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tessera/base/error.hpp"

namespace CLI {
class App;
}

namespace tessera::app {

/// A subcommand on the command line, and what it does when it is chosen.
struct Command {
  CLI::App* options = nullptr;
  std::function<ExitCode()> run;
};

/// The program's own arguments, for MPI and for the record.
struct Arguments {
  int& count;
  char**& values;
  const std::string& mpi;  ///< --mpi: "auto", "on" or "off"
  [[nodiscard]] std::string text() const;
};

Command add_run(CLI::App& app, Arguments arguments);
Command add_plan(CLI::App& app, Arguments arguments);
Command add_train(CLI::App& app, Arguments arguments);
Command add_sweep(CLI::App& app, Arguments arguments);
Command add_check(CLI::App& app);
Command add_show(CLI::App& app);
Command add_merge(CLI::App& app, Arguments arguments);
Command add_timeline(CLI::App& app);
Command add_list(CLI::App& app);
Command add_import(CLI::App& app);
Command add_help(CLI::App& app);
Command add_completion(CLI::App& app);

/// Runs `action`; what it throws becomes lines on standard error (unless `silent`) and the exit code.
ExitCode guarded(bool silent, const std::function<ExitCode()>& action);
/// Text on standard output; IoError when it cannot be written there.
void print(const std::string& text);
/// "warning: text" on standard error; nothing for an empty text.
void warn(const std::string& text);
/// A violated invariant: the message with the request for a report.
[[nodiscard]] std::string internal_message(const std::string& what);

}  // namespace tessera::app
