// tessera completion: a script that makes a shell complete commands, options and files.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "command.hpp"
#include "tessera/experiment/experiment.hpp"

namespace tessera::app {
namespace {

// {0}: the commands, {1}: a case for each with its options.
constexpr const char* bash_template = R"bash(# Completion of tessera: eval "$(tessera completion bash)"
_tessera() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words= arguments=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{0} --help --version" -- "$current"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{1}  esac
  case $current in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) if [ -n "$arguments" ]; then
         COMPREPLY=($(compgen -W "$arguments" -- "$current"))
       else
         COMPREPLY=($(compgen -f -- "$current"))
       fi ;;
  esac
}}
complete -o filenames -F _tessera tessera
)bash";

std::string options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

/// What stands behind a command that takes no file.
std::string arguments_of(const std::string& command) {
  if (command == "list") return "machines models recipes experiments sweeps";
  if (command == "completion") return "bash zsh";
  if (command != "help") return {};
  std::string sections = "units";
  for (const config::SchemaPointer& schema : experiment::schemas()) sections += ' ' + schema->path();
  return sections;
}

/// zsh reads the same script after `autoload bashcompinit && bashcompinit`.
std::string bash_script(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands += (commands.empty() ? "" : " ") + command->get_name();
    cases += fmt::format("    {}) words=\"{}\" arguments=\"{}\" ;;\n", command->get_name(), options_of(*command),
                         arguments_of(command->get_name()));
  }
  return fmt::format(bash_template, commands, cases);
}

}  // namespace

Command add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* options =
      app.add_subcommand("completion", "Print a script for the shell: eval \"$(tessera completion bash)\".");
  options->add_option("SHELL", *shell, "bash (zsh reads the same after bashcompinit)")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  // The option writes into the text for as long as the command line lives.
  return {options, [&app, shell] {
            return guarded(false, [&] {
              print(bash_script(app));
              return ExitCode::done;
            });
          }};
}

}  // namespace tessera::app
