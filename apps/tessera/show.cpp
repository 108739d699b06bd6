// tessera show: the summary of a result file.
#include <CLI/CLI.hpp>

#include "command.hpp"
#include "tessera/results/results.hpp"

namespace tessera::app {

Command add_show(CLI::App& app) {
  auto path = std::make_shared<std::string>();
  CLI::App* options = app.add_subcommand("show", "Print the summary of a result file.");
  options->add_option("RESULT", *path, "a result of tessera run (HDF5)")->required();
  return {options, [path] {
            return guarded(false, [&] {
              print(results::summary(*path));
              warn(results::unchecked(*path));
              return ExitCode::done;
            });
          }};
}

}  // namespace tessera::app
