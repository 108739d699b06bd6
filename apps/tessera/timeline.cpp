// tessera timeline: the recorded intervals of a result file as a trace for Perfetto or chrome://tracing.
#include <CLI/CLI.hpp>

#include "command.hpp"
#include "tessera/results/results.hpp"

namespace tessera::app {
namespace {

struct Options {
  std::string path, output;
  bool force = false;
};

}  // namespace

Command add_timeline(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* options = app.add_subcommand("timeline", "Export a recorded timeline as a Chrome/Perfetto trace.");
  options->add_option("RESULT", o->path, "a result of tessera run with [record] timeline = true")->required();
  options->add_option("-o,--output", o->output, "the trace to write (JSON; https://ui.perfetto.dev opens it)")
      ->required();
  options->add_flag("--force", o->force, "replace an existing output");
  return {options, [o] {
            return guarded(false, [&] {
              results::check_output(o->output, o->force);
              results::export_timeline(o->path, o->output);
              warn(results::unchecked(o->path));
              return ExitCode::done;
            });
          }};
}

}  // namespace tessera::app
