// tessera: one subcommand a file; this one parses the command line and turns problems into exit codes.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <sstream>

#include "command.hpp"
#include "on_ranks.hpp"
#include "tessera/base/heap.hpp"
#include "tessera/base/text.hpp"
#include "usage.hpp"

namespace tessera::app {
namespace {

/// One line on the first rank: under mpirun every rank has parsed the same wrong command line.
int refuse(const std::string& problem, bool is_parallel, Arguments arguments) {
  std::unique_ptr<Ranks> ranks;
  if (is_parallel) ranks = std::make_unique<Ranks>(arguments);
  if (!ranks || ranks->is_first()) std::fprintf(stderr, "%s\n", problem.c_str());
  return static_cast<int>(ExitCode::bad_input);
}

int run(int argc, char** argv) {
  std::string mpi = "auto";
  const Arguments arguments{argc, argv, mpi};
  CLI::App app("Tessera simulates large machine-learning jobs on machines that you do not have.", "tessera");
  app.set_version_flag("--version", "tessera " TESSERA_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 2 bad input, 3 the plan does not fit, deadlocks or takes too long, 4 a file or this "
      "computer's memory fails it, or a signal ends it, 5 internal error.");
  const std::vector<Command> on_ranks{add_run(app, arguments), add_plan(app, arguments), add_sweep(app, arguments),
                                      add_train(app, arguments)};
  for (const Command& command : on_ranks) {
    command.options->add_option("--mpi", mpi, "whether MPI is started; auto: where a launcher has started this process")
        ->check(CLI::IsMember({"auto", "on", "off"}))
        ->capture_default_str();
  }
  std::vector<Command> commands{
      add_merge(app, arguments), add_check(app), add_show(app),      add_timeline(app), add_list(app),
      add_import(app),           add_help(app),  add_completion(app)};
  commands.insert(commands.begin(), on_ranks.begin(), on_ranks.end());
  try {
    app.parse(arguments.count, arguments.values);
  } catch (const CLI::Success& asked) {
    std::ostringstream text;  // --help and --version
    static_cast<void>(app.exit(asked, text, text));
    return static_cast<int>(guarded(false, [&] {
      print(text.str());
      return ExitCode::done;
    }));
  } catch (const CLI::ParseError& error) {
    const auto is_chosen = [](const Command& command) { return command.options->parsed(); };
    return refuse(one_line(usage_problem(app, error)), std::ranges::any_of(on_ranks, is_chosen), arguments);
  }
  for (const Command& command : commands) {
    if (command.options->parsed()) return static_cast<int>(command.run());
  }
  return static_cast<int>(ExitCode::bad_input);
}

}  // namespace
}  // namespace tessera::app

int main(int argc, char** argv) {
  // A limit on the size of files is then an error of the call that meets it, as a full disk is, and not a signal.
  std::signal(SIGXFSZ, SIG_IGN);
  // The number of a standard stream that is closed would go to the next file that is opened, and text into that file.
  int descriptor = STDIN_FILENO;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = open("/dev/null", O_RDONLY);
  close(descriptor);
  tessera::use_huge_pages();
  return tessera::app::run(argc, argv);
}
