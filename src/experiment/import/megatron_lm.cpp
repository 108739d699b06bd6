// A launch line of Megatron-LM, or the shell script that it stands in.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "launch.hpp"
#include "shell.hpp"

namespace tessera::experiment::importing {
namespace {

/// A value without the variables in it that are not set, the first of which the flag knows.
void add_value(Flag& flag, std::string_view text) {
  const std::string value = without_marks(text);
  flag.value += (flag.value.empty() || value.empty() ? "" : " ") + value;
  if (flag.unset.empty()) flag.unset = unset_in(text);
}

/// Words that begin with two dashes, with what follows up to the next one; "-N 4" is a launcher's.
Flags flags_in(const ShellCommand& command) {
  Flags flags;
  bool has_value = false;  // whether what follows may be a value of the last flag
  for (const ShellWord& one : command) {
    // "--fp8-format hybrid" in one pair of quotes is split where the array is used without quotes.
    const std::size_t end = std::min(one.text.find_first_of(" ="), one.text.size());
    const std::string head = one.text.substr(0, end);
    if (head.size() > 2 && head.starts_with("--")) {
      flags.push_back(make_flag(head, "", one.where));
      if (end < one.text.size()) add_value(flags.back(), std::string_view(one.text).substr(end + 1));
      has_value = true;
    } else if (head.size() == 2 && head[0] == '-' && std::isalpha(static_cast<unsigned char>(head[1])) != 0) {
      flags.push_back(make_flag(head, "", one.where));
      has_value = true;
    } else if (one.text.ends_with(".py")) {
      has_value = false;  // the program behind its launcher
    } else if (has_value) {
      add_value(flags.back(), one.text);
    }
  }
  return flags;
}

/// Options that only a training job of Megatron-LM has.
std::size_t known_flags(const Flags& flags) {
  constexpr std::array typical{
      "num_layers",       "hidden_size",       "num_attention_heads",        "seq_length",
      "micro_batch_size", "global_batch_size", "tensor_model_parallel_size", "pipeline_model_parallel_size"};
  return static_cast<std::size_t>(
      std::ranges::count_if(typical, [&](const char* name) { return find(flags, name) != nullptr; }));
}

/// The program that a command runs; none where the words stand in a variable.
const ShellWord* program_of(const ShellCommand& command) {
  const auto found = std::ranges::find_if(command, [](const ShellWord& word) { return word.text.ends_with(".py"); });
  return found == command.end() ? nullptr : &*found;
}

/// Those of Megatron-LM's programs whose models are no decoders, by a part of their names.
void check_program(const ShellWord& program, const ImportRequest& request, config::Diagnostics& diagnostics) {
  const std::string name = std::filesystem::path(program.text).filename().string();
  for (const char* other : {"bert", "t5", "ict", "retro", "vision", "vlm", "mamba", "hybrid", "multimodal", "mimo"}) {
    const bool is_meant = name.find(other) != std::string::npos;
    if (!is_meant || std::ranges::find(request.without, name) != request.without.end()) continue;
    diagnostics.error(program.where,
                      fmt::format("{}: not modelled: a model that is no decoder of GPT's kind; --without {} "
                                  "takes its layers for such a one's",
                                  name, name));
  }
}

struct LaunchLine {
  Flags flags;
  const ShellWord* program = nullptr;
};

LaunchLine launch_line(const ShellScript& script) {
  LaunchLine best;
  for (const auto* commands : {&script.commands, &script.exported}) {
    for (const ShellCommand& command : *commands) {
      Flags flags = flags_in(command);
      if (known_flags(flags) > known_flags(best.flags)) best = {std::move(flags), program_of(command)};
    }
  }
  return best;
}

/// What launchers say of the machine: torchrun, srun and #SBATCH lines, mpirun.
SourceSize size_of(const ShellScript& script, Flags& flags, config::Diagnostics& diagnostics) {
  Flags said;
  for (const ShellCommand& directive : script.directives)
    for (Flag& flag : flags_in(directive)) said.push_back(std::move(flag));
  said.insert(said.end(), flags.begin(), flags.end());
  std::erase_if(flags, [](const Flag& flag) { return flag.given.size() == 2; });
  const auto first = [&](std::initializer_list<const char*> names) -> std::int64_t {
    for (const char* name : names)
      if (const Flag* flag = find(said, name); flag != nullptr && flag->unset.empty())
        if (const auto count = count_in(said, name, diagnostics)) return *count;
    return 0;
  };
  SourceSize size;
  // srun starts one torchrun a node: what torchrun says counts.
  size.nodes = first({"nnodes", "nodes"});
  if (size.nodes == 0)
    for (const Flag& flag : said)
      if (flag.given == "-N") size.nodes = std::max<std::int64_t>(0, std::atoll(flag.value.c_str()));
  size.devices_per_node = first({"nproc_per_node", "gpus_per_node", "ntasks_per_node"});
  return size;
}

bool recognises_launch(const Sources& files) {
  return files.size() == 1 && files[0].text.find("--") != std::string::npos &&
         (files[0].text.find("num-layers") != std::string::npos ||
          files[0].text.find("model-parallel") != std::string::npos ||
          files[0].text.find("micro-batch-size") != std::string::npos);
}

/// The stack of the time when an option was there, among the recipes that are.
std::string recipe_of(const Flags& flags) {
  if (find(flags, "checkpoint_activations") != nullptr || find(flags, "activations_checkpoint_method") != nullptr ||
      find(flags, "ddp_impl") != nullptr)
    return "megatron-lm-2021";
  return "megatron-core-0.8";
}

void read_script(const ImportRequest& request, const Sources& files, Draft& draft, config::Diagnostics& diagnostics) {
  std::map<std::string, std::string> variables;
  for (const Setting& one : request.variables) variables[one.key] = one.value;
  const SourceFile& file = files.front();
  if (files.size() != 1)
    return diagnostics.error({files[1].path, 1, 1}, "one script at a time: it is not known what a second one is for");
  const ShellScript script = read_shell(file.text, file.path, variables, diagnostics);
  if (!diagnostics.ok()) return;
  auto [flags, program] = launch_line(script);
  if (known_flags(flags) == 0)
    return diagnostics.error({file.path, 1, 1},
                             "no command with options of Megatron-LM such as --num-layers is in this script");
  if (program != nullptr) check_program(*program, request, diagnostics);
  draft.title = std::filesystem::path(file.path).stem().string();
  const SourceSize size = size_of(script, flags, diagnostics);
  const std::string recipe = recipe_of(flags);
  // Since core_v0.8 attention is Transformer Engine's unless an option says otherwise; before, it was not fused.
  const Flag* local = find(flags, "transformer_impl");
  const bool flash = recipe != "megatron-lm-2021" && (local == nullptr || local->value != "local");
  read_launch(request, files, flags, size, {recipe, flash, false}, draft, diagnostics);
}

}  // namespace

ImportFormat megatron_lm() {
  return {"megatron-lm", "a launch line of Megatron-LM, or the shell script that it stands in", recognises_launch,
          read_script};
}

}  // namespace tessera::experiment::importing
