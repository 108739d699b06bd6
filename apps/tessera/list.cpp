// tessera list: the machines, models, recipes, experiments and sweeps that come with it, or that TESSERA_INPUTS names.
// Never starts MPI.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "command.hpp"
#include "tessera/experiment/experiment.hpp"

namespace tessera::app {
namespace {

using experiment::Listing;

const std::map<std::string, Listing>& listings() {
  static const std::map<std::string, Listing> all{{"machines", Listing::machines},
                                                  {"models", Listing::models},
                                                  {"recipes", Listing::recipes},
                                                  {"experiments", Listing::experiments},
                                                  {"sweeps", Listing::sweeps}};
  return all;
}

ExitCode list(Listing what) {
  const std::vector<experiment::Listed> all = experiment::list(what, experiment::input_folders());
  if (all.empty()) warn("there are none: no folder inputs/ is beside the program; TESSERA_INPUTS can name one");
  std::size_t width = 0, of_calibrated = 0;
  for (const experiment::Listed& one : all) {
    width = std::max(width, one.name.size());
    of_calibrated = std::max(of_calibrated, one.calibrated.size());
  }
  std::string text;
  for (const experiment::Listed& one : all) {
    const std::string calibrated =
        one.calibrated.empty() ? "" : fmt::format("calibrated: {:<{}}  ", one.calibrated, of_calibrated);
    text += fmt::format("{:<{}}  {}{}\n", one.name, width, calibrated, one.description);
  }
  print(text);
  return ExitCode::done;
}

}  // namespace

Command add_list(CLI::App& app) {
  auto what = std::make_shared<std::string>();
  CLI::App* options =
      app.add_subcommand("list", "List what comes with Tessera: machines, models, recipes, experiments, sweeps.");
  options
      ->add_option("WHAT", *what, "machines, models, recipes, experiments or sweeps, as found under the input folders")
      ->required()
      ->check(CLI::IsMember({"machines", "models", "recipes", "experiments", "sweeps"}));
  return {options, [what] { return guarded(false, [&] { return list(listings().at(*what)); }); }};
}

}  // namespace tessera::app
