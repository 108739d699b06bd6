// tessera merge: the points of a sweep, from the folders in which it was carried out, as one table.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "command.hpp"
#include "tessera/base/text.hpp"
#include "tessera/results/points.hpp"
#include "tessera/results/sweep_folder.hpp"

namespace tessera::app {
namespace {

struct MergeOptions {
  std::vector<std::string> folders;
  std::string output, csv, command;
  bool force = false;
};

void warn_of_missing(const std::vector<std::int64_t>& missing) {
  if (missing.empty()) return;
  warn(one_line(fmt::format("{} {} missing: {}", missing.size(), missing.size() == 1 ? "point is" : "points are",
                            results::number_ranges(missing))));
}

ExitCode merge(const MergeOptions& options) {
  const results::Replacing at_output = results::check_output(options.output, options.force);
  const results::Replacing at_csv =
      options.csv.empty() ? results::Replacing{} : results::check_output(options.csv, options.force);
  if (options.csv == options.output) throw InputError("tessera merge: -o and --csv name one file");
  results::Merged merged = results::merge(options.folders);
  for (const std::string& folder : merged.unchecked)
    warn(
        fmt::format("the rows of '{}' have no checksums (an earlier Tessera wrote them): damage to them would not be "
                    "seen",
                    one_line(folder)));
  warn(one_line(results::damage_text(merged.damaged)));
  warn_of_missing(merged.missing);
  merged.table.provenance.push_back({"command", options.command, "The command line."});
  results::write_points(options.output, merged.table, at_output);
  if (!options.csv.empty()) results::write_text(options.csv, results::to_csv(merged.table), at_csv);
  print(fmt::format("{} points in '{}'\n", merged.table.rows.size(), options.output));
  return ExitCode::done;
}

}  // namespace

Command add_merge(CLI::App& app, Arguments arguments) {
  auto o = std::make_shared<MergeOptions>();
  CLI::App* options = app.add_subcommand("merge", "Make one table of the points of a sweep.");
  options->add_option("DIR", o->folders, "folders of one sweep: what tessera sweep -o has filled")->required();
  options->add_option("-o,--output", o->output, "the table to write (HDF5)")->required();
  options->add_option("--csv", o->csv, "the same as comma-separated values");
  options->add_flag("--force", o->force, "replace existing outputs");
  return {options, [o, arguments] {
            o->command = arguments.text();
            return guarded(false, [&] { return merge(*o); });
          }};
}

}  // namespace tessera::app
