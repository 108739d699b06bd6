// tessera import: an experiment from what another tool is given. Never starts MPI.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "command.hpp"
#include "tessera/experiment/import.hpp"
#include "tessera/results/results.hpp"

namespace tessera::app {
namespace {

struct ImportOptions {
  experiment::ImportRequest request;
  std::vector<std::string> settings, variables;
  bool force = false;
};

std::string format_lines() {
  std::string text = "Formats:\n";
  for (const experiment::Choice& format : experiment::import_formats())
    text += fmt::format("  {:<13} {}\n", format.name, format.help);
  return text + "docs/from-other-tools.md says what becomes of what.";
}

ExitCode import_job(const ImportOptions& options) {
  experiment::ImportRequest request = options.request;
  for (const std::string& text : options.settings) request.settings.push_back(experiment::parse_setting(text));
  for (const std::string& text : options.variables) {
    experiment::Setting variable = experiment::parse_setting(text);
    variable.origin = "--var " + variable.key;
    request.variables.push_back(std::move(variable));
  }
  request.folders = experiment::input_folders();
  results::Replacing standing;
  if (!request.output.empty()) {
    results::check_distinct(request.output, request.files);
    standing = results::check_output(request.output, options.force);
  }
  config::Diagnostics diagnostics;
  const std::string text = experiment::import_experiment(request, diagnostics);
  diagnostics.throw_if_errors();
  for (const std::string& warning : diagnostics.warnings()) warn(warning);
  if (request.output.empty())
    print(text);
  else
    results::write_text(request.output, text, standing);
  return ExitCode::done;
}

}  // namespace

Command add_import(CLI::App& app) {
  auto o = std::make_shared<ImportOptions>();
  CLI::App* options = app.add_subcommand(
      "import", "Write an experiment from a job of another tool: Megatron-LM, NeMo, Calculon, Hugging Face, Chakra.");
  options->add_option("FILE", o->request.files, "the files of one job, in any order, or a folder of them")->required();
  options->add_option("-o,--output", o->request.output, "the experiment to write; standard output when absent");
  std::vector<std::string> names;
  for (const experiment::Choice& format : experiment::import_formats()) names.push_back(format.name);
  options->add_option("--format", o->request.format, "what the files are, where they do not show it")
      ->check(CLI::IsMember(names));
  options->add_option("--machine", o->request.machine, "the machine; where the files name its device it is found");
  options->add_option("--nodes", o->request.nodes, "nodes of the machine, over what the files say")
      ->check(CLI::Range(1, 1048576));
  options->add_option("--recipe", o->request.recipe, "what the software stack does, over what the files hint at");
  const auto add_list = [&](const char* name, std::vector<std::string>& values, const char* type, const char* help) {
    options->add_option(name, values, help)
        ->type_name(type)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
  };
  add_list("--without", o->request.without, "NAME",
           "leave out what the files call so, although it changes the computation; repeatable");
  add_list("--var", o->variables, "NAME=VALUE", "a variable of a shell script; repeatable");
  add_list("--set", o->settings, "KEY=VALUE", "a key of the experiment, over what follows from the files; repeatable");
  options->add_flag("--force", o->force, "replace an existing output");
  options->footer(format_lines());
  return {options, [o] { return guarded(false, [&] { return import_job(*o); }); }};
}

}  // namespace tessera::app
